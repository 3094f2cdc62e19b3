"""The gate for agents that have a loop of their own."""

from __future__ import annotations

import json
import marshal
import math
import re
import threading
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime import (
    Claim,
    GLError,
    Quantity,
    ScriptedProvider,
    Session,
    ToolRegistry,
    ToolRuntime,
    Verified,
)
from gllint_runtime.execution import session as session_module
from gllint_runtime.execution.record import CallRecord
from gllint_runtime.execution.session import Refused
from gllint_runtime.policy.data import Survey
from gllint_runtime.policy.keywords import PolicySettings
from gllint_runtime.policy.schemas import QUANTITY_REF
from gllint_runtime.policy.settings import Policy

HEAT = {"heat": {"value": 12.5, "unit": "kWh"}}


def claim(source: str = "tc_1", path: str = "$.heat", value: Any = 12.5, unit: str = "kWh") -> dict[str, Any]:
    return {"source_call_id": source, "path": path, "quantity": {"value": value, "unit": unit}}


def code_of(function: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(GLError) as caught:
        function(*arguments, **options)
    json.dumps(caught.value.to_dict(), default=str)
    return str(caught.value.code)


@pytest.fixture
def session() -> Session:
    session = Session()
    session.record("meter", {"site": 7}, HEAT)
    return session


def test_ten_lines() -> None:
    session = Session()
    call_id = session.record("meter", {"site": 7}, HEAT)
    verified = session.check("It uses {{claim:0}}.", [claim(call_id)])
    assert verified.message == "It uses 12.50 kWh." and verified.status == "success"
    (entry,) = verified.provenance
    assert (entry["tool_name"], entry["call_id"], entry["arguments"]) == ("meter", "tc_1", {"site": 7})
    assert verified.metrics["total_tool_calls"] == 1


@pytest.mark.parametrize(
    ("message", "claims", "code"),
    [
        ("It uses 12.5 kWh.", [], "NO_NAKED_NUMBERS"),
        ("It uses {{claim:0}}.", [], "MISSING_CLAIM"),
        ("It uses {{claim:0}}.", None, "MISSING_CLAIM"),
        ("It uses {{claim:0}}.", [claim("tc_2")], "MISSING_TOOL_CALL"),
        ("It uses {{claim:0}}.", [claim(path="$.cold")], "PATH_RESOLUTION"),
        ("It uses {{claim:0}}.", [claim(path="$.heat.value")], "PATH_RESOLUTION"),
        ("It uses {{claim:0}}.", [claim(value=13)], "QUANTITY_MISMATCH"),
        ("It uses {{claim:0}}.", [claim(unit="BTU")], "UNIT_UNKNOWN"),
        ("It uses {{claim:0}} MWh.", [claim()], "QUANTITY_MISMATCH"),
        ("It uses {{claim:0}}MWh.", [claim()], "NO_NAKED_NUMBERS"),
        ("It uses \x1b[K{{claim:0}}.", [claim()], "UNSAFE_TEXT"),
        ("It uses {{claim:0}}.", {"a": 1}, "STEP_SCHEMA"),
        ("It uses {{claim:0}}.", [5], "STEP_SCHEMA"),
        (5, [], "STEP_SCHEMA"),
        (None, [], "STEP_SCHEMA"),
    ],
)
def test_what_is_refused(session: Session, message: Any, claims: Any, code: str) -> None:
    assert code_of(session.check, message, claims) == code
    refused = session.verify(message, claims)
    assert refused.status == "error" and refused.error.code == code and refused.hint
    assert session.check("It uses {{claim:0}}.", [claim()]).message == "It uses 12.50 kWh."


def endless_list() -> list[Any]:
    data: list[Any] = []
    data += [data, data]
    return data


def doubling() -> dict[str, Any]:
    data: dict[str, Any] = {}
    for _ in range(60):
        data = {"a": data, "b": data}
    return data


class Liar(dict[str, Any]):
    def items(self) -> Any:
        while True:
            yield ("x", "y")

    keys = items
    __iter__ = items
    __len__ = None  # type: ignore[assignment]


class Long(list[Any]):
    def __iter__(self) -> Any:
        while True:
            yield 1


class Text(str):
    def __iter__(self) -> Any:
        raise SystemError

    __str__ = __iter__
    __eq__ = __iter__
    __hash__ = __iter__


class Masked:
    __class__ = dict  # type: ignore[assignment]


class Number(float):
    def __float__(self) -> float:
        return 5.0


@pytest.mark.parametrize(
    "output",
    [
        *(
            5,
            {"a": 5},
            [1],
            {"heat": {"value": math.nan, "unit": "kWh"}},
            {"heat": math.inf},
            object(),
            {1: 2},
        ),
        *(
            endless_list(),
            doubling(),
            {str(i): "x" for i in range(300_000)},
            ["x"] * 300_000,
            {"a": "x" * 30_000_000},
        ),
        *(
            Masked(),
            {"a": Masked()},
            {"a": {5}},
            {"a": (i for i in "x")},
            10**5000,
            {"heat": {"value": 5, "unit": "furlong"}},
        ),
        *(Number("nan"), Liar(a=5), Long([5]), {"a": [Text("a"), 5]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_hostile_outputs_are_refused_and_the_session_goes_on(session: Session, output: Any) -> None:
    assert code_of(session.record, "meter", {}, output) in {"RESULT_SCHEMA", "UNIT_UNKNOWN"}
    assert session.check("It uses {{claim:0}}.", [claim()]).message == "It uses 12.50 kWh."
    assert session.record("meter", {}, HEAT) == "tc_2"


@pytest.mark.parametrize(
    "arguments", [5, [1], "x", {1: 2}, {"a": math.nan}, {"a": endless_list()}, {"a": object()}]
)
def test_hostile_arguments_too(session: Session, arguments: Any) -> None:
    assert code_of(session.record, "meter", arguments, HEAT) == "ARGS_SCHEMA"


def test_subclasses_are_read_as_what_they_are(session: Session) -> None:
    output = OrderedDict(heat=Liar(value=Number(12.5), unit=Text("kWh")))
    call_id = session.record("meter", {"site": Text("north")}, output)
    assert session.check("{{claim:0}}", [claim(call_id)]).message == "12.50 kWh"


def test_a_thousand_claims_and_one_hash() -> None:
    session = Session()
    session.record("meter", {}, {f"k{i}": {"value": i, "unit": "kWh"} for i in range(1000)})
    message = " ".join(f"{{{{claim:{i}}}}}" for i in range(1000))
    verified = session.check(message, [claim(path=f"$.k{i}", value=i) for i in range(1000)])
    assert verified.message.endswith("999.00 kWh")
    assert len({entry["output_hash"] for entry in verified.provenance}) == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("12345678901234567.89"), "12345678901234567.89 kWh"),
        (Decimal("0.12345678901234567890"), "0.12345679 kWh"),
        (Fraction(2**60 + 1, 2), f"{2**59}.50 kWh"),
        (Fraction(-1, 3), "-0.33333333 kWh"),
        (Fraction(1, 3000), "0.00033333333 kWh"),
        (2**53 + 1, f"{2**53 + 1}.00 kWh"),
        (10**30 + 7, f"{10**30 + 7}.00 kWh"),
        (1.0, "1.00 kWh"),
        (-1.0, "-1.00 kWh"),
        (0.0, "0.00 kWh"),
        (-0.0, "0.00 kWh"),
        (0.99994, "0.99994 kWh"),
        (Decimal("0.5"), "0.50 kWh"),
    ],
)
def test_digits_are_kept(value: Any, shown: str) -> None:
    session = Session()
    session.record("meter", {}, {"heat": {"value": value, "unit": "kWh"}})
    for same in (session, Session.from_json(session.to_json())):
        assert same.check("{{claim:0}}", [claim(value=value)]).message == shown
        assert code_of(same.check, "{{claim:0}}", [claim(value=value * 3 + 1)]) == "QUANTITY_MISMATCH"


def test_integers_are_compared_exactly() -> None:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 2**53 + 1, "unit": "kWh"}})
    assert code_of(session.check, "{{claim:0}}", [claim(value=2**53)]) == "QUANTITY_MISMATCH"


