"""``final_schema``: what a model may write that is held to it, as JSON Schema and as a grammar of llama.cpp."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gllint_runtime import GLError, Session, final_schema, scan_naked_numbers
from gllint_runtime.policy.claims import claimable_paths
from gllint_runtime.policy.rendered_text import is_numeral


def session_of(*outputs: Any, **settings: Any) -> Session:
    session = Session(extend_units=["count"], **settings)
    for output in outputs:
        session.record("meter", {}, output)
    return session


@cache
def metered() -> Session:
    return session_of(
        {"heat": {"value": 12.5, "unit": "kWh"}, "rows": {"value": 3, "unit": "count"}},
        {
            "rate": {"value": Decimal("0.25"), "unit": "USD/kWh"},
            "text": "seen",
            "heat-loss": {"value": 7, "unit": "%"},
        },
    )


# ------------------------------------------------------------------------------------ a reader of grammars

Grammar = dict[str, Any]


def read_grammar(text: str) -> Grammar:
    """The rules of a grammar, each a tree of tuples. Raises ValueError for what is not well-formed."""
    rules: Grammar = {}
    for line in text.splitlines():
        name, sign, body = line.partition(" ::= ")
        if not sign or not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name in rules:
            raise ValueError(f"no rule: {line[:80]}")
        tree, rest = _choice(body)
        if rest:
            raise ValueError(f"{name} goes on with {rest[:40]!r}")
        rules[name] = tree
    used = {name for tree in rules.values() for name in _names(tree)}
    if missing := used - rules.keys():
        raise ValueError(f"no such rules: {missing}")
    if unused := rules.keys() - used - {"root"}:
        raise ValueError(f"rules that nothing names: {unused}")
    return rules


def _names(tree: Any) -> Iterator[str]:
    kind, *parts = tree
    if kind == "name":
        yield parts[0]
    elif kind in ("choice", "row"):
        for part in parts[0]:
            yield from _names(part)
    elif kind == "repeat":
        yield from _names(parts[0])


def _choice(text: str) -> tuple[Any, str]:
    parts = []
    while True:
        row, text = _row(text)
        parts.append(row)
        if not text.startswith("|"):
            return ("choice", parts), text
        text = text[1:]


def _row(text: str) -> tuple[Any, str]:
    parts = []
    while (text := text.lstrip(" ")) and text[0] not in "|)":
        part, text = _one(text)
        if mark := re.match(r"[*+?]|\{(\d+)\}", text):
            most = {"*": (0, 4), "+": (1, 4), "?": (0, 1)}.get(mark[0]) or (int(mark[1]), int(mark[1]))
            part, text = ("repeat", part, most), text[mark.end() :]
        parts.append(part)
    return ("row", parts), text


def _one(text: str) -> tuple[Any, str]:
    if text[0] == "(":
        tree, text = _choice(text[1:])
        if text[:1] != ")":
            raise ValueError(f"no end of a group at {text[:40]!r}")
        return tree, text[1:]
    if text[0] == '"':
        chars, text = _chars(text[1:], '"')
        return ("text", "".join(chars)), text
    if text[0] == "[":
        spans = []
        text = text[1:]
        while text[0] != "]":
            first, text = _char(text)
            last = first
            if text[0] == "-":
                last, text = _char(text[1:])
            if last < first:
                raise ValueError(f"the range {first!r}-{last!r} is empty")
            spans.append((ord(first), ord(last)))
        return ("class", spans), text[1:]
    if name := re.match(r"[a-z][a-z0-9-]*", text):
        return ("name", name[0]), text[name.end() :]
    raise ValueError(f"nothing begins with {text[:40]!r}")


def _chars(text: str, end: str) -> tuple[list[str], str]:
    chars = []
    while text[0] != end:
        char, text = _char(text)
        chars.append(char)
    return chars, text[1:]


def _char(text: str) -> tuple[str, str]:
    if text[0] != "\\":
        return text[0], text[1:]
    if code := re.match(r"\\u([0-9A-F]{4})", text):
        return chr(int(code[1], 16)), text[code.end() :]
    if text[1] in '"\\[]':
        return text[1], text[2:]
    raise ValueError(f"no escape: {text[:8]!r}")


def written(tree: Any, rules: Grammar, chance: random.Random) -> str:
    """A sentence of the grammar, by chance."""
    kind, *parts = tree
    if kind == "text":
        return str(parts[0])
    if kind == "class":
        return chr(chance.randint(*chance.choice(parts[0])))
    if kind == "name":
        return written(rules[parts[0]], rules, chance)
    if kind == "choice":
        return written(chance.choice(parts[0]), rules, chance)
    if kind == "row":
        return "".join(written(part, rules, chance) for part in parts[0])
    part, (least, most) = parts
    return "".join(written(part, rules, chance) for _ in range(chance.randint(least, most)))


# ----------------------------------------------------------------------------------------------- JSON Schema


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("session", [metered(), session_of()], ids=["with numbers", "with none"])
def test_it_is_a_schema_as_strict_structured_outputs_take_it(session: Session) -> None:
    schema = final_schema(session)
    Draft202012Validator.check_schema(schema)
    assert [*schema["properties"]] == ["claims", "message"]
    assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "if"}
    for node in objects(schema):
        assert node["additionalProperties"] is False
        assert node["required"] == [*node["properties"]]
    assert "(?=" not in schema["properties"]["message"]["pattern"]
    assert "(?<" not in schema["properties"]["message"]["pattern"]


def test_it_offers_what_was_recorded_and_nothing_else() -> None:
    validator = Draft202012Validator(final_schema(metered()))
    claim = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
    answer = {"claims": [claim], "message": "It uses {{claim:0}} of heat."}
    assert validator.is_valid(answer)
    assert metered().check(answer["message"], answer["claims"]).message == "It uses 12.50 kWh of heat."  # type: ignore[arg-type]
    assert validator.is_valid({**answer, "claims": [{**claim, "path": "$.heat"}]})
    odd = {"source_call_id": "tc_2", "path": "$.heat_loss", "quantity": {"value": 7, "unit": "%"}}
    assert validator.is_valid({**answer, "claims": [odd]})
    for change in (
        {"path": "$.rows"},
        {"source_call_id": "tc_3"},
        {"quantity": {"value": 12.6, "unit": "kWh"}},
    ):
        assert not validator.is_valid({**answer, "claims": [{**claim, **change}]})
    assert not validator.is_valid({**answer, "more": "text"})


ADMITTED = [
    "{{claim:0}}",
    "It uses {{claim:0}}.",
    "{{claim:0}}, {{claim:1}} and more.",
    "Heat: {{claim:0}}\n- Rows: {{claim:1}}\n- {{claim:2}}",
    "A well-known house (see {{claim:0}}) is cold: it isn't warm.",
    "Das Haus braucht {{claim:0}} im Jahr, sagt er.",
    "它使用 {{claim:0}}。它很暖和。",
    "यह {{claim:0}} है।",
    "No number at all!",
]


@pytest.mark.parametrize("message", ADMITTED)
def test_a_message_of_prose_and_macros_is_admitted(message: str) -> None:
    for whitelisted in (True, False):
        pattern = final_schema(metered(), whitelisted=whitelisted)["properties"]["message"]["pattern"]
        assert re.search(pattern, message)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "It uses 5.",
            "It uses kWh5.",
            "5",
            "m2",
            "It is :five:",
            "&#53;",
            "It is 5. So",
            "x²",
            "½",
            "v1",
            "25:61",
        ),
        *(
            "-{{claim:0}}",
            "- x - {{claim:0}}",
            "+{{claim:0}}",
            "{{claim:0}}000",
            "{{claim:0}} kWh",
            "{{claim:0}}%",
        ),
        *(
            "{{claim:4}}",
            "{{claim:00}}",
            "{claim:0}",
            "{{claim:a}}",
            "{{claim:0}}{{claim:1}}",
            "${{claim:0}}",
        ),
        *(
            "On 2024-02-30 it was",
            "On 2024-13-01 it was",
            "a <b>x</b>",
            "a\u202eb",
            "a\x00b",
            "\ue000",
            "a\u2028b",
        ),
    ],
)
def test_a_number_of_the_model_is_not_admitted(message: str) -> None:
    pattern = final_schema(metered())["properties"]["message"]["pattern"]
    assert not re.search(pattern, message)


@pytest.mark.usefixtures("unmeasured")
def test_no_numeral_of_any_script_is_in_the_free_text() -> None:
    pattern = re.compile(final_schema(metered(), whitelisted=False)["properties"]["message"]["pattern"])
    numerals = [chr(code) for code in range(0x110000) if is_numeral(chr(code))]
    assert len(numerals) > 1000
    assert not [char for char in numerals if pattern.search(char) or pattern.search(f"It is {char}.")]


@pytest.mark.parametrize(
    "text",
    [
        "On 2024-02-28 it was so.",
        "At 23:59, later.",
        "In v1.2 too.",
        "See ID-123.",
        "CO2 is a gas \n1. First",
    ],
)
def test_what_the_gate_excuses_is_admitted_unless_it_is_not_wanted(text: str) -> None:
    text = f"See: {text} "
    assert re.search(final_schema(metered())["properties"]["message"]["pattern"], text)
    assert not re.search(final_schema(metered(), whitelisted=False)["properties"]["message"]["pattern"], text)
    assert not scan_naked_numbers(text)


@cache
def admitting(whitelisted: bool = True) -> re.Pattern[str]:
    return re.compile(final_schema(metered(), whitelisted=whitelisted)["properties"]["message"]["pattern"])


def admitted(texts: Iterable[str]) -> list[str]:
    """Those of some texts that may stand in a message, as the gate excuses them, too."""
    some = [text for text in texts if admitting().search(f"See {text} there.")]
    assert not [text for text in some if scan_naked_numbers(f"See {text} there.")]
    return some


def test_each_day_of_a_common_year_is_admitted_and_no_other() -> None:
    days = [f"2023-{month:02}-{day:02}" for month in range(14) for day in range(33)]
    start = date(2023, 1, 1)
    assert admitted(days) == [(start + timedelta(days=day)).isoformat() for day in range(365)]
    assert admitted(f"{year}-01-01" for year in (1899, 1900, 1999, 2000, 2099, 2100)) == [
        f"{year}-01-01" for year in (1900, 1999, 2000, 2099)
    ]


def test_each_time_of_a_day_is_admitted_and_no_other() -> None:
    minutes = (0, 9, 10, 59, 60)
    assert admitted(f"{hour:02}:{minute:02}" for hour in range(26) for minute in minutes) == [
        f"{hour:02}:{minute:02}" for hour in range(24) for minute in minutes[:4]
    ]
    assert admitted(["12:00:59", "12:00:60", "1:30", "12:00:00:00"]) == ["12:00:59"]


def test_versions_ids_and_markers_of_lists_are_admitted_within_bounds() -> None:
    texts = ["v1.2", "v12.34.56", "v1", "v123.4", "v1.2.3.4", "ID-1", "ID-123456789", "ID-", "CO2", "CO3"]
    assert admitted(texts) == ["v1.2", "v12.34.56", "ID-1", "ID-123456789", "CO2"]
    marked = [f"So:\n{marker}. First" for marker in ("1", "9", "10", "99", "0", "01", "100")]
    assert [text for text in marked if admitting().search(text)] == marked[:4]
    assert not [text for text in marked if admitting(False).search(text)]


def test_without_a_number_there_is_no_macro() -> None:
    schema = final_schema(session_of())
    assert not re.search(schema["properties"]["message"]["pattern"], "It is {{claim:}}.")
    assert schema["properties"]["claims"]["maxItems"] == 0


def test_what_is_no_character_yet_belongs_to_the_script_around_it() -> None:
    assert admitting().search("\u0530") and unicodedata.category("\u0530") == "Cn"
    assert not admitting().search("\u0338") and not admitting().search("€")


@pytest.mark.usefixtures("unmeasured")
@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.data())
def test_what_the_schema_admits_holds_no_number_of_the_model(data: st.DataObject) -> None:
    schema = final_schema(metered())
    message = data.draw(st.from_regex(schema["properties"]["message"]["pattern"], fullmatch=True))
    every = [claim.to_dict() for claim in metered().claimable()]
    used = sorted({int(index) for index in re.findall(r"claim:(\d+)", message)})
    for place, index in enumerate(used):
        message = message.replace(f"{{{{claim:{index}}}}}", f"{{{{claim:{place}}}}}")
    metered().check(message, [every[index] for index in used])


# ----------------------------------------------------------------------------------------------------- GBNF


@pytest.mark.parametrize("whitelisted", [True, False])
@pytest.mark.parametrize("session", [metered(), session_of()], ids=["with numbers", "with none"])
def test_every_sentence_of_the_grammar_passes_the_gate(session: Session, whitelisted: bool) -> None:
    rules = read_grammar(final_schema(session, format="gbnf", whitelisted=whitelisted))
    validator = Draft202012Validator(final_schema(session, whitelisted=whitelisted))
    chance = random.Random(7)
    cited = 0
    for _ in range(150):
        answer = json.loads(written(rules["root"], rules, chance))
        assert [*answer] == ["claims", "message"]
        cited += len(answer["claims"])
        validator.validate(answer)
        session.check(answer["message"], answer["claims"])
    assert bool(cited) is session.has_calls


def test_a_session_with_many_numbers_offers_the_last_of_them() -> None:
    session = session_of(*({"heat": {"value": number, "unit": "kWh"}} for number in range(250)))
    schema = final_schema(session)
    offered = [
        item["properties"]["source_call_id"]["enum"][0]
        for item in schema["properties"]["claims"]["items"]["anyOf"]
    ]
    assert offered == [f"tc_{number}" for number in range(51, 251)]
    read_grammar(final_schema(session, format="gbnf"))


def test_the_grammar_has_a_message_for_each_number_of_claims_up_to_twelve() -> None:
    for count, most in ((0, 0), (2, 2), (12, 12), (13, 12)):
        numbers = {f"n{i}": {"value": i, "unit": "kWh"} for i in range(count)}
        grammar = final_schema(session_of(numbers), format="gbnf")
        names = [line.partition(" ::= ")[0] for line in grammar.splitlines()]
        assert {name for name in names if name.startswith("message-")} == {
            f"message-{i}" for i in range(most + 1)
        }
        assert ("claim" in names) is bool(count) and len(names) == len({*names})


def test_an_exact_number_is_offered_as_json_has_it_and_a_unit_as_it_is_written() -> None:
    session = Session(extend_units=["🍌", "\U00010000"])
    session.record("meter", {}, {"x": {"value": 7, "unit": "\U00010000"}})
    for value in (Decimal(10**30 + 1), Decimal("0.1234567890123456789"), Fraction(1, 3), 10**30):
        session.record("meter", {}, {"x": {"value": value, "unit": "🍌"}})
    items = final_schema(session)["properties"]["claims"]["items"]["anyOf"]
    values = [item["properties"]["quantity"]["properties"]["value"]["enum"][0] for item in items]
    assert values.pop(0) == 7
    assert values == [10**30 + 1, 0.1234567890123456789, 1 / 3, 10**30]
    assert [type(value) for value in values] == [int, float, float, int]
    grammar = final_schema(session, format="gbnf")
    assert r"\U0001F34C" in grammar and r"\U00010000" in grammar
    assert r"\u0438" in grammar and r"\\u0438" not in grammar  # the word as it is, not as JSON may escape it


def test_elements_of_arrays_are_offered_where_the_policy_lets_them_be_claimed() -> None:
    rows = {"rows": [{"heat": {"value": 1, "unit": "kWh"}}]}
    assert final_schema(session_of(rows))["properties"]["claims"]["maxItems"] == 0
    items = final_schema(session_of(rows, array_paths=True))["properties"]["claims"]["items"]["anyOf"]
    assert [item["properties"]["path"]["enum"][0] for item in items] == ["$.rows[0].heat"]


def _quantity(value: Any) -> dict[str, Any]:
    return {"value": value, "unit": "kWh"}


@pytest.mark.parametrize(
    ("output", "paths"),
    [
        ({"a.b": _quantity(1)}, ["$.a_b"]),
        ({"a.b": _quantity(1), "a": {"b": _quantity(2)}}, ["$.a_b", "$.a.b"]),
        ({"a": {"b": _quantity(2)}, "a.b": _quantity(1)}, ["$.a.b", "$.a_b"]),
        ({"a.b": _quantity(1), "a_b": _quantity(2)}, ["$.a_b"]),
        ({"a-b": _quantity(1), "a b": _quantity(2)}, []),
        ({"a[0]": _quantity(1), 'x"]}': _quantity(2)}, ["$.a_0_", "$.x___"]),
        ({"é": _quantity(Decimal("0.10")), "": _quantity(10**30)}, ["$.é", "$._"]),
    ],
)
def test_each_claim_that_is_offered_holds(output: Any, paths: list[str]) -> None:
    session = session_of(output)
    offered = final_schema(session)["properties"]["claims"]["items"].get("anyOf", [])
    claims = [
        {
            "source_call_id": item["properties"]["source_call_id"]["enum"][0],
            "path": item["properties"]["path"]["enum"][0],
            "quantity": {
                key: inner["enum"][0] for key, inner in item["properties"]["quantity"]["properties"].items()
            },
        }
        for item in offered
    ]
    assert [claim["path"] for claim in claims] == paths
    for claim in claims:
        session.check("It is {{claim:0}}.", [claim])


def test_a_path_that_leads_nowhere_is_answered_with_those_that_do() -> None:
    session = session_of({"a.b": _quantity(1)})
    with pytest.raises(GLError, match=r"Quantities of this output: \$\.a_b\."):
        session.check("{{claim:0}}", [{"source_call_id": "tc_1", "path": "$.a.b", "quantity": _quantity(1)}])


def test_the_odd_keys_of_an_output_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def counted(paths: list[Any]) -> Any:
        counts.append(len(paths))
        return claimable_paths(paths)

    monkeypatch.setattr("gllint_runtime.policy.data.claimable_paths", counted)
    session = session_of({f"x-{number}": _quantity(number) for number in range(50)})
    claims = [claim.to_dict() for claim in session.claimable()]
    session.check("\n".join(f"- {{{{claim:{number}}}}}" for number in range(50)), claims)
    assert counts == [50]


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="json"):
        final_schema(metered(), format="xml")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="Session"):
        final_schema({})  # type: ignore[call-overload]
