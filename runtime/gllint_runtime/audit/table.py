"""The table of formats: by which keys an item of a recording is recognized, and what it contains.

A rule of ``formats.json`` says by which keys an item is recognized (``when``: alternatives of a key, and its values:
``*`` for any, ``-`` for none, ``tool-*`` for a beginning, ``@said`` and ``@tool`` for whose turn it is), and what
it is. Its ``parts`` are places with what is there: a text (``user``, ``assistant``, ``system``, or ``@``: whom the
place of ``who`` names), declarations of tools (``declared``), calls (``call``), results with their ids (``result``) or
without (``returned``), both in one (``both``), a piece of a call's arguments (``fragment``), or items that say it
themselves. ``call`` and ``output``: the item is one; what they name is at other places than usual. ``whole`` is a
conversation of its own, ``span`` an operation of a trace, ``spans`` contains such, ``piece`` is a part of a streamed
message, ``again`` repeats an answer, ``block`` is a text that belongs together with its neighbours. ``only`` are the
members that an item may have. ``answers`` and ``structures`` are keys under which the answer is, as a text or as
data, where no part holds one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from gllint_runtime.audit.turns import Speaker
from gllint_runtime.policy.data_files import read

_MAX_DEPTH = 60
_NUMBERED = re.compile(r"(.+?)\.([0-9]{1,6})\.(.+)", re.DOTALL)  # gen_ai.prompt.3.content
_ABOUT_RESULTS = re.compile(r"(?i)tool|func|observ|result|output|return|response|invocation|log$")
Places = tuple[str, ...]


class Rule(NamedTuple):
    """One line of the table, see above."""

    when: tuple[tuple[Places, Places], ...]
    members: frozenset[str]  # one of which an item that it recognizes has
    parts: tuple[tuple[Places, str], ...]
    call: Mapping[str, Places] | None
    output: Mapping[str, Places] | None
    only: frozenset[str]
    read: frozenset[str]  # the members that the rule looks at
    who: Places
    answers: Places
    structures: Places
    options: Mapping[str, Any]


class Table(NamedTuple):
    """All rules, and the names that they refer to; ``record`` has the places of ids, days, models and texts."""

    titles: Mapping[str, str]
    rules: tuple[Rule, ...]
    speakers: Mapping[str, str]
    record: Mapping[str, Places]
    call: Mapping[str, Places]
    output: Mapping[str, Places]
    span: Mapping[str, Places]
    kinds: Mapping[str, str]
    harmless: frozenset[str]
    asides: frozenset[str]


@cache
def table() -> Table:
    """Return the table that ships with the package."""
    data = json.loads(read("../audit/formats.json"))
    call, output = _fields(data["call"]), _fields(data["output"])
    return Table(
        data["formats"],
        tuple(rule_of(row, call, output) for row in data["rules"]),
        _by_word(data["speakers"]),
        _fields(data["record"]),
        call,
        output,
        _fields(data["span"]),
        _by_word(data["span-kinds"]),
        frozenset(_split(data["harmless"])),
        frozenset(_split(data["asides"])),
    )


def rule_of(row: Mapping[str, Any], call: Mapping[str, Places], output: Mapping[str, Places]) -> Rule:
    """Return a rule, of which what names no places has the usual ones."""
    when = tuple((_split(keys), _split(values)) for keys, values in row["when"].items())
    parts = tuple(
        (_split(places), mode) for places, _, mode in (part.partition(":") for part in row.get("parts", ()))
    )
    own_call = {**call, **_fields(row["call"])} if "call" in row else None
    own_output = {**output, **_fields(row["output"])} if "output" in row else None
    answers, structures, who = (_split(row.get(name, "")) for name in ("answers", "structures", "who"))
    places = [*(keys for keys, _ in when), *(keys for keys, _ in parts), answers, structures, who]
    places += [keys for fields in (own_call, own_output) for keys in (fields or {}).values()]
    looked_at = frozenset(part for keys in places for key in keys for part in (key, key.partition(".")[0]))
    looked_at |= {*_split(row.get("aside", ""))}
    only = frozenset(_split(row.get("only", "")))
    keys = next(keys for keys, values in when if values != ("-",))
    own = frozenset(name for key in keys for name in _heads(key))
    return Rule(when, own, parts, own_call, own_output, only, looked_at, who, answers, structures, row)


def _split(names: str) -> Places:
    return tuple(names.split("|")) if names else ()


def _heads(place: str) -> Iterator[str]:
    """Return the members in which a place may be: a name may contain dots itself."""
    parts = place.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _fields(row: Mapping[str, str]) -> Mapping[str, Places]:
    return {name: _split(places) for name, places in row.items()}


def _by_word(row: Mapping[str, str]) -> Mapping[str, str]:
    return {word: name for name, words in row.items() for word in words.split("|")}


def speaker_of(value: Any) -> str | None:
    """Whose turn it is under the name of a role: ``"tool"`` for what a tool returned, ``None`` for an unknown one."""
    return table().speakers.get(value.lower()) if isinstance(value, str) else None


def matching(item: Mapping[str, Any], rules: Sequence[Rule]) -> Rule | None:
    """Return the first rule by which an item is recognized."""
    for rule in rules:
        if rule.members.isdisjoint(item) or (rule.only and not rule.only.issuperset(item)):
            continue
        if all(_matches(first(item, keys), values) for keys, values in rule.when):
            return rule
    return None


def _matches(value: Any, values: Places) -> bool:
    """Return whether a value matches one of the patterns of a rule."""
    if values == ("-",):
        return value in (None, [], "")
    if value is None or values == ("*",):
        return value is not None
    if value is True:
        return "true" in values
    if not isinstance(value, str):
        return False
    for pattern in values:
        if pattern == value or (pattern[-1] == "*" and value.startswith(pattern[:-1])):
            return True
        if pattern[0] == "@":
            speaker = speaker_of(value)
            return speaker is not None and (pattern == "@any" or (speaker == "tool") is (pattern == "@tool"))
    return False


def first(item: Any, places: Places, *, is_full: bool = False) -> Any:
    """Return what is at the first of the places that there is (``is_full``: and not empty); a name may contain dots
    itself.
    """
    for place in places:
        value = _at(item, place)
        if value is not None and not (is_full and value in ("", [], {})):
            return value
    return None


def _at(item: Any, place: str) -> Any:
    """Return the value at a dotted path. A key may contain dots itself."""
    if not isinstance(item, Mapping):
        return (
            item[int(place)]
            if isinstance(item, list) and place.isdecimal() and int(place) < len(item)
            else None
        )
    if (value := item.get(place)) is not None or "." not in place:
        return value
    at = place.find(".")
    while at > 0:
        if (inner := item.get(place[:at])) is not None:
            return _at(inner, place[at + 1 :])
        at = place.find(".", at + 1)
    return None


def says_results(item: Mapping[str, Any]) -> bool:
    """Return whether an item that no rule names may contain what a tool returned, by its names."""
    kinds = (item.get(key) for key in ("type", "kind", "event", "part_kind", "role", "method"))
    return any(_ABOUT_RESULTS.search(text) for text in (*item, *kinds) if isinstance(text, str))


def leftovers(item: Mapping[str, Any], rule: Rule) -> list[str]:
    """Return the members that a rule does not look at and that may contain what a tool returned."""
    return [
        key
        for key, value in item.items()
        if key not in rule.read
        and isinstance(value, (str, Mapping, list))
        and _ABOUT_RESULTS.search(key)
        and key not in table().harmless
        and any(map(str.isdigit, json.dumps(value, default=str)))
    ]


# ------------------------------------------------------------------------------------------------ attributes


def plain_item(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item with its attributes next to its own keys, as OpenTelemetry writes both in several ways."""
    attributes = item.get("attributes")
    if not isinstance(attributes, (Mapping, list)):
        return item
    pairs = unnumbered(_attributes(attributes))
    name = pairs.get("event.name")
    return {**pairs, **({"name": name} if isinstance(name, str) else {}), **item}