@pytest.mark.parametrize(
    ("value", "message", "shown"),
    [
        (3, "We found {{claim:0}} rows.", "We found 3 rows."),
        (3.0, "We found {{claim:0}} rows.", "We found 3 rows."),
        (0, "We found {{claim:0}} rows.", "We found 0 rows."),
        (2.5, "On average {{claim:0}}.", "On average 2.50 count."),
    ],
)
def test_a_count_is_shown_as_its_integer(value: Any, message: str, shown: str) -> None:
    session = Session(packs=["counts"])
    session.record("query", {}, {"rows": {"value": value, "unit": "count"}})
    made = claim(path="$.rows", value=value, unit="count")
    assert session.check(message, [made]).message == shown
    assert code_of(session.check, message.replace("}}", "}} million"), [made]) == "NO_NAKED_NUMBERS"
    assert code_of(session.check, "{{claim:0}} kilowatt-hours", [made]) == "QUANTITY_MISMATCH"


def test_a_share_is_shown_without_a_unit() -> None:
    session = Session(packs=["rates"])
    session.record("query", {}, {"share": {"value": 0.25, "unit": "1"}})
    made = claim(path="$.share", value=0.25, unit="1")
    assert session.check("The share is {{claim:0}}.", [made]).message == "The share is 0.25."


def test_a_time_behind_a_rate() -> None:
    session = Session()
    session.record("meter", {}, {"heat": {"value": 5, "unit": "kW"}, "total": {"value": 5, "unit": "kWh"}})
    total, rate = claim(path="$.total", value=5), claim(value=5, unit="kW")
    assert session.check("It uses {{claim:0}} a year.", [total]).message == "It uses 5.00 kWh a year."
    assert code_of(session.check, "It uses {{claim:0}} a year.", [rate]) == "QUANTITY_MISMATCH"


def test_what_a_number_of_a_plain_kind_is_in_a_claim() -> None:
    session = Session(units={"*_cost": "USD", "meter.$.heat": "kWh"})
    session.record("meter", {}, {"count": 3, "page": 2.0, "fuel_cost": 3.5, "heat": 2})
    for unit in ("count", "1", ""):
        assert (
            session.check("Found {{claim:0}} rows.", [claim(path="$.count", value=3, unit=unit)]).message
            == "Found 3 rows."
        )
    assert (
        code_of(session.check, "{{claim:0}}", [claim(path="$.count", value=4, unit="")])
        == "QUANTITY_MISMATCH"
    )
    assert (
        code_of(session.check, "{{claim:0}}", [claim(path="$.count", value=3, unit="kWh")])
        == "QUANTITY_MISMATCH"
    )
    declared = [claim(path="$.fuel_cost", value=3.5, unit="USD"), claim(path="$.heat", value=2, unit="kWh")]
    assert session.check("{{claim:0}}, {{claim:1}}", declared).message == "3.50 USD, 2.00 kWh"
    assert code_of(session.record, "x", {}, {"count": 2.5}) == "RESULT_SCHEMA"
    assert code_of(Session(policy=Policy.seeds()).record, "x", {}, {"count": 2}) == "RESULT_SCHEMA"


