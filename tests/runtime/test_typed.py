"""Tools from typed functions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, Required, TypedDict

import pytest

from gllint_runtime import GLError, Quantity, ToolCategory, ToolRegistry, Unit, tool
from gllint_runtime.execution.typed import schema_of
from gllint_runtime.policy.schemas import QUANTITY_REF

REF = {"$ref": QUANTITY_REF}


class Both(TypedDict):
    heat: Quantity
    note: str


@dataclass
class Reading:
    heat: Quantity
    note: str = ""
    rooms: list[str] = field(default_factory=list)


class Partly(TypedDict):
    heat: Required[Quantity]
    note: NotRequired[str]
    kind: Annotated[str, "which"]


class Colour(Enum):
    RED = "red"


def heat(
    site: str, kind: Literal["gas", "oil"], rooms: list[str], limit: float | None = None
) -> dict[str, Quantity]:
    """The heat that a site
    used.

    Args:
        site: where the meter is
        limit (float): an upper bound
    """
    return {"heat": Quantity(12.5, "kWh")}


def invoke(made: Any, **arguments: Any) -> Any:
    registry = ToolRegistry()
    registry.register(made)
    return registry.invoke(made.name, arguments)


def test_a_typed_function_is_a_tool() -> None:
    made = tool(heat)
    assert (made.name, made.description) == ("heat", "The heat that a site used.")
    assert made.args_schema == {
        "type": "object",
        "properties": {
            "site": {"type": "string", "description": "where the meter is"},
            "kind": {"enum": ["gas", "oil"]},
            "rooms": {"type": "array", "items": {"type": "string"}},
            "limit": {
                "anyOf": [{"type": "number"}, {"type": "null"}],
                "description": "an upper bound",
                "default": None,
            },
        },
        "required": ["site", "kind", "rooms"],
        "additionalProperties": False,
    }
    assert made.result_schema == {"type": "object", "additionalProperties": REF}
    assert invoke(tool(heat), site="a", kind="gas", rooms=[]) == {"heat": {"value": 12.5, "unit": "kWh"}}


@pytest.mark.parametrize("arguments", [{}, {"site": 5}, {"site": "a", "kind": "coal", "rooms": []}, {"x": 1}])
def test_arguments_are_held_to_the_signature(arguments: Any) -> None:
    with pytest.raises(GLError) as caught:
        invoke(tool(heat), **arguments)
    assert caught.value.code == "ARGS_SCHEMA"


def test_results_are_held_to_the_annotation() -> None:
    @tool(
        name="Heat Meter", description="Reads", category=ToolCategory.EXTERNAL, timeout=5, live_required=True
    )
    def meter() -> dict[str, Quantity]:
        return {"note": "warm"}  # type: ignore[dict-item]

    assert (meter.name, meter.description, meter.category) == ("Heat Meter", "Reads", ToolCategory.EXTERNAL)
    assert meter.timeout == 5 and meter.live_required
    meter.category = ToolCategory.READ_ONLY
    with pytest.raises(GLError) as caught:
        invoke(meter)
    assert caught.value.code == "RESULT_SCHEMA"


@pytest.mark.parametrize("result", [Both, Reading])
def test_records_with_quantities(result: Any) -> None:
    def meter() -> Any:
        return result(heat=Quantity(5, "kWh"), note="x")

    meter.__annotations__["return"] = result
    made = tool(meter)
    properties = {"heat": REF, "note": {"type": "string"}}
    rooms = {} if result is Both else {"rooms": {"type": "array", "items": {"type": "string"}}}
    assert made.result_schema["properties"] == properties | rooms
    assert made.result_schema["required"] == (["heat", "note"] if result is Both else ["heat"])
    given = {"heat": {"value": 5, "unit": "kWh"}, "note": "x"}
    assert invoke(made) == (given if result is Both else {**given, "rooms": []})


def test_pydantic_reads_the_rest() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Site(pydantic.BaseModel):
        name: str

    class Result(pydantic.BaseModel):
        heat: Quantity
        all: list[Quantity] = []

    async def meter(site: Any, since: Any, colour: Any = Colour.RED) -> Any:
        assert isinstance(site, Site) and isinstance(since, date) and colour is Colour.RED
        return Result(heat=Quantity(5, "kWh"))

    meter.__annotations__ = {"site": Site, "since": date, "colour": Colour, "return": Result}
    made = tool(meter)
    assert made.args_schema["properties"]["since"]["format"] == "date"
    assert made.result_schema["properties"]["heat"] == REF and "$defs" not in made.result_schema
    assert made.result_schema["properties"]["all"]["items"] == REF
    assert invoke(made, site={"name": "a"}, since="2024-10-02", colour="red")["heat"] == {
        "value": 5,
        "unit": "kWh",
    }
    registry = ToolRegistry()
    registry.register(made)
    result = asyncio.run(registry.execute("meter", site={"name": "a"}, since="2024-10-02"))
    assert result.success


@pytest.mark.parametrize("hint", [Exception, asyncio.Event])
def test_a_type_without_schema(hint: Any) -> None:
    def meter(x: Any) -> Any: ...

    meter.__annotations__["x"] = hint
    with pytest.raises(TypeError, match=r"meter\(x\)"):
        tool(meter)


def test_only_named_parameters() -> None:
    for function in (lambda *a: None, lambda **k: None, lambda a, /: None):
        with pytest.raises(TypeError, match="named parameters"):
            tool(function)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (Annotated[str, "the site"], {"type": "string", "description": "the site"}),
        (Annotated[int, "how many", "once more"], {"type": "integer", "description": "how many"}),
        (Optional[bool], {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),  # noqa: UP045
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (Mapping[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (dict[str, list[None]], {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "null"}}}),
        (list, {"type": "array"}),
        (Literal["a", 1, True, None], {"enum": ["a", 1, True, None]}),
        (Annotated[float, Unit("kWh")], {"type": "number", "x-unit": "kWh"}),
    ],
    ids=str,
)  # fmt: skip
def test_standard_types_need_no_pydantic(hint: Any, schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)

    def meter(x: Any) -> Any: ...

    meter.__annotations__["x"] = hint
    assert tool(meter).args_schema["properties"]["x"] == schema


class Shade(Enum):
    DARK = "dark"


@dataclass
class WithDate:
    since: date


@pytest.mark.parametrize(
    "hint",
    [
        date,
        Shade,
        list[date],
        dict[str, date],
        dict[int, str],
        date | None,
        Literal[b"x"],
        Annotated[int, Shade.DARK],
        Annotated[str, {}],
        Both,
        set[int],
        tuple[str, int],
    ],
    ids=str,
)
def test_other_types_say_that_they_need_pydantic(hint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)

    def meter(x: Any) -> Any: ...

    meter.__annotations__["x"] = hint
    with pytest.raises(TypeError, match=r"meter\(x\): .* needs pydantic, from the extra gllint\[pydantic\]"):
        tool(meter)
    meter.__annotations__ = {"return": WithDate}
    with pytest.raises(TypeError, match=r"meter -> …: .* needs pydantic"):
        tool(meter)


def test_models_reach_the_function_as_models() -> None:
    """Also through another: the schema's definitions move to the root, where references look for them."""
    pydantic = pytest.importorskip("pydantic")

    class Site(pydantic.BaseModel):
        name: str
        near: list[Site] = []

    Site.model_rebuild(_types_namespace={"Site": Site})
    seen: list[Any] = []

    def meter(site: Any, limit: Any, factor: float = 2.0) -> Any:
        seen.append((site, limit))
        return {"heat": Quantity(5, "kWh")}

    meter.__annotations__ |= {"site": Site, "limit": Annotated[int, pydantic.Field(ge=3)]}
    meter.__annotations__["return"] = dict[str, Quantity]
    made = tool(meter)
    assert made.args_schema["$defs"]["Site"]["properties"]["name"]["type"] == "string"
    assert made.args_schema["properties"]["limit"]["minimum"] == 3
    assert invoke(made, site={"name": "a", "near": [{"name": "b"}]}, limit=3)["heat"]["value"] == 5
    assert seen == [(Site(name="a", near=[Site(name="b")]), 3)]
    for arguments in ({"site": {"name": "a", "near": [{}]}, "limit": 3}, {"site": {"name": "a"}, "limit": 2}):
        with pytest.raises(GLError) as caught:
            invoke(made, **arguments)
        assert caught.value.code == "ARGS_SCHEMA"


