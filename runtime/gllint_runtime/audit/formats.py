"""Reading recorded runs: the rules of each format are in ``formats.json``.

A rule says by which keys an item is known (``when``: a key and its values, or ``*``), and what it is: the ``parts``
of it, each with its speaker; a ``call``, an ``output``; or nothing of interest (``skip``), where it has
``only`` such members. ``whole`` marks what is a conversation of its own, ``spans`` where a trace keeps its spans,
``once`` what repeats earlier messages. ``default`` is the speaker if none is known. ``answers`` and
``structures`` are keys under which the answer is, as a text or as data, if no part has one.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, cast

from gllint_runtime.audit.answers import answer_text, is_answer_tool, is_receipt
from gllint_runtime.audit.turns import Called, Returned, Said, Speaker, Turn
from gllint_runtime.policy.data_files import read

_MAX_DEPTH = 60
_MAX_ITEMS = 2_000_000  # of one record
_MAX_UNREAD = 20
_IDS = ("conversation_id", "thread_id", "session_id", "conversation", "chat_id", "trace_id", "traceId")
_OWN_IDS = (*_IDS, "custom_id", "task_id", "run_id", "id", "name")


_SPEAKERS = ("system", "user", "assistant", "declared")
_TOO_DEEP = "the record is nested too deeply"
_OF_A_ROLE = "an item with the role "
_MAX_DECLARED = 2_000  # texts of the tools that a request declares
_SAID = ("role", "parts", "content", "tool_calls", "tool_call_id")  # by which a message is known again
_NUMBERED = re.compile(
    r"(gen_ai\.(?:prompt|completion))\.([0-9]{1,6})\.(.+)", re.DOTALL
)  # gen_ai.prompt.3.content


class FormatError(ValueError):
    """A record that is no conversation of a format that is known: one sentence for people."""


class Rule(NamedTuple):
    """One line of a format's table, see above."""

    when: tuple[tuple[tuple[str, ...], frozenset[str]], ...]
    parts: tuple[tuple[tuple[str, ...], Speaker | Literal["declared"] | None], ...] = ()
    call: Mapping[str, tuple[str, ...]] | None = None
    output: Mapping[str, tuple[str, ...]] | None = None
    is_whole: bool = False
    is_once: bool = False
    special: str = ""  # "lc", "response", "spans:…"
    only: frozenset[str] = frozenset()  # the members that an item may have; any where there are none
    answers: tuple[str, ...] = ()
    structures: tuple[str, ...] = ()
    is_default: bool = False


class Format(NamedTuple):
    """A format by its name, and the keys by whose value its items are put in order."""

    name: str
    title: str
    rules: tuple[Rule, ...]
    order: tuple[str, ...]


class Record(NamedTuple):
    """A conversation, or an item of one: what was read, its id (empty without one), and what was not understood."""

    conversation: str
    turns: list[Turn]
    is_whole: bool
    format: str
    unread: list[str]
    item: Any = None  # as it was read, where its format puts items in order first


@cache
def formats() -> Mapping[str, Format]:
    """All formats by name."""
    tables = json.loads(read("../audit/formats.json"))
    return {
        name: Format(name, table["title"], tuple(map(_rule, table["rules"])), tuple(table.get("sorted", ())))
        for name, table in tables.items()
    }


def _rule(row: Mapping[str, Any]) -> Rule:
    when = tuple(
        (tuple(keys.split("|")), frozenset(() if values == "*" else values.split("|")))
        for keys, values in row["when"].items()
    )
    special = next((name for name in ("lc", "response", "skip") if row.get(name)), "")
    if "spans" in row:
        special = f"spans:{row['spans']}"
    return Rule(
        when,
        tuple(_part(part) for part in row.get("parts", ())),
        _fields(row.get("call")),
        _fields(row.get("output")),
        row.get("whole", False),
        row.get("once", False),
        special,
        frozenset(_keys(row.get("only"))),
        _keys(row.get("answers")),
        _keys(row.get("structures")),
        row.get("default", False),
    )