def test_settings_of_the_policy() -> None:
    session = Session(
        extend_units=["tree"],
        plain_keys=["*_id"],
        whitelist=[r"ISO \d+"],
        number_words=True,
        array_paths=True,
    )
    session.record("count", {}, {"user_id": 7, "rows": [{"trees": {"value": 5, "unit": "tree"}}]})
    made = claim(path="$.rows[0].trees", value=5, unit="tree")
    assert session.check("ISO 50001: {{claim:0}}", [made]).message == "ISO 50001: 5.00 tree"
    assert code_of(session.check, "five hundred kWh") == "NO_NAKED_NUMBERS"
    assert code_of(session.check, "{{claim:0}}", [{**made, "path": "$.rows[1].trees"}]) == "PATH_RESOLUTION"
    assert code_of(session.check, "{{claim:0}}", [{**made, "path": "$.rows.0"}]) == "PATH_RESOLUTION"
    assert code_of(Session(plain_kinds=()).record, "count", {}, {"user_id": 7}) == "RESULT_SCHEMA"
    strict = Session(strict_units=True)
    assert code_of(strict.record, "x", {}, {"a": {"value": 1, "unit": "kWh/year"}}) == "UNIT_UNKNOWN"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"packs": ["count"]}, ValueError),
        ({"packs": "counts"}, TypeError),
        ({"extend_units": "tree"}, TypeError),
        ({"plain_keys": [5]}, TypeError),
        ({"whitelist": ["("]}, ValueError),
        ({"strict_units": "no"}, TypeError),
        ({"argument_origin": "maybe"}, ValueError),
        ({"max_bytes": 0}, ValueError),
        ({"max_bytes": "5"}, ValueError),
        ({"constants": [5]}, TypeError),
        ({"constants": {"floor_area": "5"}}, TypeError),
        ({"constants": {"floor_area": True}}, TypeError),
        ({"constants": {"floor_area": float("nan")}}, ValueError),
    ],
)
def test_settings_of_no_use(settings: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Session(**settings)


def test_constants_are_kept_as_exactly_as_they_were_given() -> None:
    given = {"whole": 10**400, "decimal": Decimal("1E+400"), "ratio": Fraction(1, 3), "float": 0.1}
    assert Session.from_json(Session(constants=given).to_json()).constants == given


def test_a_refusal_is_its_own_hint(session: Session) -> None:
    refused = session.verify("It uses 500 kWh.", [])
    assert isinstance(refused, Refused)
    assert session.repair_hint(refused) == refused.hint


def test_a_schema_of_no_use_is_that_of_its_tool(session: Session) -> None:
    with pytest.raises(GLError, match="The result_schema of 'meter' cannot be used"):
        session.record("meter", {}, HEAT, result_schema={"type": "objct"})


def test_a_result_schema_is_held_where_one_is_given(session: Session) -> None:
    schema = {"type": "object", "required": ["heat"], "properties": {"heat": {"$ref": QUANTITY_REF}}}
    assert session.record("meter", {}, HEAT, result_schema=schema) == "tc_2"
    assert code_of(session.record, "meter", {}, {}, result_schema=schema) == "RESULT_SCHEMA"
    assert code_of(session.record, "meter", {}, {}, result_schema={"type": "objekt"}) == "RESULT_SCHEMA"


def test_origins_over_many_turns() -> None:
    session = Session(argument_origin="strict", constants={"hours": 8760})
    assert code_of(session.record, "meter", {"area": 400}, HEAT) == "MISSING_ORIGIN"
    session.user("My flat has 400 m2.")
    session.record("meter", {"area": 400}, HEAT)
    session.user("And now?")
    session.record("next", {"area": 400, "heat": 12.5, "hours": 8760}, HEAT)
    verified = session.check("{{claim:0}}, {{claim:1}}", [claim("tc_1"), claim("tc_2")])
    assert [entry["grounded"] for entry in verified.provenance] == [True, True]
    assert [origin["origin"] for origin in verified.provenance[1]["origins"]] == ["user", "tool", "constant"]
    again = Session.from_json(session.to_json())
    assert again.record("next", {"heat": 12.5, "area": 400}, HEAT) == "tc_3"
    assert (
        again.check("{{claim:0}}, {{claim:1}}", [claim("tc_1"), claim("tc_2")]).provenance
        == verified.provenance
    )


def test_it_holds_what_it_kept_whatever_becomes_of_the_original(session: Session) -> None:
    output = {"heat": {"value": 1, "unit": "kWh"}}
    call_id = session.record("meter", {}, output)
    output["heat"]["value"] = 2
    verified = session.check("{{claim:0}}", [claim(call_id, value=1)])
    verified.provenance[0]["arguments"]["x"] = 5
    assert session.check("{{claim:0}}", [claim(call_id, value=1)]).provenance[0]["arguments"] == {}


def test_claims_may_be_objects(session: Session) -> None:
    assert (
        session.check("{{claim:0}}", [Claim("tc_1", "$.heat", Quantity(12.5, "kWh"))]).message == "12.50 kWh"
    )


def test_memory_is_bounded() -> None:
    session = Session(max_bytes=100_000)
    for _ in range(300):
        session.user("x" * 500)
        last = session.record("meter", {}, {**HEAT, "note": "x" * 1000})
    assert len(session.to_json()) < 250_000 and last == "tc_300"
    assert session.check("{{claim:0}}", [claim(last)]).message == "12.50 kWh"
    assert code_of(session.check, "{{claim:0}}", [claim("tc_1")]) == "MISSING_TOOL_CALL"


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [
        ([50, 50], [50, 50]),
        ([26, 25, 50], [25, 50]),  # three quarters of what may be held are left
        ([25, 26, 50], [50]),
        ([10, 60, 80], [80]),
        ([200], [200]),
    ],
)
def test_what_was_said_longest_ago_is_forgotten_first(lengths: list[int], kept: list[int]) -> None:
    session = Session(max_bytes=100)
    for letter, length in zip("abcdef", lengths, strict=False):
        session.user(letter * length)
    assert [len(text) for text in json.loads(session.to_json())["user"]] == kept


