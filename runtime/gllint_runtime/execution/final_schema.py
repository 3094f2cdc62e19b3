"""The final answers of a session as a schema, for models that are constrained by one while they write.

Constrained by it, a model cannot write a number: its free text admits no digit of any script, and its claims are an
enumeration of what tools have returned. JSON Schema and GBNF (llama.cpp) say one language; the grammar alone can say
that each macro has its claim and each claim its macro. What words around a number would change of it ("minus", "half
of") no schema can say: the gate checks such answers as it does all others.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple, overload

from gllint_runtime.execution.session import Session
from gllint_runtime.policy.rendered_text import is_numeral
from gllint_runtime.policy.schemas import Claim

_MOST_CLAIMS = 200  # that are offered: those that were recorded last
_MOST_CITED = 12  # claims of one message, in the grammar
_BEYOND = 0x10000  # where code points begin that regular expressions write in different ways


@overload
def final_schema(
    session: Session, *, format: Literal["json"] = "json", whitelisted: bool = True
) -> dict[str, Any]: ...
@overload
def final_schema(session: Session, *, format: Literal["gbnf"], whitelisted: bool = True) -> str: ...
def final_schema(session: Session, *, format: str = "json", whitelisted: bool = True) -> dict[str, Any] | str:
    """Return the form of a session's next final answer, ``{"claims": [...], "message": "..."}``.

    ``format="json"`` gives a JSON Schema as strict structured outputs take it, ``"gbnf"`` a grammar of llama.cpp. The
    claims are those of recorded results: ask for it again after each. With ``whitelisted`` the message may have dates,
    clock times, versions, ids, list markers and CO2. Raises ValueError for another format.
    """
    if not isinstance(session, Session):
        raise TypeError(f"final_schema needs a Session, got {type(session).__name__}")
    claims = [_as_json(claim) for claim in session.claimable()[-_MOST_CLAIMS:]]
    if format == "json":
        return _json_schema(claims, _Message(whitelisted))
    if format == "gbnf":
        return _grammar(claims, _Message(whitelisted))
    raise ValueError(f'format must be "json" or "gbnf", got {format!r}')


def _as_json(claim: Claim) -> dict[str, Any]:
    """Return a claim as a model writes it; values are within the range of JSON's readers."""
    value: Any = claim.quantity.value
    if isinstance(value, Decimal | Fraction):
        value = int(value) if value == int(value) else float(value)
    quantity = {"value": value, "unit": claim.quantity.unit}
    return {"source_call_id": claim.source_call_id, "path": claim.path, "quantity": quantity}


# ---------------------------------------------------------------------------------------------- the language


class _Text(NamedTuple):
    text: str


class _OneOf(NamedTuple):
    """One character of some ranges."""

    ranges: tuple[tuple[str, str], ...]


class _Row(NamedTuple):
    parts: tuple[_Part, ...]


class _Choice(NamedTuple):
    parts: tuple[_Part, ...]


class _Repeated(NamedTuple):
    """``part`` as often as ``mark`` says: ``*``, ``+``, ``?``, ``{5}``."""

    part: _Part
    mark: str


class _Rule(NamedTuple):
    """A part with a name, under which the grammar has it once."""

    name: str
    part: _Part


_Part = _Text | _OneOf | _Row | _Choice | _Repeated | _Rule

_POINTS = " \n'(),.;!?"
_FURTHER_POINTS = frozenset("¡¿‘’“”…、。「」『』（），！？；：।॥،؛؟")
_UNSEEN = frozenset(
    "\u0335\u0336\u0337\u0338\u115f\u1160\u3164\uffa0"
)  # strokes, and letters without a shape
# Those that are as short as symbols of units.
_WORDS_BEHIND = (
    "of", "in", "and", "for", "from", "to", "at", "on", "by", "is", "was", "are", "has", "had", "as", "or", "but", "so",
    "de", "en", "im", "und", "et", "y", "и",
)  # fmt: skip
_WITHOUT_CASE = ("\u0590", "\u0dff")  # scripts from Hebrew to Sinhala, which write words of two letters


def _row(*parts: _Part) -> _Part:
    return _Row(parts)


def _choice(*parts: _Part | str) -> _Part:
    return _Choice(tuple(_Text(part) if isinstance(part, str) else part for part in parts))


def _optional(part: _Part) -> _Part:
    return _Repeated(part, "?")


def _span(first: str, last: str) -> _Part:
    return _OneOf(((first, last),))


def _any_of(chars: str) -> _Part:
    return _OneOf(tuple((char, char) for char in chars))


@lru_cache(maxsize=1)
def _letters() -> tuple[tuple[str, str], ...]:
    """Return the letters of all scripts, with their accents and punctuation, as ranges.

    Example: ``(("A", "Z"), ("a", "z"), …)``.
    """
    ranges: list[tuple[str, str]] = [("A", "Z"), ("a", "z")]
    first = last = ""
    for char in map(chr, range(0x80, _BEYOND)):  # of which the last are no letters
        category = unicodedata.category(char)
        if char in _UNSEEN or is_numeral(char):
            is_letter = False
        elif category == "Cn":  # belongs to its neighbours
            continue
        else:
            is_letter = category[0] == "L" or category in ("Mn", "Mc") or char in _FURTHER_POINTS
        if is_letter:
            first, last = first or char, char
        elif first:
            ranges.append((first, last))
            first = ""
    return tuple(ranges)