def _keys(names: str | None) -> tuple[str, ...]:
    return tuple(names.split("|")) if names else ()


def _part(part: str) -> tuple[tuple[str, ...], Speaker | Literal["declared"] | None]:
    places, _, speaker = part.partition(":")
    return tuple(places.split("|")), cast("Any", speaker) if speaker in _SPEAKERS else None


def _fields(row: Mapping[str, str] | None) -> Mapping[str, tuple[str, ...]] | None:
    return None if row is None else {name: tuple(places.split("|")) for name, places in row.items()}


# ------------------------------------------------------------------------------------------------ a record


class Reader:
    """Reads records of one format, or of whichever fits (``"auto"``); what fitted last is tried first."""

    def __init__(self, name: str = "auto") -> None:
        self._formats = [*formats().values()] if name == "auto" else [formats()[name]]

    def read(self, record: Any) -> list[Record]:
        """The conversations in a record, or the item of one that it is. Raises :class:`FormatError`."""
        if record in (None, [], {}, ""):
            return []
        best: list[Record] | None = None
        empty: list[Record] | None = None  # of a format that knows all of it and finds nothing said
        least = (False, 0, False)
        of_members = 0  # turns, where it was read as an object of which members are conversations
        for number, format_ in enumerate(self._formats):
            try:
                attempt = _attempt(record, format_)
            except RecursionError:
                raise FormatError(_TOO_DEEP) from None
            turns = sum(len(part.turns) for part in attempt)
            if not attempt or (not attempt[0].is_whole and 0 < turns <= of_members):
                continue  # the same conversations as one
            is_unruled = _is_unruled(record, format_)
            if is_unruled and not any(part.unread for part in attempt):
                of_members = turns
            if is_unruled and (others := _others(record, format_)):
                attempt[0] = attempt[0]._replace(unread=[*attempt[0].unread, *others][:_MAX_UNREAD])
            unread = sum(len(part.unread) for part in attempt)
            if not unread and not turns:
                empty = empty or attempt
                continue
            if not unread:
                self._formats.insert(0, self._formats.pop(number))
                return attempt
            measure = not turns, unread, is_unruled
            if best is None or measure < least:
                best, least = attempt, measure
        if empty is not None and not any(part.turns for part in best or ()):
            return empty
        if (
            best is None
            or not any(part.turns for part in best)
            or any(text.startswith(_OF_A_ROLE) for part in best for text in part.unread)
        ):
            raise FormatError(_complaint(record, best or [], self._formats))
        return best


def _complaint(record: Any, best: Sequence[Record], tried: Sequence[Format]) -> str:
    names = ", ".join(sorted(format_.name for format_ in tried))
    tried_ones = f"the format{'s' if len(tried) != 1 else ''} {names}"
    unread = next((part.unread[0] for part in best if part.unread), "")
    if unread:
        return f"{unread} is not of {tried_ones}"
    if isinstance(record, Mapping) and isinstance(record.get("role"), str):
        what = f"{_OF_A_ROLE}'{record['role'][:60]}'"
    elif isinstance(record, Mapping):
        keys = ", ".join(f"'{str(key)[:40]}'" for key in [*record][:6])
        more = " and more" if len(record) > 6 else ""
        what = f"an object with the key{'s' if len(record) != 1 else ''} {keys}{more}"
    else:
        kinds = {list: "a list without messages", str: "a text", bool: "true or false"}
        what = kinds.get(type(record), "a number")
    return f"{what} is no conversation of {tried_ones}"


def conversation_of(items: list[Any], format_name: str) -> Record:
    """The conversation of items that came one by one: each as it was read then, but in their order."""
    format_ = formats()[format_name]
    walk = _Walk(format_)
    for item in _ordered(items, format_):
        walk.read(item)
    return Record("", walk.turns, True, format_.name, walk.unread)