def test_the_oldest_calls_are_forgotten_and_the_last_never() -> None:
    def ids(session: Session) -> list[str]:
        return [call["id"] for call in json.loads(session.to_json())["calls"]]

    size = CallRecord("tc_1", "meter", {}, Survey(HEAT), None).size
    assert size == 500 + len(marshal.dumps({})) + Survey(HEAT).size
    for most, kept in ((4 * size, 4), (4 * size - 1, 2), (1, 1)):
        session = Session(max_bytes=most)
        for _ in range(4):
            session.record("meter", {}, HEAT)
        assert ids(session) == ["tc_1", "tc_2", "tc_3", "tc_4"][-kept:]
    session = Session(max_bytes=4 * size)
    for _ in range(2):
        session.record("meter", {}, HEAT)
    session.user("x" * size)
    session.record("meter", {}, HEAT)
    assert ids(session) == ["tc_1", "tc_2", "tc_3"]
    session.record("meter", {}, HEAT)
    assert ids(session) == ["tc_3", "tc_4"]  # with what was said, three quarters


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "5",
        '"x"',
        "{}",
        '{"gllint_session": 3}',
        '{"gllint_session": 2}',
        '{"gllint_session": 1}',
        "[" * 100_000,
        "NaN",
    ],
)
def test_what_is_no_session(text: str) -> None:
    with pytest.raises(ValueError, match="session"):
        Session.from_json(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", None),
        ("names", 5),
        ("trace", [{}]),
        ("count", 0),
        ("count", "x"),
        ("user", [5]),
        ("metrics", {"model_steps": "x"}),
        ("metrics", {"model_steps": -1, "executed": {}}),
        ("metrics", {"model_steps": "x", "executed": {"model_steps": 1}}),  # a tool of that name
        ("constants", {"a": "5"}),
        ("constants", {"a": True}),
        ("calls", [{"id": "tc_1"}]),
        ("calls", 5),
        ("max_bytes", None),
        ("max_bytes", 0),
        ("max_bytes", True),
        ("count", -1),
        ("count", True),
        ("count", 10**400),
        ("metrics", {"executed": {"meter": 10**400}}),
        ("metrics", {"executed": {"meter": True}}),
        ("metrics", {"executed": {}, "latency_ms": 10**400}),
        ("metrics", {"executed": {}, "latency_ms": -1}),
        ("metrics", {"executed": {}, "latency_ms": 0.0, "model_steps": 1.5}),
    ],
)
def test_a_tampered_session(session: Session, key: str, value: Any) -> None:
    stored = json.loads(session.to_json()) | {key: value}
    with pytest.raises(ValueError, match="session"):
        Session.from_json(json.dumps(stored))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": "tc_2"}, "no id of this session: 'tc_2'"),
        ({"id": "tc_0"}, "no id of this session: 'tc_0'"),
        ({"id": "tc_01"}, "no id of this session: 'tc_01'"),
        ({"id": "tc_x"}, "no id of this session: 'tc_x'"),
        ({"id": 5}, ""),
        ({"arguments": 5}, "call tc_1 is stored twice, or is malformed"),
        ({"tool": 5}, "call tc_1 is stored twice, or is malformed"),
        ({"exact": [[["cold"], {"exact": "12.5"}]]}, "'cold'"),
        ({"exact": [[["heat"], {"exact": "9" * 3000}]]}, "a number is too long"),
        ({"origins": [[1]]}, ""),
        ({"origins": 5}, ""),
    ],
)
def test_a_tampered_call(session: Session, changed: dict[str, Any], why: str) -> None:
    stored = json.loads(session.to_json())
    stored["calls"][0] |= changed
    with pytest.raises(ValueError, match=f"This is not a stored session: {re.escape(why)}"):
        Session.from_json(json.dumps(stored))


def test_a_call_is_stored_once(session: Session) -> None:
    stored = json.loads(session.to_json())
    stored["calls"] *= 2
    with pytest.raises(ValueError, match="call tc_1 is stored twice"):
        Session.from_json(json.dumps(stored))


@pytest.mark.parametrize("written", [{"exact": "NaN"}, {"exact": "9" * 400}, "12.5", True, None])
def test_an_exact_number_is_verified_with_its_output(session: Session, written: Any) -> None:
    stored = json.loads(session.to_json())
    stored["calls"][0]["exact"] = [[["heat"], written]]
    assert code_of(Session.from_json, json.dumps(stored)) == "RESULT_SCHEMA"


def test_a_stored_output_is_verified_again(session: Session) -> None:
    stored = json.loads(session.to_json())
    stored["calls"][0]["output"]["raw"] = 5
    assert code_of(Session.from_json, json.dumps(stored)) == "RESULT_SCHEMA"


