"""What is at the cursor, read from the text alone: it must work in the middle of typing."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from gllint_rules.words.names import QUANTITY, TOOL_REGISTRY_NAMES

_TOKEN = re.compile(
    r'''
      (?P<prefix>\b[bBfFrRuU]{1,2})?
      (?: (?P<triple>"""|\'\'\')(?P<long>(?:(?!(?P=triple))(?:\\.|.))*)(?P<long_end>(?P=triple)|\Z)
        | (?P<quote>["'])(?P<short>(?:(?!(?P=quote))(?:\\(?:\r\n|.)|[^\\\r\n]))*)
          (?P<short_end>(?P=quote)|\\?(?=[\r\n]|\Z)) )
    | (?P<comment>\#[^\r\n]*)
    | (?P<open>[\[({])
    | (?P<close>[\])}])
    | (?P<name>[^\W\d]\w*)
    | (?P<mark>[=!<>]=|[.,:=])
    ''',
    re.VERBOSE | re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_ACTION = "ToolAction"
_LOOKUPS = frozenset({"get", "get_tool", "invoke"})
_CALL_STEPS = frozenset({"tool_call", "tool_calls"})


@dataclass(slots=True)
class Holder:
    """A bracket around the cursor. ``callee`` is the dotted name before it, ``place`` what it is the value of.

    A place is a key in a dict literal, the keyword of a call or the number of an argument.
    """

    bracket: str
    callee: str = ""
    place: str | int = 0
    commas: int = 0
    last: list[tuple[str, str]] = field(default_factory=list)

    def add(self, kind: str, text: str) -> None:
        if (kind, text) == ("mark", ","):
            self.commas += 1
            self.last.clear()
        else:
            self.last.append((kind, text))

    def what(self) -> str | int:
        """Return what a value at this place belongs to: a key of a dict, a keyword of a call, or the number of an
        argument.

        ``{"unit": `` → ``"unit"``; ``f(1, `` → ``1``.
        """
        match self.last[-2:]:
            case [("string", key), ("mark", ":")] if self.bracket == "{":
                return key
            case [("name", key), ("mark", "=")] if self.bracket == "(":
                return key
            case _:
                return self.commas

    def dotted(self) -> str:
        """Return the dotted name that ends here: ``registry.get`` before its bracket; ``""`` for none."""
        parts: list[str] = []
        for kind, text in reversed(self.last):
            if kind != ("mark" if len(parts) % 2 else "name") or (kind == "mark" and text != "."):
                break
            parts.append(text)
        return "".join(reversed(parts)).lstrip(".")


@dataclass(frozen=True, slots=True)
class Spot:
    """The string around the cursor: the offsets of its content, and what it is the value of."""

    start: int
    end: int
    value: str
    is_closed: bool
    prefix: str
    place: str | int
    holders: tuple[Holder, ...]

    @property
    def callee(self) -> str:
        """The dotted name before the innermost bracket."""
        return self.holders[-1].callee if self.holders else ""


def comment_at(text: str, offset: int) -> str | None:
    """Return the comment around an offset; ``None`` if there is none."""
    for match in _TOKEN.finditer(text):
        if match.start() > offset:
            return None
        if match.lastgroup == "comment" and offset <= match.end():
            return match.group()
    return None


def spot_at(text: str, offset: int) -> Spot | None:
    """Return the string around an offset, its quotes' inner sides included; ``None`` if there is none."""
    frames = [Holder("")]
    for match in _TOKEN.finditer(text):
        if match.start() >= offset:
            return None
        content = "long" if match["long"] is not None else "short" if match["short"] is not None else None
        frame = frames[-1]
        if content is not None:
            if match.start(content) <= offset <= match.end(content):
                return Spot(
                    match.start(content),
                    match.end(content),
                    match[content],
                    (match["long_end"] or match["short_end"]) not in ("", "\\"),
                    (match["prefix"] or "").lower(),
                    frame.what(),
                    tuple(frames[1:]),
                )
            frame.add("string", match[content])
        elif match["open"]:
            frames.append(Holder(match["open"], frame.dotted(), frame.what()))
        elif match["close"]:
            if len(frames) > 1 and _PAIRS[frame.bracket] == match["close"]:
                frames.pop()
                frames[-1].add("value", "")
        elif match["name"]:
            frame.add("name", match["name"])
        elif match["mark"]:
            frame.add("mark", match["mark"])
    return None


def is_unit(spot: Spot) -> bool:
    """Say whether a string is the unit of a Quantity."""
    if spot.place == "unit":
        return True
    return spot.callee.rpartition(".")[2] == QUANTITY and spot.place == 1


def is_tool_name(spot: Spot, dispatchers: Collection[str]) -> bool:
    """Return whether a string is the name of a tool that is called or looked up: ``registry.get("heat")``.

    ``dispatchers`` are the functions that take an action (``{"name": "heat"}``), the project's own among them.
    """
    if not spot.holders:
        return False
    holder = spot.holders[-1]
    base, _, last = holder.callee.rpartition(".")
    match holder.bracket:
        case "(" if last == _ACTION:
            return spot.place in ("name", 0)
        case "(" if last in _LOOKUPS:
            return spot.place in ("name", 0) and _is_registry(base)
        case "[":
            return _is_registry(holder.callee)
        case "{":
            return spot.place == "tool_name" or (spot.place == "name" and _is_call(spot.holders, dispatchers))
        case _:
            return False


def _is_call(holders: tuple[Holder, ...], dispatchers: Collection[str]) -> bool:
    """Say whether the innermost dict is a tool call: a step's, or an argument of a dispatcher."""
    if any(holder.place in _CALL_STEPS for holder in holders[-2:]):
        return True
    return len(holders) > 1 and holders[-2].callee.rpartition(".")[2] in dispatchers


def _is_registry(dotted: str) -> bool:
    last = dotted.rpartition(".")[2]
    return last in TOOL_REGISTRY_NAMES or last.lower().endswith(("registry", "tools"))


def before_doubled(spot: Spot, offset: int) -> tuple[str, int]:
    """Return the text of a string and an offset in it, with the doubled braces of an f-string undone."""
    text, position = spot.value, offset - spot.start
    if "f" not in spot.prefix:
        return text, position
    return _undoubled(text), len(_undoubled(text[:position]))


def _undoubled(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
