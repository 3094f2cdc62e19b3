"""One policy, two moments: what gllint says of a source is what the runtime does when it runs.

Sources are drawn at random, linted as text and executed as code; the two verdicts must be the same.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gllint_rules import Finding
from gllint_runtime import (
    GLError,
    GLValidationError,
    ScriptedProvider,
    Session,
    Tool,
    ToolRegistry,
    ToolRuntime,
)
from gllint_runtime.policy.kinds import KINDS
from gllint_runtime.policy.names import read_name
from gllint_runtime.policy.numbers import scan_naked_numbers
from gllint_runtime.policy.packs import PACKS
from gllint_runtime.policy.quantity_shapes import QUANTITY_SHAPES
from gllint_runtime.policy.schema_numbers import find_raw_numbers, unknown_refs
from gllint_runtime.policy.schemas import QUANTITY_REF, schema_problems
from gllint_runtime.policy.units import ALLOWED_UNITS, TIME_UNITS, judge_unit
from harness import Case, run

HEADER = "from gllint_runtime import Tool\n\n"


def findings(source: str, configuration: dict[str, object] | None = None) -> list[Finding]:
    """What the rules that are on by default find in one file."""
    found = run(Case("", {"agent.py": HEADER + source}, configuration or {}))
    assert all(isinstance(item, Finding) for item in found), found
    return found  # type: ignore[return-value]


def codes(source: str, configuration: dict[str, object] | None = None) -> set[str]:
    return {finding.code for finding in findings(source, configuration)}


# -------------------------------------------------------------------------------------------------- messages

pieces = st.sampled_from(
    [
        *[
            "{{claim:0}}",
            "{{claim:1}}",
            "{{claim:2}}",
            "{claim:0}",
            "{{claim:01}}",
            "{{claim:a}}",
            "{{ claim:0 }}",
        ],
        *[
            "5",
            "12.5",
            "2,500",
            "500kWh",
            "٣",
            "½",
            "&#53;",
            "1e6",
            "3rd",
            "2024-10-02",
            "2024-13-02",
            "14:30",
        ],
        *[
            "25:00",
            "v1.2.3",
            "ID-12",
            "\n1. ",
            "\n",
            " ",
            " ",
            " uses ",
            ", ",
            "-",
            "+",
            "%",
            "**",
            "`",
            "<b>",
        ],
        *["CO2e", "m2", "kWh", "k", "\\", "'", '"', "\t", "{x}"],
        *[
            " per year",
            " a day",
            " per m2",
            " tonnes",
            " M",
            " k",
            " — million",
            "万",
            "🔥",
            "C:",
            "/month",
            " MWh",
            "MWh: ",
        ],
    ]
)
templates = st.lists(pieces, max_size=7).map("".join)


def entry(path: str = "$.heat", unit: str = "kWh") -> dict[str, Any]:
    return {"source_call_id": "tc_1", "path": path, "quantity": {"value": 5, "unit": unit}}


def verdict(message: str, claims: list[Any], output: Any) -> str | None:
    """The code with which the runtime refuses a message, or ``None``."""
    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=lambda: output))
    call = {"kind": "tool_call", "tool_name": "meter", "arguments": {}}
    final = {"kind": "final", "final": {"message": message, "claims": claims}}
    try:
        ToolRuntime(ScriptedProvider([call, final]), registry).run("", "", max_retries=0)
    except GLError as error:
        return error.code
    return None


@settings(max_examples=60)
@given(templates, st.integers(0, 2), st.sampled_from(["kWh", "kW", "kWh/year"]))
def test_messages(message: str, number: int, unit: str) -> None:
    claims = [entry(unit=unit)] * number
    step = {"kind": "final", "final": {"message": message, "claims": claims}}
    found = Counter(finding.code for finding in findings(f"step = {step!r}\n"))
    refused = verdict(message, claims, {"heat": {"value": 5, "unit": unit}})
    numbers = scan_naked_numbers(message, claimed=[unit] * number)
    assert found["GL401"] == len(numbers)
    assert found.keys() <= {"GL401", "GL403"}
    is_naked = any(not one.is_reading for one in numbers)
    expected = "NO_NAKED_NUMBERS" if is_naked else "MISSING_CLAIM" if found["GL403"] else None
    assert refused == (expected or ("QUANTITY_MISMATCH" if numbers else None))


# ----------------------------------------------------------------------------------------------------- paths

paths = st.lists(
    st.sampled_from(["$", ".", "..", "heat", "roof", "_x1", "1", "[0]", "*", "-", " ", "é"]), max_size=5
).map("".join) | st.lists(st.sampled_from(["heat", "roof", "_x1"]), min_size=1, max_size=3).map(
    lambda names: ".".join(["$", *names])
)


@settings(max_examples=60)
@given(paths)
def test_claim_paths(path: str) -> None:
    output: Any = {"value": 5, "unit": "kWh"}
    for name in reversed(path.split(".")[1:]):
        output = {name: output}
    step = {"kind": "final", "final": {"message": "{{claim:0}}", "claims": [entry(path)]}}
    found = codes(f"step = {step!r}\n")
    assert found <= {"GL404"}
    assert verdict("{{claim:0}}", [entry(path)], output) == ("PATH_RESOLUTION" if found else None)


# ----------------------------------------------------------------------------------------------------- units

factors = st.sampled_from(
    [*ALLOWED_UNITS, *TIME_UNITS, "lb", "kwh", "widget", "parsec", "J", "°C", "kUSD", "tCO2", "1", ""]
)
units = st.builds(
    lambda first, rest: first + "".join(operator + factor for operator, factor in rest),
    factors,
    st.lists(
        st.tuples(st.sampled_from(["/", "*", " ", "^", " per "]), factors | st.sampled_from(["2", "-1"])),
        max_size=2,
    ),
)


def refused(function: Any) -> str | None:
    """The code with which a registry refuses what a tool returns, or ``None``."""
    registry = ToolRegistry()
    registry.register(Tool(name="meter", fn=function))
    try:
        registry.invoke("meter")
    except GLValidationError as error:
        return error.code
    return None


@settings(max_examples=60)
@given(units)
def test_units(unit: str) -> None:
    literal = repr({"heat": {"value": 5, "unit": unit}})
    found = codes(f'tool = Tool(name="meter", args_schema={{}}, fn=lambda: {literal})\n') & {"GL501", "GL502"}
    by_status = {"allowed": set(), "unknown": {"GL501"}, "not-allowed": {"GL502"}}
    assert found == by_status[judge_unit(unit).status]
    assert refused(lambda: {"heat": {"value": 5, "unit": unit}}) == ("UNIT_UNKNOWN" if found else None)


# ---------------------------------------------------------------------------------------- Quantities in results

scalars = st.sampled_from([5, -2.5, 0, True, None, "kWh", "lb", "widget", "high", ""])
records = st.dictionaries(st.sampled_from(["value", "unit", "note", "heat"]), scalars, max_size=4)
results = st.recursive(
    records | scalars,
    lambda inner: st.dictionaries(st.sampled_from(["heat", "roof", "note"]), inner, max_size=2),
    max_leaves=4,
).filter(lambda result: isinstance(result, dict))
SHAPE = {"GL101", "GL102"}
UNIT = {"GL501", "GL502"}


@settings(max_examples=60)
@given(results)
def test_quantities_in_results(result: dict[str, Any]) -> None:
    found = codes(f'tool = Tool(name="meter", args_schema={{}}, fn=lambda: {result!r})\n') & (SHAPE | UNIT)
    code = refused(lambda: result)
    if found & SHAPE:
        assert code == "RESULT_SCHEMA"
    elif found & UNIT:
        assert code == "UNIT_UNKNOWN"
    else:
        assert code is None


# --------------------------------------------------------------------------------------------------- schemas

leaves = st.sampled_from(
    [
        {"$ref": QUANTITY_REF},
        {"$ref": "greenlang://schemas/heat.json"},
        {"type": "number"},
        {"type": "integer", "minimum": 0},
        {"type": ["number", "null"]},
        {"type": "string"},
        {"type": "boolean"},
        {"type": "text"},
        {"type": ["string", "strng"]},
        {"enum": ["a", 1]},
        {"const": 2.5},
        {"minLength": -1},
        {"type": "object", "properties": {"value": {"type": "number"}, "unit": {"type": "string"}}},
        {},
        True,
    ]
)
schemas = st.recursive(
    leaves,
    lambda inner: (
        st.builds(
            lambda properties, required: {"type": "object", "properties": properties, "required": required},
            st.dictionaries(st.sampled_from(["heat", "roof", "type"]), inner, min_size=1, max_size=3),
            st.lists(st.sampled_from(["heat", "roof"]), max_size=2, unique=True),
        )
        | st.builds(lambda item: {"type": "array", "items": item}, inner)
        | st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(lambda item: {"additionalProperties": item}, inner)
    ),
    max_leaves=5,
)


@settings(max_examples=60)
@given(schemas)
def test_result_schemas(schema: Any) -> None:
    source = f'tool = Tool(name="meter", args_schema={{}}, result_schema={schema!r}, fn=lambda: {{}})\n'
    found = Counter(finding.code for finding in findings(source))
    assert found["GL201"] == len(find_raw_numbers(schema))
    assert found["GL203"] == len(schema_problems(schema))
    assert found["GL204"] == len(unknown_refs(schema))
    registry = ToolRegistry()
    try:
        registry.register(Tool(name="meter", args_schema={}, result_schema=schema, fn=dict))
    except GLValidationError as error:
        assert error.code == "RESULT_SCHEMA"
        assert found["GL203"] + found["GL204"]
    else:
        assert not found["GL203"] + found["GL204"]


# ------------------------------------------------------------------------------------------- under settings

# The keys of [tool.gllint] that both moments share, and what the runtime calls them.
SHARED = {
    "unit-packs": "packs",
    "plain-keys": "plain_keys",
    "plain-kinds": "plain_kinds",
    "extend-units": "extend_units",
    "strict-units": "strict_units",
    "quantity-shapes": "quantity_shapes",
}
configurations = st.fixed_dictionaries(
    {},
    optional={
        "unit-packs": st.lists(st.sampled_from(PACKS), max_size=3, unique=True),
        "plain-keys": st.lists(st.sampled_from(["page", "*_id", "p*", "value", "[ab]"]), max_size=2),
        "plain-kinds": st.lists(st.sampled_from(KINDS), max_size=3, unique=True),
        "extend-units": st.lists(st.sampled_from(["widget", "kW/widget", "count"]), max_size=2),
        "strict-units": st.booleans(),
        "quantity-shapes": st.lists(st.sampled_from(QUANTITY_SHAPES), max_size=3, unique=True),
    },
)
packed_units = st.sampled_from(
    ["count", "token", "ms", "GiB", "ppm", "1", "V", "mol", "nmi", "CHF", "kWh", "widget", "h", ""]
)
compounds = st.builds("{}/{}".format, packed_units, packed_units)
shaped = st.sampled_from(
    [
        {"value": 5, "unit": "widget", "system": "http://unitsofmeasure.org", "code": "kW.h"},
        {"value": 5, "unit": "kWh", "system": "http://unitsofmeasure.org", "code": "nonsense"},
        {"@type": "QuantitativeValue", "value": None, "unitCode": "KWH"},
        {"amount": 5, "currency": "ABC"},
        {"amount": "5.00", "currency": "EUR"},
        {"currency": "EUR", "value": True},
    ]
)
numbers_and_quantities = (
    st.sampled_from([5, -2.5, True, None, "high"])
    | st.builds(lambda unit: {"value": 5, "unit": unit}, packed_units | compounds)
    | shaped
)
outputs = st.recursive(
    numbers_and_quantities,
    lambda inner: (
        st.dictionaries(
            st.sampled_from(
                ["page", "user_id", "a", "value", "heat_kwh", "Page", "rows", "n_sites", "total"]
            ),
            inner,
            max_size=3,
        )
        | st.lists(inner, max_size=3)
    ),
    max_leaves=6,
)


def registry_under(configuration: dict[str, object], function: Any) -> ToolRegistry:
    registry = ToolRegistry(**{SHARED[key]: value for key, value in configuration.items() if key in SHARED})  # type: ignore[arg-type]
    registry.register(Tool(name="meter", fn=function))
    return registry


def has_typed_count(value: Any, key: str = "") -> bool:
    """Whether an integer above 1 is typed under the key of a count: a finding in the source alone."""
    if isinstance(value, dict):
        return any(has_typed_count(item, name) for name, item in value.items())
    if isinstance(value, list):
        return any(has_typed_count(item, key) for item in value)
    return type(value) is int and value > 1 and read_name(key).kind == "count"


@settings(max_examples=120)
@given(outputs, configurations)
def test_results_under_settings(output: Any, configuration: dict[str, object]) -> None:
    assume("count" not in configuration.get("plain-kinds", KINDS) or not has_typed_count(output))  # type: ignore[operator]
    source = f'tool = Tool(name="meter", args_schema={{}}, fn=lambda: {{"out": {output!r}}})\n'
    # Where GL103 is on, it reports a malformed series in the place of GL102, as it does one that is well formed.
    found = codes(source, configuration | {"ignore": ["GL103"]}) & (SHAPE | UNIT)
    try:
        registry_under(configuration, lambda: {"out": output}).invoke("meter")
    except GLValidationError as error:
        assert error.code == ("RESULT_SCHEMA" if found & SHAPE else "UNIT_UNKNOWN")
        assert found
    else:
        assert not found


array_paths = st.lists(
    st.sampled_from(["$", ".rows", ".heat", "[0]", "[1]", "[01]", "[-1]", "[", "]", ".0", ".*"]), max_size=5
).map("".join)


@settings(max_examples=80)
@given(array_paths, st.booleans())
def test_claim_paths_under_settings(path: str, arrays: bool) -> None:
    step = {"kind": "final", "final": {"message": "{{claim:0}}", "claims": [entry(path)]}}
    found = codes(f"step = {step!r}\n", {"array-paths": arrays})
    assert found <= {"GL404"}
    session = Session(array_paths=arrays)
    quantity = {"value": 5, "unit": "kWh"}
    session.record("meter", {}, {"rows": [{"heat": quantity}, quantity], "heat": quantity})
    try:
        session.check("{{claim:0}}", [entry(path)])
    except GLError as error:
        assert error.code == "PATH_RESOLUTION"
        assert bool(found) == ("not a claim path" in error.message)
    else:
        assert not found