def test_it_is_safe_under_threads() -> None:
    session = Session()
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                value = number * 1000 + turn
                call_id = session.record("meter", {}, {"heat": {"value": value, "unit": "kWh"}})
                shown = session.check("{{claim:0}}", [claim(call_id, value=value)]).message
                assert shown == f"{value}.00 kWh"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert session.next_id() == "tc_161"


@pytest.mark.parametrize(
    "schema",
    [{"type": "object", "const": {1}}, {"enum": [math.nan, object()]}, endless_list()],
    ids=["a set", "an object", "in itself"],
)
def test_a_schema_that_is_no_json(session: Session, schema: Any) -> None:
    assert code_of(session.record, "meter", {}, HEAT, result_schema=schema) == "RESULT_SCHEMA"


def test_a_schema_that_is_no_json_but_of_use(session: Session) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ("x", "y")}}, 5: "ignored"}
    assert session.record("meter", {}, {"a": "x"}, result_schema=schema) == "tc_2"
    assert code_of(session.record, "meter", {}, {"a": "z"}, result_schema=schema) == "RESULT_SCHEMA"


@pytest.mark.parametrize("written", ["1/0", "x", "sNaN", "Infinity", ["1"], None])
def test_a_constant_that_is_no_number(written: Any) -> None:
    stored = json.loads(Session(constants={"a": Fraction(1, 3)}).to_json())
    assert stored["constants"] == {"a": {"exact": "1/3"}}
    stored["constants"] = {"a": {"exact": written}}
    with pytest.raises(ValueError, match="session"):
        Session.from_json(json.dumps(stored))


def test_a_number_has_so_many_digits_at_most() -> None:
    stored = json.loads(Session(constants={"a": Fraction(1, 3)}).to_json())
    stored["constants"]["a"]["exact"] = written = "0." + "1" * 1998
    assert Session.from_json(json.dumps(stored)).constants["a"] == Decimal(written)
    stored["constants"]["a"]["exact"] += "1"
    with pytest.raises(ValueError, match="This is not a stored session: a number is too long"):
        Session.from_json(json.dumps(stored))


def test_constants_come_back_exactly() -> None:
    constants = {"a": Fraction(1, 3), "b": Decimal("0.10"), "c": 7}
    session = Session.from_json(Session(constants=constants).to_json())
    assert session.constants == constants
    assert {name: type(value) for name, value in session.constants.items()} == {
        "a": Fraction,
        "b": Decimal,
        "c": int,
    }


def test_an_output_is_handed_out_as_a_copy(session: Session) -> None:
    session.output("tc_1")["heat"]["value"] = 13
    assert session.output("tc_1") == HEAT
    with pytest.raises(KeyError):
        session.output("tc_2")


class LyingText(str):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")

    def isascii(self) -> bool:
        return True

    def translate(self, table: Any) -> str:
        return ""


class LyingFloat(float):
    def __repr__(self) -> str:
        raise RuntimeError("no")


class LyingObject(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __getitem__ = get


HONEST = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"path": LyingText("$.heat")}, "12.50 kWh"),
        ({"source_call_id": LyingText("tc_1")}, "12.50 kWh"),
        ({"quantity": {"value": 12.5, "unit": LyingText("kWh")}}, "12.50 kWh"),
        ({"quantity": LyingObject(value=12.5, unit="kWh")}, "12.50 kWh"),
        ({"quantity": {"value": LyingFloat(6), "unit": "kWh"}}, "QUANTITY_MISMATCH"),
        ({"quantity": {"value": Decimal("5e-999999"), "unit": "kWh"}}, "STEP_SCHEMA"),
        ({"quantity": {"value": Decimal("12.5" + "0" * 10_000), "unit": "kWh"}}, "STEP_SCHEMA"),
        ({"quantity": {"value": Fraction(10**5000, 3), "unit": "kWh"}}, "STEP_SCHEMA"),
        ({"quantity": None}, "STEP_SCHEMA"),
        ({"quantity": object()}, "STEP_SCHEMA"),
    ],
)
def test_claims_that_lie_about_themselves(session: Session, changes: dict[str, Any], shown: str) -> None:
    for claims in ([{**HONEST, **changes}], [LyingObject({**HONEST, **changes})]):
        outcome = session.verify("{{claim:0}}", claims)
        assert (outcome.message if isinstance(outcome, Verified) else outcome.error.code) == shown
    assert session.check("{{claim:0}}", [HONEST]).message == "12.50 kWh"


@pytest.mark.parametrize(
    "made", [{**HONEST, 5: "x"}, {**HONEST, "quantity": {"value": 12.5, "unit": "kWh", 5: "x"}}]
)
def test_a_key_of_a_claim_that_is_no_text(session: Session, made: Any) -> None:
    assert (
        session.verify("{{claim:0}}", [made]).error.message == "Claim 0 cannot be read: the key 5 is not text"
    )


def test_a_call_that_is_cited_and_unknown_is_told_in_short(session: Session) -> None:
    told = session.verify("{{claim:0}}", [claim("x" * 200)]).error.message
    assert told == f"Claim 0 cites tool call '{'x' * 80}', which this run does not have"
    for _ in range(24):
        session.record("meter", {}, HEAT)
    hint = session.verify("{{claim:0}}", [claim("x")]).error.hint
    assert hint == f"Calls of this run: {', '.join(f'tc_{i}' for i in range(6, 26))}."


def test_not_all_numbers_without_origin_are_told() -> None:
    with pytest.raises(GLError) as caught:
        Session(argument_origin="strict").record("meter", {"rows": [*range(60)]}, HEAT)
    assert [origin["value"] for origin in caught.value.context] == [*range(50)]