def _letters_within(first: str, last: str) -> tuple[tuple[str, str], ...]:
    return tuple((low, high) for low, high in _letters() if first <= low and high <= last)


class _Message:
    """The parts of a message: free text, and what may be between two macros."""

    def __init__(self, whitelisted: bool) -> None:
        """Build the parts of a message; ``whitelisted`` adds the numbers that need no claim."""
        letter = _Rule("letter", _OneOf(_letters()))
        digit = _span("0", "9")
        marker = _row(_span("1", "9"), _optional(digit), _Text(". "))  # of an ordered list
        bullet = _choice("- ", marker) if whitelisted else _Text("- ")
        item = _Rule("item", _row(_Text("\n"), bullet))
        text = [
            _OneOf((*((char, char) for char in _POINTS), *_letters())),
            _row(_Text(":"), _choice(" ", item, "\n")),  # never ":five:"
            _row(_Text("-"), _choice(_span("a", "z"), _span("A", "Z"))),
            item,
        ]
        if whitelisted:
            opening = _choice(_any_of(" \n("), ": ")
            text.append(_row(opening, _Rule("context", _uncounted_numbers(digit)), _any_of(" \n,.;!?)")))
        self.text = _Rule("text", _Repeated(_Choice(tuple(text)), "*"))
        self.head = _Rule("head", _optional(bullet))
        # In front of a macro, and behind one: no sign, no letter, and no word as short as most symbols of units.
        front = _Rule("front", _choice(_any_of(" \n(“‘「（"), ": ", item, _row(_Text(":"), item)))
        closed = _optional(_any_of(")’”」）"))
        word = _choice(
            _Repeated(letter, "{4}"),
            _row(_OneOf(_letters_within(*_WITHOUT_CASE)), letter),
            *(_row(_Text(word), _any_of(" \n")) for word in _WORDS_BEHIND),
        )
        behind = _Rule(
            "behind",
            _row(closed, _choice(_any_of(".,;!?。，"), ": ", ":\n", "\n\n", item, _row(_Text(" "), word))),
        )
        self.lead = _Rule("lead", _row(self.head, _optional(_row(self.text, front))))
        self.link = _Rule("link", _choice(_row(behind, self.text, front), _row(closed, item)))
        self.end = _Rule("end", _choice(_row(behind, self.text), closed))

    def whole(self, count: int) -> _Part:
        """Return a message with any macros of ``count`` claims."""
        free = _row(self.head, self.text)
        if not count:
            return free
        macro = _macro(range(count))
        return _choice(free, _row(self.lead, macro, _Repeated(_row(self.link, macro), "*"), self.end))

    def citing(self, count: int) -> _Part:
        """Return the grammar of a message with ``count`` macros, each at least once, the first uses in order."""
        if not count:
            return _row(self.head, self.text)
        part = _Rule("cites-0", _row(self.lead, _macro([0])))
        for number in range(1, count):
            part = _Rule(
                f"cites-{number}",
                _row(part, self._again(number), self.link, _macro([number])),
            )
        return _row(part, self._again(count), self.end)

    def _again(self, count: int) -> _Part:
        macros = _Rule(f"macro-of-{count}", _macro(range(count)))
        return _Repeated(_row(self.link, macros), "*")


def _macro(numbers: Sequence[int]) -> _Part:
    return _row(_Text("{{claim:"), _choice(*map(str, numbers)), _Text("}}"))


def _uncounted_numbers(digit: _Part) -> _Part:
    """Return the grammar of what counts as no number: dates, clock times, versions, ids and CO2."""

    def from_zero(tens: str, last: str = "9") -> _Part:
        """Return the two digits from ``tens``0 to ``tens````last``: 20 to 28."""
        return _row(_Text(tens), _span("0", last))

    days = _choice(_row(_Text("0"), _span("1", "9")), from_zero("1"), from_zero("2", "8"))  # 01 to 28
    months = _choice(*(f"{month:02}-" for month in range(1, 13) if month != 2))
    last_days = _choice("29", "30")
    long_months = _choice(*(f"{month:02}-31" for month in (1, 3, 5, 7, 8, 10, 12)))
    day = _choice(
        _row(months, _choice(days, last_days)),
        _row(_Text("02-"), days),
        long_months,
    )
    year = _row(_choice("19", "20"), digit, digit)
    sixty = _row(_span("0", "5"), digit)
    hour = _choice(_row(_any_of("01"), digit), from_zero("2", "3"))
    figures = _row(digit, _optional(digit))
    return _choice(
        _row(year, _Text("-"), day),  # 2024-03-31, never 2024-02-29: not each year has it
        _row(hour, _Text(":"), sixty, _optional(_row(_Text(":"), sixty))),  # 23:59, 23:59:00
        _row(_Text("v"), figures, _Text("."), figures, _optional(_row(_Text("."), figures))),  # v1.2, v1.2.3
        _row(_Text("ID-"), _Repeated(digit, "+")),  # ID-4711
        "CO2",
    )