def test_a_result_that_is_one_model() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Result(pydantic.BaseModel):
        heat: Quantity
        since: date

    def meter() -> Any:
        return Result(heat=Quantity(5, "kWh"), since=date(2024, 10, 2))

    meter.__annotations__["return"] = Result
    made = tool(meter)
    assert made.result_schema["properties"] == {
        "heat": REF,
        "since": {"format": "date", "title": "Since", "type": "string"},
    }
    assert invoke(made) == {"heat": {"value": 5, "unit": "kWh"}, "since": "2024-10-02"}
    meter.__annotations__["return"] = Annotated[Quantity, pydantic.Field(description="heat")]
    assert tool(meter).result_schema["$ref"] == QUANTITY_REF


def test_a_quantity_as_an_argument() -> None:
    pytest.importorskip("pydantic")

    def cost(heat: Any) -> None: ...

    cost.__annotations__["heat"] = Quantity
    assert tool(cost).args_schema["properties"] == {"heat": REF}


@pytest.mark.parametrize("hint", [Quantity, Annotated[Quantity, Unit("kWh"), "the heat"]], ids=str)
def test_a_quantity_reaches_the_function_as_one_without_pydantic(
    hint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    heats: list[Any] = []

    def note(heat: Any) -> None:
        heats.append(heat)

    note.__annotations__["heat"] = hint
    made = tool(note)
    further = {} if hint is Quantity else {"x-unit": "kWh", "description": "the heat"}
    assert made.args_schema["properties"] == {"heat": {**REF, **further}}
    invoke(made, heat={"value": 5, "unit": "kWh"})
    made.fn(heat=Quantity(6, "kWh"))  # type: ignore[misc]
    assert heats == [Quantity(5, "kWh"), Quantity(6, "kWh")]


def test_a_function_that_needs_nothing_converted_is_the_tool_s_own() -> None:
    assert tool(heat).fn is heat
    with pytest.raises(TypeError, match="tool needs a function, got 5"):
        tool(5)  # type: ignore[call-overload]


def test_defaults_that_are_plain_are_told_and_no_parameter_of_them_is_required() -> None:
    def meter(a: str = "x", b: int = 0, c: bool = False, d: float = 2.5, e: list[str] = ["y"]) -> Any:  # noqa: B006
        """Reads a meter.

        It takes a while."""

    made = tool(meter)
    defaults = {name: schema.get("default") for name, schema in made.args_schema["properties"].items()}
    assert defaults == {"a": "x", "b": 0, "c": False, "d": 2.5, "e": None}
    assert "default" not in made.args_schema["properties"]["e"]
    assert "required" not in made.args_schema and "$defs" not in made.args_schema
    assert (made.description, made.result_schema) == ("Reads a meter.", {})


def test_keys_that_may_be_left_out() -> None:
    schema = schema_of(Partly)
    assert schema["required"] == ["heat", "kind"]
    assert schema["properties"] == {
        "heat": REF,
        "note": {"type": "string"},
        "kind": {"type": "string", "description": "which"},
    }


def test_a_record_has_no_further_members() -> None:
    class Answer(TypedDict):
        heat: Quantity

    assert schema_of(Answer)["additionalProperties"] is False