def _attempt(record: Any, format_: Format) -> list[Record]:
    """What a format makes of a record; nothing where the record is none of its own."""
    if isinstance(record, list):
        wholes = [_attempt(item, format_) if _is_whole(item, format_) else None for item in record]
        if wholes and all(part is not None for part in wholes):
            return [conversation for part in wholes for conversation in part or ()]
        walk = _Walk(format_)
        walk.read(_ordered(record, format_))
        return [Record("", walk.turns, True, format_.name, walk.unread)] if walk.turns or walk.unread else []
    if not isinstance(record, Mapping):
        return []
    rule = _matching(_plain_item(record), format_)
    if rule is None:
        return _named(record, format_)
    if rule.special.startswith("spans:"):
        return _traces(record, rule.special.removeprefix("spans:"), format_)
    walk = _Walk(format_)
    walk.read(record)
    is_whole = rule.is_whole
    own = _own_id(_plain_item(record), _OWN_IDS if is_whole else _IDS)
    item = record if format_.order and not is_whole else None
    return [Record(own, walk.turns, is_whole, format_.name, walk.unread, item)]


def _is_whole(item: Any, format_: Format) -> bool:
    if isinstance(item, list):
        return True
    if not isinstance(item, Mapping):
        return False
    rule = _matching(_plain_item(item), format_)
    return rule is not None and (rule.is_whole or rule.special.startswith("spans:"))


def _is_unruled(record: Any, format_: Format) -> bool:
    """Whether no rule of a format names a record itself."""
    return isinstance(record, Mapping) and _matching(_plain_item(record), format_) is None


def _named(record: Mapping[str, Any], format_: Format) -> list[Record]:
    """An object of which members are conversations, by their names."""
    return [
        part._replace(conversation=str(name))
        for name, item in record.items()
        if _is_whole(item, format_)
        for part in _attempt(item, format_)
    ]


def _others(record: Mapping[str, Any], format_: Format) -> list[str]:
    """Return the other members of an object with conversations, which may contain an answer."""
    return [
        f"'{str(name)[:40]}', which is no conversation,"
        for name, item in record.items()
        if item and isinstance(item, (Mapping, list)) and not _is_whole(item, format_)
    ]