def test_a_message_that_lies_about_itself(session: Session) -> None:
    assert error_of(session, LyingText("It uses ５００ kWh")).code == "NO_NAKED_NUMBERS"
    assert session.check("a " * 250_000).message.endswith("a ")
    assert error_of(session, "a " * 250_000 + "a").message == "The message has more than 500000 characters"


def error_of(session: Session, message: str) -> GLError:
    with pytest.raises(GLError) as caught:
        session.check(message)
    return caught.value


def test_a_name_of_a_tool_is_text() -> None:
    session = Session()
    with pytest.raises(GLError, match="name of a tool"):
        session.record(5, {}, {})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a str, not int"):
        session.user(5)  # type: ignore[arg-type]
    assert session.record(LyingText("meter"), {}, {}) == "tc_1"
    assert session.check("Well.").metrics["unique_tools_used"] == 1


def test_numbers_with_too_many_digits_are_refused_and_the_rest_is_stored() -> None:
    session = Session()
    for value in (Decimal("1." + "3" * 5000), Fraction(10**5000 + 1, 10**5000), Decimal("1e-999999")):
        with pytest.raises(GLError, match="beyond the range"):
            session.record("meter", {}, {"heat": {"value": value, "unit": "kWh"}})
    session.record("meter", {}, {"heat": {"value": Decimal("0.1234567890123456789"), "unit": "kWh"}})
    assert Session.from_json(session.to_json()).to_json() == session.to_json()


@pytest.mark.usefixtures("unmeasured")
def test_what_is_too_much_to_trace_has_no_origin() -> None:
    session = Session(argument_origin="strict")
    session.user("It is 5 kWh.")
    for arguments in ({"rows": ["5 kWh"] * 300}, {"rows": [5] * 20_000}, {"note": "5 kWh " * 30_000}):
        with pytest.raises(GLError, match="too much to trace"):
            session.record("meter", arguments, {})
    session.record("meter", {"rows": ["5 kWh"] * 100, "also": [5] * 5000}, {})
    session.record("meter", {"rows": ["kWh"] * 300}, {})  # nothing to trace


@pytest.mark.parametrize(
    ("most", "more"),
    [
        ({"rows": ["5 kWh"] * 200}, {"rows": ["5 kWh"] * 201}),
        ({"rows": [5] * 10_000}, {"rows": [5] * 10_001}),
        ({"note": "5 kWh".ljust(100_000)}, {"note": "5 kWh".ljust(100_001)}),
    ],
    ids=["texts", "numbers", "letters"],
)
def test_just_so_much_is_traced(most: Any, more: Any) -> None:
    session = Session(argument_origin="strict")
    session.user("It is 5 kWh")
    session.record("meter", most, {})
    assert code_of(session.record, "meter", more, {}) == "MISSING_ORIGIN"


def test_each_setting_is_taken_where_it_belongs() -> None:
    assert PolicySettings.__annotations__.keys() == {*Policy._fields}
    script = ScriptedProvider([])
    for make, name in [
        (Session, "whitelisted"),
        (ToolRegistry, "whitelist"),
        (lambda **given: ToolRuntime(script, ToolRegistry(), **given), "extend_units"),
    ]:
        with pytest.raises(TypeError, match=f"unknown settings: {name}"):
            make(**{name: ["room"]})


def test_what_is_told_twice_is_kept_once(session: Session) -> None:
    for text in ("5 kWh", "5 kWh", "6 kWh", "5 kWh"):
        session.user(text)
    assert json.loads(session.to_json())["user"] == ["5 kWh", "6 kWh", "5 kWh"]


def test_the_words_of_others_are_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """A key of a result, the name of a tool, a setting of a stored session: none begins a line of its own."""
    word = "x\n\x1b[31m::error::\u202ey"
    with caplog.at_level("DEBUG", "gllint_runtime"):
        Session().record(word, {}, json.dumps({word: 5}))
        stored = json.loads(Session().to_json())
        Session.from_json(json.dumps({**stored, "policy": {**stored["policy"], word: 1}}))
        shown = Session(levels="warn")
        shown.check(
            "{{claim:0}}", [{"source_call_id": word, "path": "$", "quantity": {"value": 1, "unit": "kWh"}}]
        )
    assert len(caplog.messages) >= 3
    assert [text for text in caplog.messages if not text.isprintable()] == []


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("There are 120 seats.", "'120' is in a text that faq returned (tc_1)"),
        ("It has 1,250.5 kWh.", "let the tool return a Quantity {value, unit}"),
        ("PA441 leaves.", "allow names like it (`whitelist`)"),
        ("There are 12 seats.", "Call a tool for the value"),
        ("It has 250.5 kWh.", "Call a tool for the value"),
        ("It has 7 kWh.", "Call a tool for the value"),  # a Quantity has it, too
        ("There are 120 seats, {{claim:0}}9.", "'120' is in a text"),
    ],
)
def test_the_hint_says_where_a_number_stands_in_a_text(message: str, told: str) -> None:
    session = Session()
    session.record("faq", {}, {"answer": ["Of 120 seats 7 are free.", "PA441 uses 1,250.5 kWh."]})
    session.record("meter", {}, {"heat": {"value": 7, "unit": "kWh"}})
    verdict = session.verify(message)
    assert verdict.status == "error" and told in session.repair_hint(verdict)