def unnumbered(pairs: Mapping[str, Any]) -> dict[str, Any]:
    """Keys with numbers in them (``prompt.0.role``) as lists."""
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    rest = {}
    for key, value in pairs.items():
        if (match := _NUMBERED.fullmatch(key)) is not None:
            head, number, field = match.groups()
            lists.setdefault(head, {}).setdefault(int(number), {})[field] = value
        else:
            rest[key] = value
    arrays = {
        head: [unnumbered(entries[number]) for number in sorted(entries)] for head, entries in lists.items()
    }
    return {**arrays, **rest}


def _attributes(attributes: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Return the attributes of a span, which may be a list of keys and values."""
    if isinstance(attributes, Mapping):
        return {str(key): _attribute(value) for key, value in attributes.items()}
    pairs = {}
    for entry in attributes:
        if isinstance(entry, Mapping) and isinstance(entry.get("key"), str):
            pairs[entry["key"]] = _attribute(entry.get("value"))
    return pairs


def _attribute(value: Any, depth: int = 0) -> Any:
    """Return a value of the OpenTelemetry protocol as plain data."""
    if not isinstance(value, Mapping) or len(value) != 1 or depth > _MAX_DEPTH:
        return value
    [(kind, inner)] = value.items()
    match kind:
        case "stringValue" | "boolValue" | "doubleValue":
            return inner
        case "intValue":
            return parsed(inner) if isinstance(inner, str) else inner
        case "arrayValue" if isinstance(inner, Mapping) and isinstance(inner.get("values", []), list):
            return [_attribute(part, depth + 1) for part in inner.get("values", [])]
        case "kvlistValue" if isinstance(inner, Mapping) and isinstance(inner.get("values", []), list):
            return {
                part["key"]: _attribute(part.get("value"), depth + 1)
                for part in inner.get("values", [])
                if isinstance(part, Mapping) and isinstance(part.get("key"), str)
            }
    return value


def parsed(text: Any) -> Any:
    """Return the JSON in a text; ``None`` if it is none, or too deep."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError, TypeError):
        return None


def is_speaker(mode: str) -> bool:
    """Return whether the mode of a part names whose turn it is there."""
    return mode in Speaker.__args__  # type: ignore[attr-defined]