def _own_id(record: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            trial = record.get("trial")
            return f"{value}/{trial}" if key == "task_id" and isinstance(trial, int) else str(value)[:200]
    return ""


def _traces(record: Any, place: str, format_: Format) -> list[Record]:
    spans: list[Any] = [record]
    for step in place.split("."):
        spans = [inner for outer in spans if isinstance(outer, Mapping) for inner in _list(outer.get(step))]
    by_trace: dict[str, list[Any]] = {}
    for span in spans:
        item = _plain_item(span) if isinstance(span, Mapping) else {}
        by_trace.setdefault(_own_id(item, _IDS), []).append(span)
    conversations = []
    for trace, members in by_trace.items():
        walk = _Walk(format_)
        walk.read(_ordered(members, format_))
        if not walk.turns and any(map(_has_content, members)):
            walk.unread.append("a trace whose messages have other names")
        conversations.append(Record(trace, walk.turns, True, format_.name, walk.unread))
    return conversations


_CONTENT = re.compile(r"(?:gen_ai|llm|traceloop)\..*(?:\.content|\.text|messages|completion|prompt)")


def _has_content(span: Any) -> bool:
    """Whether a span has a model's input or answer, under any name."""
    item = _plain_item(span) if isinstance(span, Mapping) else {}
    return any(
        value and isinstance(value, (str, list)) and _CONTENT.fullmatch(key) for key, value in item.items()
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _ordered(items: list[Any], format_: Format) -> list[Any]:
    def moment(item: Any) -> tuple[bool, float, str]:
        for key in format_.order:
            value = item.get(key) if isinstance(item, Mapping) else None
            if value is not None and not isinstance(value, (bool, Mapping, list)):
                try:
                    return False, float(value), ""
                except (ValueError, OverflowError):
                    return False, 0.0, str(value)
        return True, 0.0, ""

    return sorted(items, key=moment)


# -------------------------------------------------------------------------------------------------- an item


class _Walk:
    """Goes through one record in its order; ``unread`` are the kinds of item that no rule names."""

    def __init__(self, format_: Format) -> None:
        self._format = format_
        self.turns: list[Turn] = []
        self.unread: list[str] = []
        self._seen: set[str] = set()
        self._left = 0

    def read(self, record: Any) -> None:
        """Read a record, which has so many parts. Raises :class:`FormatError`."""
        self._left = _MAX_ITEMS
        self.run(record)

    def run(self, item: Any, speaker: Speaker | None = None, depth: int = 0) -> None:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            raise FormatError(_TOO_DEEP if depth > _MAX_DEPTH else "the record has too many parts")
        match item:
            case str():
                if speaker is not None:
                    if item:
                        self.turns.append(Said(speaker, item))
                elif item[:1] in ("[", "{") and (inner := _parsed(item)) is not None:
                    self.run(inner, None, depth + 1)
                elif item:
                    self._pass_over("a text without a speaker")
            case list() | tuple():
                for inner in item:
                    self.run(inner, speaker, depth + 1)
            case Mapping():
                self._item(_plain_item(item), speaker, depth)
            case _ if item is not None and speaker is None:
                self._pass_over("a number among messages")
            case int() | float() if (
                not isinstance(item, bool) and abs(item) < 1e300
            ):  # an answer of nothing else
                self.turns.append(Said(cast("Speaker", speaker), json.dumps(item)))

    def _item(self, item: Mapping[str, Any], speaker: Speaker | None, depth: int) -> None:
        rule = _matching(item, self._format)
        if rule is None:
            self._leave(item)
        elif rule.special == "lc":
            kwargs, path = item.get("kwargs"), item.get("id")
            name = path[-1] if isinstance(path, list) and path else path
            if isinstance(kwargs, Mapping):
                self.run({"content": "", **kwargs, "type": name}, speaker, depth + 1)
        elif rule.special == "response":
            self._response(item)
        elif rule.special.startswith("spans:"):
            for trace in _traces(item, rule.special.removeprefix("spans:"), self._format):
                self.turns += trace.turns
        elif rule.special != "skip":
            self._rule(rule, item, speaker, depth)

    def _rule(self, rule: Rule, item: Mapping[str, Any], speaker: Speaker | None, depth: int) -> None:
        begin = len(self.turns)
        if rule.call is not None:
            arguments = _first(item, rule.call["arguments"])
            if isinstance(arguments, str) and (parsed := _parsed(arguments)) is not None:
                arguments = parsed
            self.turns.append(Called(*_id_and_tool(item, rule.call), arguments))
        if rule.output is not None:
            value = _first(item, rule.output["value"])
            if value is not None:
                self.turns.append(Returned(*_id_and_tool(item, rule.output), payload(value)))
        for places, said_by in rule.parts:
            inner = _first(item, places)
            if inner is None or (isinstance(inner, str) and said_by is None and {*places} & {*rule.answers}):
                continue
            if said_by == "declared":
                self._declared(inner)
            elif rule.is_once:
                self._once(inner, said_by, depth)
            else:
                self.run(inner, speaker or said_by if rule.is_default else said_by or speaker, depth + 1)

        if (rule.answers or rule.structures) and not _is_answered(self.turns[begin:]):
            self._answer(rule, item)

    def _answer(self, rule: Rule, item: Mapping[str, Any]) -> None:
        """Return the answer next to the messages, or next to the text of one."""
        text = next((value for key in rule.answers if isinstance(value := item.get(key), str) and value), "")
        data = [key for key in rule.structures if isinstance(item.get(key), (Mapping, list)) and item[key]]
        if data and not text:
            text, is_whole = answer_text(item[data[0]])
            if not is_whole:
                self._pass_over(f"a part of '{data[0]}'")
        if text:
            self.turns.append(Said("assistant", text))

    def _declared(self, tools: Any) -> None:
        """Return the program's descriptions of its tools and of their parameters."""
        if isinstance(tools, str):
            tools = _parsed(tools)
        texts: dict[str, None] = {}
        waiting, left = deque([tools]), _MAX_DECLARED * 10
        while waiting and left and len(texts) < _MAX_DECLARED:
            node, left = waiting.popleft(), left - 1
            if isinstance(node, Mapping):
                text = node.get("description")
                if isinstance(text, str):
                    texts[text] = None
                waiting.extend(inner for key, inner in node.items() if key != "description")
            elif isinstance(node, (list, tuple)):
                waiting.extend(node)
        if texts:
            self.turns.append(Said("system", "\n".join(texts)))

    def _once(self, inner: Any, speaker: Speaker | None, depth: int) -> None:
        """Messages that each span repeats: each counts where it is met first."""
        if isinstance(inner, str) and inner[:1] in ("[", "{") and (parsed := _parsed(inner)) is not None:
            inner = parsed
        for message in inner if isinstance(inner, list) else [inner]:
            if isinstance(message, Mapping):
                content = {key: value for key, value in message.items() if key in _SAID}
            else:
                content = message
            key = json.dumps(content or message, sort_keys=True, default=str)
            if key not in self._seen:
                self._seen.add(key)
                self.run(message, speaker, depth + 1)

    def _response(self, item: Mapping[str, Any]) -> None:
        """The answer to a JSON-RPC request: a tool's result, or a model's message."""
        result = item["result"]
        if not isinstance(result, Mapping):
            return
        if isinstance(result.get("tools"), list):
            self._declared(result["tools"])
        elif result.get("role") == "assistant":
            self.run({"role": "assistant", "content": result.get("content")})
        elif "content" in result or "structuredContent" in result:
            if result.get("isError") is not True:
                structured = result.get("structuredContent")
                value = structured if structured is not None else result.get("content")
                self.turns.append(Returned(_text(item.get("id")), "", payload(value)))

    def _pass_over(self, what: str) -> None:
        if len(self.unread) < _MAX_UNREAD:
            self.unread.append(what)

    def _leave(self, item: Mapping[str, Any]) -> None:
        for key in ("role", "type", "part_kind", "kind", "method", "from"):
            if isinstance(item.get(key), str):
                self._pass_over(f"an item with the {key} '{item[key][:60]}'")
                return
        keys = ", ".join(f"'{str(key)[:40]}'" for key in [*item][:5])
        self._pass_over(f"an item with the keys {keys}" if keys else "an empty item")


def _is_answered(turns: Sequence[Turn]) -> bool:
    """Whether the assistant had the last word, in a text or by a tool that takes its answer."""
    for turn in reversed(turns):
        match turn:
            case Said(speaker, _) if speaker != "system":
                return speaker == "assistant"
            case Returned(_, _, value) if not is_receipt(value):
                return False
            case Returned():
                return True
            case Called(_, tool, _) if is_answer_tool(tool):
                return True
    return False


def _matching(item: Mapping[str, Any], format_: Format) -> Rule | None:
    for rule in format_.rules:
        if rule.only and not rule.only.issuperset(item):
            continue
        for keys, values in rule.when:
            value = next((item[key] for key in keys if item.get(key) is not None), None)
            if value is None or (values and not (isinstance(value, str) and value in values)):
                break
        else:
            return rule
    return None


def _plain_item(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item with its attributes among its own keys, in any of OpenTelemetry's forms."""
    attributes = item.get("attributes")
    if not isinstance(attributes, (Mapping, list)):
        return item
    pairs = _attributes(attributes)
    numbered: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in pairs.items():
        if (match := _NUMBERED.fullmatch(key)) is not None:
            head, number, field = match.groups()
            numbered.setdefault(head, {}).setdefault(int(number), {})[field] = value
    for head, entries in numbered.items():
        pairs.setdefault(head, [_message(entries[number]) for number in sorted(entries)])
    context = item.get("context")
    if isinstance(context, Mapping) and "trace_id" in context:
        pairs.setdefault("trace_id", context["trace_id"])
    name = pairs.get("event.name")
    return {**pairs, **({"name": name} if isinstance(name, str) else {}), **item}


def _message(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    calls: dict[str, dict[str, Any]] = {}
    message: dict[str, Any] = {}
    for key, value in fields.items():
        if key.startswith("tool_calls."):
            number, _, field = key.removeprefix("tool_calls.").partition(".")
            calls.setdefault(number, {"type": "tool_call"})[field] = value
        else:
            message[key] = value
    return {**message, "tool_calls": [*calls.values()]} if calls else message


def _attributes(attributes: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if isinstance(attributes, Mapping):
        return {str(key): _attribute(value) for key, value in attributes.items()}
    pairs = {}
    for entry in attributes:
        if isinstance(entry, Mapping) and isinstance(entry.get("key"), str):
            pairs[entry["key"]] = _attribute(entry.get("value"))
    return pairs


def _attribute(value: Any, depth: int = 0) -> Any:
    """A value of the OpenTelemetry protocol as plain data."""
    if not isinstance(value, Mapping) or len(value) != 1 or depth > _MAX_DEPTH:
        return value
    [(kind, inner)] = value.items()
    match kind:
        case "stringValue" | "boolValue" | "doubleValue":
            return inner
        case "intValue":
            return _parsed(inner) if isinstance(inner, str) else inner
        case "arrayValue" if isinstance(inner, Mapping) and isinstance(inner.get("values", []), list):
            return [_attribute(part, depth + 1) for part in inner.get("values", [])]
        case "kvlistValue" if isinstance(inner, Mapping) and isinstance(inner.get("values", []), list):
            return {
                part["key"]: _attribute(part.get("value"), depth + 1)
                for part in inner.get("values", [])
                if isinstance(part, Mapping) and isinstance(part.get("key"), str)
            }
    return value


def _first(item: Mapping[str, Any], places: Sequence[str]) -> Any:
    """Return what is at the first existing place; the name of a place may contain dots itself."""
    for place in places:
        if (value := item.get(place)) is not None:
            return value
        node: Any = item
        for step in place.split("."):
            node = node.get(step) if isinstance(node, Mapping) else None
        if node is not None:
            return node
    return None


def _id_and_tool(item: Mapping[str, Any], fields: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    return _text(_first(item, fields["id"])), _text(_first(item, fields.get("tool", ())))


def _text(value: Any) -> str:
    return str(value)[:200] if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


# ------------------------------------------------------------------------------------------------- a result


def payload(value: Any) -> Any:
    """What a tool returned: JSON in text is read, the wrapping of a single text is taken away."""
    if isinstance(value, str):
        text = value.strip()
        if text[:1] in ("{", "[") and (parsed := _parsed(text)) is not None:
            return parsed
        return value
    if isinstance(value, (list, tuple)) and value and all(map(_is_part, value)):
        texts = [payload(part["text"]) for part in value if isinstance(part.get("text"), str)]
        return texts[0] if len(texts) == 1 else texts
    return value


def _is_part(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and isinstance(part.get("type"), str)
        and (
            part.get("type")
            in (
                "text",
                "input_text",
                "output_text",
                "image",
                "resource",
                "resource_link",
                "audio",
                "image_url",
            )
        )
    )


def _parsed(text: str) -> Any:
    """The JSON in a text; ``None`` where it is none, or too deep."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return None