def test_a_number_within_a_word_is_told_with_it() -> None:
    verdict = Session().verify("Flight PA441 leaves.")
    assert isinstance(verdict, Refused)
    assert "Naked number '441' detected at position 9 in 'PA441'" in verdict.hint
    verdict = Session().verify("It is 13.")
    assert isinstance(verdict, Refused) and "detected at position 6\n" in verdict.hint


def test_a_mismatch_says_what_differs() -> None:
    session = Session()
    session.record("weather", {}, {"heat": {"value": 21.5, "unit": "degC"}})
    with pytest.raises(GLError) as caught:
        session.check("It is {{claim:0}}.", [claim(value=21, unit="°C")])
    assert caught.value.message.endswith("unit='°C': the values differ, the units are the same")
    with pytest.raises(GLError) as caught:
        session.check("It is {{claim:0}}.", [claim(value=21.5, unit="K")])
    assert caught.value.message.endswith("unit='K'")


def test_an_error_gives_its_hint_once() -> None:
    with pytest.raises(GLError) as caught:
        Session().record("meter", {}, {"heat": Decimal("12.5")})
    assert str(caught.value).count("Wrap it in a Quantity {value, unit}.") == 1


# ------------------------------------------------------------------------------------------------ what it keeps


def test_calls_side_by_side_have_their_ids_by_their_places() -> None:
    session = Session()
    session.arrange(["a"])
    assert session.count == 0
    session.arrange(["a", "b", "c"])
    session.arrange(["b", "a"])
    assert session.count == 3
    ids = [session.record("meter", {}, HEAT, tool_call_id=name) for name in ("c", "a", "d", "b")]
    assert ids == ["tc_3", "tc_1", "tc_4", "tc_2"]
    session.arrange(["a", "e"])
    assert session.record("meter", {}, HEAT, tool_call_id="a") == "tc_6"
    assert session.record("meter", {}, HEAT, tool_call_id="e") == "tc_5"


def test_what_the_model_is_told_of_a_call(session: Session) -> None:
    assert session.told_of("abc") is None and session.has_calls and not Session().has_calls
    session.record("meter", {}, {"heat-loss": HEAT["heat"]}, tool_call_id="abc")
    assert session.told_of("abc") == {"tool_call_id": "tc_2", "output": {"heat-loss": HEAT["heat"]}}
    assert (session.odd_paths("tc_1"), session.odd_paths("tc_2")) == ([], ["$.heat_loss"])
    schema = {"type": "object", "properties": {"heat": {"type": "number", "x-unit": "kWh"}}}
    session.record("meter", {}, {"heat": 7}, result_schema=schema)
    assert (session.declared_units("tc_1"), session.declared_units("tc_3")) == ({}, {"$.heat": "kWh"})
    for look in (session.output, session.declared_units, session.odd_paths):
        with pytest.raises(KeyError):
            look("tc_4")


@pytest.mark.parametrize("call_id", ["x", "tc_0", "tc_01", "tc_1x", "tc_1234567890", 5, "y" * 90])
def test_an_id_that_no_call_had_is_not_restored(call_id: Any) -> None:
    with pytest.raises(GLError) as refused:
        Session().restore(call_id, "meter", {}, HEAT)
    assert refused.value.message == f"'{str(call_id)[:80]}' is not the id of a recorded call"


def test_a_call_of_a_history_is_restored_under_its_id() -> None:
    session = Session()
    session.restore("tc_3", "meter", {"site": 7}, HEAT, tool_call_id="a")
    session.restore("tc_3", "meter", {}, {}, tool_call_id="a")  # the same once more
    session.restore("tc_3", "meter", {}, {})
    session.restore("tc_2", "search", "no object", {"n": 5})  # type: ignore[arg-type]
    assert session.count == 3 and session.output("tc_3") == HEAT and session.output("tc_2") == {"n": 5}
    assert session.record("meter", {}, HEAT) == "tc_4"
    with pytest.raises(GLError, match="'tc_3' is already the id of another call"):
        session.restore("tc_3", "meter", {}, HEAT, tool_call_id="b")
    assert session.check("{{claim:0}}", [claim("a")]).provenance[0]["arguments"] == {"site": 7}
    session.restore("tc_2", "search", {}, {}, tool_call_id="c")  # which no framework had an id for
    assert session.told_of("c") == {"tool_call_id": "tc_2", "output": {"n": 5}}


def test_an_id_of_a_framework_stays_with_its_call() -> None:
    session = Session()
    session.restore("tc_1", "meter", {}, HEAT, tool_call_id="a")
    session.restore("tc_2", "search", {}, {"n": 5}, tool_call_id="b")
    with pytest.raises(GLError, match="'tc_2' is already the id of another call"):
        session.restore("tc_2", "search", {}, {"n": 5}, tool_call_id="a")
    session.restore("tc_3", "search", {}, {"n": 6}, tool_call_id="a")
    assert session.told_of("a") == {"tool_call_id": "tc_1", "output": HEAT}
    assert session.output("tc_3") == {"n": 6}


def test_a_call_without_an_id_takes_the_next_one_after_any() -> None:
    session = Session()
    session.restore("tc_999999999", "meter", {}, HEAT)
    session.restore(None, "search", {}, {"n": 5})
    assert session.output("tc_1000000000") == {"n": 5} and session.next_id() == "tc_1000000001"