# ------------------------------------------------------------------------------------------- as JSON Schema


def _json_schema(claims: list[dict[str, Any]], message: _Message) -> dict[str, Any]:
    """Return the JSON Schema of a final answer that may cite ``claims``, its message as a regular expression."""
    items = [_object({key: _value(value) for key, value in claim.items()}) for claim in claims]
    # `maxItems` is 0 without claims, but strict outputs require a schema of the elements all the same.
    any_item = {"anyOf": items} if items else _object({"path": {"type": "string"}})
    pattern = f"^(?:{_expression(message.whole(len(claims)))})$"
    return _object(
        {
            "claims": {
                "type": "array",
                "description": "The numbers of the message, each as its tool returned it.",
                "items": any_item,
                "maxItems": len(claims),
            },
            "message": {
                "type": "string",
                "description": "The answer without any digit; {{claim:0}} is the place of the first claim.",
                "pattern": pattern,
            },
        }
    )


def _value(value: Any) -> dict[str, Any]:
    """Return the schema of just this value."""
    if isinstance(value, dict):
        return _object({key: _value(item) for key, item in value.items()})
    return {"type": "string" if isinstance(value, str) else "number", "enum": [value]}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _expression(part: _Part) -> str:
    """Return a part of the grammar as a regular expression without lookaround.

    ``_Repeated(digit, "+")`` → ``[0-9]+``.
    """
    match part:
        case _Text(text):
            return re.sub(r"[.()\[\]{}*+?|^$\\]", r"\\\g<0>", text).replace("\n", r"\n")
        case _OneOf(ranges):
            return f"[{''.join(_range(first, last) for first, last in ranges)}]"
        case _Row(parts):
            return "".join(map(_expression, parts))
        case _Choice(parts):
            return f"(?:{'|'.join(map(_expression, parts))})"
        case _Repeated(inner, mark):
            text = _expression(inner)
            is_one = isinstance(inner, _OneOf | _Choice) or (
                isinstance(inner, _Rule) and text.startswith("[")
            )
            return f"{text}{mark}" if is_one else f"(?:{text}){mark}"
    return _expression(part.part)


def _range(first: str, last: str) -> str:
    first, last = first.replace("\n", r"\n"), last.replace("\n", r"\n")
    return first if first == last else f"{first}-{last}"


# -------------------------------------------------------------------------------------------------- as GBNF


def _grammar(claims: list[dict[str, Any]], message: _Message) -> str:
    """Return the llama.cpp grammar of a final answer that may cite ``claims``: one rule for each number of claims."""
    rules: dict[str, str] = {}
    answers = []
    for count in range(min(len(claims), _MOST_CITED) + 1):
        listed = ' ", " '.join(["claim"] * count)
        text = _named(_Rule(f"message-{count}", message.citing(count)), rules)
        opening, middle, closing = (_literal(part) for part in ('{"claims": [', '], "message": "', '"}'))
        answers.append(f"{opening} {f'{listed} ' if count else ''}{middle} {text} {closing}")
    if claims:
        rules["claim"] = " | ".join(_literal(json.dumps(claim, ensure_ascii=False)) for claim in claims)
    rules["root"] = " | ".join(answers)
    return "".join(f"{name} ::= {rules[name]}\n" for name in reversed(rules))


def _named(rule: _Rule, rules: dict[str, str]) -> str:
    if rule.name not in rules:
        rules[rule.name] = _written(rule.part, rules)
    return rule.name


def _written(part: _Part, rules: dict[str, str]) -> str:
    """Return a part in the notation of llama.cpp, as it is within a JSON string; its named rules are added to
    ``rules``.
    """
    match part:
        case _Text(text):
            return _literal(json.dumps(text, ensure_ascii=False)[1:-1])
        case _OneOf(ranges):
            single = "".join(_grammar_range(*pair) for pair in ranges if "\n" not in pair)
            return f'([{single}] | "\\\\n")' if ("\n", "\n") in ranges else f"[{single}]"
        case _Row(parts):
            return " ".join(_written(inner, rules) for inner in parts)
        case _Choice(parts):
            return f"({' | '.join(_written(inner, rules) for inner in parts)})"
        case _Repeated(inner, mark):
            text = _written(inner, rules)
            return f"{text}{mark}" if isinstance(inner, _OneOf | _Choice | _Rule) else f"({text}){mark}"
        case _Rule():
            return _named(part, rules)


def _literal(text: str) -> str:
    """Return a text in the quotes of a grammar."""
    return '"' + "".join(map(_literal_chars, text)) + '"'


def _literal_chars(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if " " <= char <= "~" else _code_point(char)


def _grammar_range(first: str, last: str) -> str:
    return _code_point(first) if first == last else f"{_code_point(first)}-{_code_point(last)}"


def _code_point(char: str) -> str:
    if (char.isascii() and char.isalnum()) or char in " ,.;!?'()":
        return char
    return f"\\u{ord(char):04X}" if ord(char) < _BEYOND else f"\\U{ord(char):08X}"
