"""Claims: the ``{{claim:i}}`` macro, and the path from a claim to a Quantity in a tool's output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from gllint_runtime.policy.expressions import expression

HOLE = "\ufffc"
"""The placeholder for unknown interpolated text in a template that was read from source."""

SHORT_MACRO = expression(r"\{\{(tc_[1-9][0-9]{0,8})\.([^\W\d]\w*(?:\.[^\W\d]\w*)*)\}\}")
"""A macro that names the call and the path, and needs no entry in ``claims``: ``{{tc_1.heat}}``."""

_WELL_FORMED = expression(r"\{(?<!\{\{)\{claim:(0|[1-9][0-9]{0,17})\}\}(?!\})")
# Whatever a reader would take for an attempt at a macro: brackets around "claim" and something like an index.
# Each alternative begins with one literal character, by which the engine finds it, and no brace is tried twice: the
# cost stays linear.
_ATTEMPT = expression(
    r"""
    \{(?<!\{\{)\{*+[^\S\n]*+(?i:claims?)[^\S\n]*+
        (?: (?:[:：=] | [\[(#._-]?[^\S\n]*+\d) (?:[^{}\n]{0,40}+(?=\}) | [^\s{}]{0,40}+)
          | (?<=\{\{(?i:claim))(?=\}\}) ) \}*+
  | \[(?<!\[\[)\[[^\S\n]*+(?i:claims?)[^\S\n]*+[:：](?:[^\[\]\n]{0,40}+(?=\]) | [^\s\[\]]{0,40}+)\]{0,2}
  | c(?<![\w{]c)(?i:laim):[0-9]++\}{1,2}
  | C(?<![\w{]C)(?i:laim):[0-9]++\}{1,2}
    """,
    re.VERBOSE,
)

_MAX_PATH = 1000
_STEP = expression(r"\.[^\W\d]\w*|\[[0-9]+\]")
_ARRAY_PATH = expression(r"\$(?:\.[^\W\d]\w*(?:\[(?:0|[1-9][0-9]{0,8})\])*)+\Z")
_PATH = expression(r"\$(?:\.[^\W\d]\w*)+\Z")
_QUOTED_KEY = expression(r"\[(['\"])(.*?)\1\]")


@dataclass(slots=True)
class Macro:
    """A macro in a template, or what looks like one.

    ``start`` and ``end`` are code-point offsets. ``index`` is the claim it names and ``problem`` is ``None``
    when it is well-formed; else ``problem`` says what is wrong.
    """

    start: int
    end: int
    text: str
    index: int | None
    problem: str | None


class ClaimPathError(ValueError):
    """A claim path that is malformed or leads nowhere; ``hint`` says how to write it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def find_macros(text: str) -> list[Macro]:
    """Return every macro of ``text`` in order; one that is not well-formed has a ``problem``.

    ``"{{claim:0}} and {claim:1}"`` → two: the second needs exactly two braces on either side.
    """
    mentions = text.lower().count("claim")
    if not mentions:
        return []
    macros = [Macro(*match.span(), match[0], int(match[1]), None) for match in _WELL_FORMED.finditer(text)]
    if len(macros) == mentions:  # each "claim" is in a well-formed macro: there is no attempt at another
        return macros
    macros = []
    for match in _ATTEMPT.finditer(text):
        exact = _WELL_FORMED.fullmatch(match[0])
        index, problem = (int(exact[1]), None) if exact else (None, _problem(match[0]))
        macros.append(Macro(match.start(), match.end(), match[0], index, problem))
    return macros


def in_place(text: str, macros: Iterable[Macro], render: Callable[[Macro], str]) -> list[str]:
    """Return the text in pieces, each macro as ``render`` shows it.

    ``"a {{claim:0}} b"`` → ``["a ", "2 kWh", " b"]``.
    """
    pieces: list[str] = []
    position = 0
    for macro in macros:
        pieces += text[position : macro.start], render(macro)
        position = macro.end
    return [*pieces, text[position:]]


def _problem(text: str) -> str:
    """Return what is wrong with a macro: ``"{claim:0}"`` → "it needs exactly two braces on either side"."""
    if HOLE in text:
        return "its index is not written out"
    if not text.startswith("{{") or text.startswith("{{{") or not text.endswith("}}") or text.endswith("}}}"):
        return "it needs exactly two braces on either side"
    inner = text[2:-2]
    if inner != "".join(inner.split()):
        return "it contains spaces"
    if not inner.startswith("claim:"):
        return "it does not begin with 'claim:'"
    index = inner.removeprefix("claim:")
    if re.fullmatch(r"0+[0-9]+", index):
        return "its index has a leading zero"
    return "its index is not a whole number in ASCII digits"


def macro_problems(macros: Iterable[Macro], claims: int) -> list[tuple[Macro | int, str]]:
    """Return each faulty macro, or index of a claim that no macro uses, with what is wrong.

    ``"{{claim:0}} {{claim:3}}"`` with two claims → the second macro "has no entry in claims[]", and 1 "is not used".
    Malformed macros and macros without an entry come first.
    """
    problems: list[tuple[Macro | int, str]] = []
    used = set()
    for macro in macros:
        if macro.problem is not None:
            problems.append((macro, f"Macro '{macro.text}' is malformed: {macro.problem}"))
        elif macro.index is not None and macro.index >= claims:
            problems.append((macro, f"Macro '{macro.text}' has no entry in claims[]"))
        used.add(macro.index)
    for i in range(claims):
        if i not in used:
            problems.append((i, f"`claims[{i}]` is not used by any macro"))
    return problems


def parse_claim_path(path: str, *, arrays: bool = False) -> tuple[str | int, ...]:
    """``"$.emissions.total"`` → ``("emissions", "total")``; with ``arrays`` also ``"$.rows[0].energy"``.

    Raises :class:`ClaimPathError`.
    """
    if len(path) > _MAX_PATH:
        raise ClaimPathError(
            f"A claim path must have at most {_MAX_PATH} characters", _path_hint("$", arrays)
        )
    return _parsed(path, arrays)


@lru_cache(maxsize=1024)
def _parsed(path: str, arrays: bool) -> tuple[str | int, ...]:
    """Return the steps of a claim path. Raises :class:`ClaimPathError`."""
    # Vowel signs and other marks belong to a name, too, in scripts that write with them.
    if _PATH.match(path) or (path[:2] == "$." and all(map(str.isidentifier, path[2:].split(".")))):
        return tuple(path.split(".")[1:])
    if arrays and _ARRAY_PATH.match(path):
        return tuple(int(step[1:-1]) if step[0] == "[" else step[1:] for step in _STEP.findall(path))
    example = "$.heating.power or $.rows[0].power" if arrays else "$.heating.power"
    raise ClaimPathError(
        f"'{path}' is not a claim path: a claim path looks like {example}", _path_hint(path, arrays)
    )


def claimable_paths(paths: Iterable[tuple[str | int, ...]]) -> dict[tuple[str, ...], tuple[str | int, ...]]:
    """Return the paths that claims write for keys that no claim path can contain, each with the path that it means.

    ``("heat-total",)`` is claimed as ``("heat_total",)``: what is not part of a name becomes ``_``. The root is
    ``("result",)``. Paths that would be written alike, and elements of lists, cannot be claimed so.
    """
    claimable: dict[tuple[str, ...], tuple[str | int, ...] | None] = {}
    for path in paths:
        if not all(isinstance(step, str) for step in path):
            continue
        steps = tuple(_name_of(str(step)) for step in path) or ("result",)
        if steps != path:
            claimable[steps] = None if steps in claimable else path
    listed = {*paths} if claimable else set()
    return {steps: path for steps, path in claimable.items() if path is not None and steps not in listed}


def _name_of(key: str) -> str:
    if key.isidentifier() or ("." not in key and _PATH.match(f"$.{key}")):
        return key
    name = "".join(char if f"a{char}".isidentifier() else "_" for char in key)
    return name if name[:1].isidentifier() else f"_{name}"


def _path_hint(path: str, arrays: bool) -> str:
    """Return how to repair a claim path: ``"$.a['b']"`` → "Write a key after a dot: '$.a.b'." """
    dotted = _QUOTED_KEY.sub(lambda step: f".{_name_of(step[2])}", path)
    if dotted != path and (_ARRAY_PATH if arrays else _PATH).match(dotted):
        return f"Write a key after a dot: '{dotted}'."
    tidy = re.sub(r"\s*\.\s*", ".", path.strip())
    if tidy != path and (_ARRAY_PATH if arrays else _PATH).match(tidy):
        return f"Remove the white space: '{tidy}'."
    if re.search(r"\[|\.\d", path):
        if arrays and "[-" in path:
            return "Count from the first element, as in '$.rows[0].energy': an index cannot be negative."
        if arrays:
            return "Write the index of the element after the key of its list, as in '$.rows[0].energy'."
        return (
            "By default, claims cannot refer to list elements. Let the tool return the Quantity under its own key, "
            "or set `array-paths = true`."
        )
    if ".." in path or "*" in path:
        return "Name every step of the path; wildcards and recursive descent are not supported."
    if path.strip() in {"", "$", "$."}:
        return "Name the field of the Quantity, as in '$.intensity'."
    if not path.startswith("$"):
        return f"Begin at the root of the output: '$.{path.lstrip('.')}'."
    if path.startswith("$") and _PATH.match(f"$.{path[1:]}"):
        return f"Write a dot after the root: '$.{path[1:]}'."
    if path.endswith(".") and _PATH.match(path[:-1]):
        return f"Remove the last dot: '{path[:-1]}'."
    return "Write the path with the keys of the result, as in '$.emissions.total'."