def test_the_claims_of_a_message_are_known_to_whoever_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_MOST_MESSAGES", 3)
    session = Session()
    session.record("meter", {}, HEAT)
    session.record("meter", {}, {"heat": {"value": 7, "unit": "kWh"}})
    first, second = claim(), claim("tc_2", value=7)
    session.check("It is {{claim:0}}.", [first])
    session.check("Well.")
    session.check("Or {{claim:0}}, {{claim:1}}.", [second, first])
    assert session.claims_of("It is 12.50 kWh.") == [first]
    assert session.claims_of("It said: It is 12.50 kWh.") == [first]
    assert session.claims_of("Or 7.00 kWh, 12.50 kWh.") == [second, first]
    assert session.claims_of("Well.") == session.claims_of("Nobody said this.") == []
    assert session.claims_of("Well. It is 12.50 kWh. Or 7.00 kWh, 12.50 kWh.") == [second, first]
    session.check("It is {{claim:0}}.", [first])  # said last again
    session.check("One more.")
    assert [session.was_shown(text) for text in ("Well.", "It is 12.50 kWh.", "One more.")] == [
        False,
        True,
        True,
    ]


def test_the_trace_says_how_many_numbers_a_message_cites_and_how_often_a_tool_ran(session: Session) -> None:
    session.check("Well.")
    session.check("{{claim:0}}, {{claim:0}} and {{claim:1}}.", [claim(), claim()])
    session.resolved(Claim("tc_1", "$.heat", Quantity(12.5, "kWh")))
    session.record("meter", {}, HEAT)
    assert [entry["claims"] for entry in session.trace if entry["kind"] == "verdict"] == [0, 3, 1]
    assert session.metrics.executed == {"meter": 2}
    assert [len(entry["arguments"]) for entry in session.trace if entry["kind"] == "tool"] == [1, 0]


def test_a_mismatch_and_a_naked_number_are_counted_once_each(session: Session) -> None:
    assert session.verify("It is 13.").metrics["naked_number_rejections"] == 1
    assert session.verify("It is {{claim:0}}.", [claim(value=13)]).metrics["quantity_mismatches"] == 1
    assert session.verify("It is {{claim:0}}.", [claim()]).metrics["quantity_mismatches"] == 1
    many = session.verify("13, " * 250)
    assert isinstance(many, Refused) and len(many.error.context) == 200
    assert many.error.context[1] == {"text": "13", "position": 4}
    long = session.verify("1" * 300)
    assert isinstance(long, Refused)
    assert long.error.message == f"Naked number '{'1' * 200}' detected at position 0"


def test_a_number_of_a_structured_answer_is_told_in_short(session: Session) -> None:
    with pytest.raises(GLError) as refused:
        session.judge_number("$.heat", 10**250)
    assert refused.value.message == f"Naked number '1{'0' * 199}' at $.heat"


def test_a_claim_that_a_level_lets_through_is_what_it_says() -> None:
    session = Session(levels="warn")
    assert session.resolved(Claim("tc_9", "$.heat", Quantity(5, "kWh"))) == Quantity(5, "kWh")
    assert [entry["verdict"] for entry in session.trace] == ["warn"]
    shown = session.check("It is {{claim:0}} or {{claim:3}}.", [claim("tc_9")])
    assert shown.message == "It is [unverified] or [unverified]."
    assert [one["code"] for one in shown.violations] == ["MISSING_CLAIM", "MISSING_TOOL_CALL"]


def test_beside_a_time_or_a_count_the_message_is_read_once_more_and_told_once() -> None:
    session = Session(packs=["counts"], levels="warn")
    session.record("meter", {}, {"n": {"value": 340, "unit": "count"}})
    cites = [claim(path="$.n", value=340, unit="count")]
    assert [one["code"] for one in session.check("It is {{claim:0}} US dollars.", cites).violations] == [
        "QUANTITY_MISMATCH"
    ]
    assert len(session.check("It is {{claim:0}} US dollars, 13.", cites).violations) == 1
    assert session.check("It is {{claim:0}} rows.", cites).violations == []


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "5"])
def test_so_many_bytes_are_a_number(most: Any) -> None:
    with pytest.raises(ValueError, match="max_bytes must be an integer of at least 1, got"):
        Session(max_bytes=most)


def test_a_stored_session_has_its_version_names_and_conversation(session: Session) -> None:
    session.record("meter", {}, HEAT, tool_call_id="abc")
    session.conversation = "one"
    assert session.version == 0
    text = session.to_json()
    assert session.to_json() == text and session.version == 1
    again = Session.from_json(text)
    assert (again.version, again.count, again.conversation) == (1, 2, "one")
    assert again.to_json() == text and again.check("{{claim:0}}", [claim("abc")]).message == "12.50 kWh"
    again.user("More.")
    assert json.loads(again.to_json())["version"] == 2
    assert Session.from_json(Session().to_json()).conversation is None


def test_what_was_calculated_over_another_s_claims_has_no_basis() -> None:
    session = Session()
    schema = {"type": "object", "properties": {"heat": {"$ref": QUANTITY_REF, "x-basis": "HHV"}}}
    session.record("gas", {}, HEAT, result_schema=schema)
    for arguments, basis in (
        ({"claims": [claim()]}, "HHV"),
        ({"claims": claim()}, None),
        ({"claims": ["tc_1"]}, None),
        ({"claims": [claim("tc_9")]}, None),
        ({}, None),
    ):
        call_id = session.record("calculate", arguments, {"result": HEAT["heat"]})
        (entry,) = session.check("{{claim:0}}", [claim(call_id, "$.result")]).provenance
        assert entry.get("basis") == basis
    call_id = session.record("compute", {"claims": [claim()]}, {"result": HEAT["heat"]})
    assert "basis" not in session.check("{{claim:0}}", [claim(call_id, "$.result")]).provenance[0]
