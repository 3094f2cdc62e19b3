"""Reading what a model wrote, and running tools on its behalf without ever raising."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from gllint_runtime import (
    TOOL_REGISTRY,
    Claim,
    GLValidationError,
    Quantity,
    Tool,
    ToolAction,
    ToolRegistry,
    dispatch_tool,
    sanitize_args,
)
from gllint_runtime.execution.steps import final_in, read_claims, read_object, read_step


@pytest.mark.parametrize(
    "raw",
    [
        '{"name": "x", "args": {"a": 1}}',
        '  {"name": "x", "args": {"a": 1}}  ',
        '```json\n{"name": "x", "args": {"a": 1}}\n```',
        '```\n{"name": "x", "args": {"a": 1}}\n```',
        'I call the tool.\n```json\n{"name": "x", "args": {"a": 1}}\n``` Done.',
        'Calling {"name": "x", "args": {"a": 1}} now',
        'As {"b": 2} says:\n```json\n{"name": "x", "args": {"a": 1}}\n```\nIt does.',
        '{"tool_name": "x", "arguments": {"a": 1}}',
        '{"name": "x", "args": "{\\"a\\": 1}"}',
        {"name": "x", "args": {"a": 1}},
        ToolAction("x", {"a": 1}),
    ],
)
def test_actions(raw: Any) -> None:
    assert ToolAction.parse(raw) == ToolAction("x", {"a": 1})


def test_an_action_without_arguments() -> None:
    assert ToolAction.parse('{"name": "x"}') == ToolAction("x", {})


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("I do not know", "no JSON object"),
        ("[1]", "no JSON object"),
        ('{"name": ', "not valid JSON"),
        ('{"a": ' * 100_000, "not valid JSON"),
        ("{'name': 'x'}", "not valid JSON"),
        ("{}", "needs the 'name'"),
        ('{"name": ""}', "needs the 'name'"),
        ('{"name": 5}', "needs the 'name'"),
        ('{"name": "x", "args": [1]}', "must be an object"),
        ('{"name": "x", "args": "none"}', "no JSON object"),
        (5, "got int"),
        (None, "got NoneType"),
    ],
)
def test_errors_that_a_model_can_repair_from(raw: Any, why: str) -> None:
    with pytest.raises(GLValidationError, match=why) as caught:
        ToolAction.parse(raw)
    assert caught.value.code == "STEP_SCHEMA"
    assert "JSON object" in caught.value.hint


def test_the_object_read_is_a_copy() -> None:
    raw = {"a": 1}
    assert read_object(raw) == raw
    assert read_object(raw) is not raw


def test_a_mapping_that_is_no_dict_is_read_as_one() -> None:
    assert read_step(MappingProxyType({"kind": "final", "message": "It is dry."})).message == "It is dry."


def test_what_lies_about_itself_is_read_as_what_it_is() -> None:
    class Name(str):
        def __str__(self) -> str:
            return "other"

    class Liar(dict[str, Any]):
        def copy(self) -> Any:
            return {"name": "other"}

        items = keys = values = copy

    action = ToolAction.parse(Liar(name=Name("x"), args=Liar({Name("a"): 1})))
    assert action == ToolAction("x", {"a": 1})
    assert {type(text) for text in (action.name, *action.args)} == {str}


def test_a_line_may_end_within_a_text() -> None:
    assert ToolAction.parse('{"name": "x", "args": {"a": "1\n2"}}') == ToolAction("x", {"a": "1\n2"})


def test_what_comes_after_a_fence_is_not_read() -> None:
    with pytest.raises(GLValidationError, match="needs the 'name'"):
        ToolAction.parse('Nothing:\n```\n{}\n```\n{"name": "x"}')


def test_sanitised_arguments_are_flat() -> None:
    class Thing:
        def __str__(self) -> str:
            return "thing"

    given = {"a": 1, "b": None, "c": [1, "x", True, None], "d": {"e": 1}, "f": [[1]], "g": Thing(), "h": (1,)}
    assert sanitize_args(given) == {
        "a": 1,
        "b": None,
        "c": [1, "x", True, None],
        "d": "{'e': 1}",
        "f": "[[1]]",
        "g": "thing",
        "h": "(1,)",
    }


@pytest.fixture
def boiler() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(Tool(name="File Writer Tool", fn=lambda text: {"written": text}))
    return registry


def test_dispatch_returns_the_output(boiler: ToolRegistry) -> None:
    assert dispatch_tool({"name": "File Writer Tool", "args": {"text": {"a": 1}}}, boiler) == {
        "written": "{'a': 1}"
    }
    assert dispatch_tool('{"name": "File Writer Tool", "args": {"text": "x"}}', boiler) == {"written": "x"}


@pytest.mark.parametrize(
    ("action", "code"),
    [
        ({"name": "Unknown"}, "PATH_RESOLUTION"),
        ({"name": "File Writer Tool", "args": {}}, "ARGS_SCHEMA"),
        ({"name": "File Writer Tool", "args": {"text": 5}}, "RESULT_SCHEMA"),
        ("nothing", "STEP_SCHEMA"),
    ],
)
def test_dispatch_never_raises(boiler: ToolRegistry, action: Any, code: str) -> None:
    answer = dispatch_tool(action, boiler)
    assert answer["error"].startswith(f"[{code}]")
    assert answer["code"] == code
    assert answer["hint"]


def test_asking_back(boiler: ToolRegistry) -> None:
    action = ToolAction("None", {"clarification_needed": "Which file?"})
    assert dispatch_tool(action, boiler) == {"clarification_needed": "Which file?"}
    assert dispatch_tool(ToolAction("None", {"clarification_needed": None}), boiler) == {
        "clarification_needed": ""
    }


def test_the_shared_registry_is_the_default() -> None:
    TOOL_REGISTRY.register(Tool(name="shared", fn=lambda: {"a": "b"}), replace=True)
    assert dispatch_tool({"name": "shared"}) == {"a": "b"}


@pytest.mark.parametrize("args", [[], [1], 0, False, 5, "[]", "x"])
def test_arguments_are_an_object(args: Any) -> None:
    with pytest.raises(GLValidationError) as caught:
        ToolAction.parse({"name": "meter", "args": args})
    assert caught.value.code == "STEP_SCHEMA"


@pytest.mark.parametrize("args", [{}, None, "", "  ", "{}"])
def test_no_arguments(args: Any) -> None:
    assert ToolAction.parse_obj({"name": "meter", "args": args}) == ToolAction("meter", {})


def test_a_registry_is_a_mapping_and_takes_whatever_runs() -> None:
    class Runner:
        name = "My Tool"
        description = "Runs"

        def run(self, text: str = "") -> dict[str, str]:
            return {"text": text}

    registry = ToolRegistry()
    registry.register(Runner())
    assert "My Tool" in registry and "other" not in registry
    assert [*registry] == ["My Tool"] and len(registry) == 1
    assert registry["My Tool"].description == "Runs"
    with pytest.raises(KeyError):
        registry["other"]
    with pytest.raises(TypeError, match="not a tool"):
        registry.register(object())
    assert dispatch_tool({"name": "My Tool", "args": {"text": "a"}}, registry) == {"text": "a"}


def test_what_runs_may_return_text() -> None:
    class Writer:
        name = "File Writer Tool"

        def run(self, text: Any) -> Any:
            return 5 if text == "5" else f"wrote {text}"

    registry = ToolRegistry()
    registry.register(Writer())
    assert dispatch_tool({"name": "File Writer Tool", "args": {"text": "a"}}, registry) == "wrote a"
    refused = dispatch_tool({"name": "File Writer Tool", "args": {"text": "5"}}, registry)
    assert refused["code"] == "RESULT_SCHEMA"


@pytest.mark.parametrize("piece", ["```\n", "{ ", "```json\n{", "``` ", "{\n"])
def test_reading_costs_no_more_than_its_length(piece: str) -> None:
    with pytest.raises(GLValidationError):
        read_object("x" + piece * 100_000)


class Shut:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError

    __repr__ = __getattribute__  # type: ignore[assignment]


def test_what_cannot_be_printed_or_read_is_an_error_too(boiler: ToolRegistry) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for args in ({"a": Shut()}, {"a": {"b": 10**5000}}, {"a": deep}, Shut()):
        assert dispatch_tool({"name": "File Writer Tool", "args": args}, boiler)["code"] == "STEP_SCHEMA"
    assert dispatch_tool(Shut(), boiler)["code"] == "STEP_SCHEMA"  # type: ignore[arg-type]


MESSAGE = '{"message": "x"}'


@pytest.mark.parametrize(
    ("text", "final"),
    [
        (MESSAGE, {"message": "x"}),
        (f"Here it is: {MESSAGE} Done.", {"message": "x"}),
        (f"```json\n{MESSAGE}\n```", {"message": "x"}),
        ('{"final": {"message": "x"}}', {"final": {"message": "x"}}),
        (f'{{"a": 1}} and {MESSAGE}', {"message": "x"}),
        (f'So {{"a": {MESSAGE}}}', None),
        ('{"a": 1} ' * 19 + MESSAGE, {"message": "x"}),
        ('So {"a": 1} ' * 20 + MESSAGE, None),
        ('The "message" is {"a": 1}', None),
        ('So {"message": ', None),
        ('{"a": 1}', None),
        ("It has no such word {", None),
        ("", None),
    ],
)
def test_a_final_message_in_a_text(text: str, final: Any) -> None:
    assert final_in(text) == final


@pytest.mark.parametrize("text", ['{"message": ', '  {"message": }', '```\n{"message": '])
def test_a_final_message_that_cannot_be_read_is_told_with_its_form(text: str) -> None:
    with pytest.raises(GLValidationError, match="not valid JSON") as caught:
        final_in(text)
    assert caught.value.code == "STEP_SCHEMA" and '{"message": "…", "claims": […]}' in str(caught.value.hint)


@pytest.mark.parametrize("text", [f'{{"a": {MESSAGE}}}', '{"final": 5, "a": "message"}'])
def test_an_object_that_has_no_message_is_no_final_message(text: str) -> None:
    with pytest.raises(GLValidationError, match="needs a 'message' that is text"):
        final_in(text)


CLAIM = {"source_call_id": "tc_1", "path": "$.heat", "quantity": {"value": 5, "unit": "kWh"}}


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"name": "x"}, ("tool_call", "x", {})),
        ({"tool_name": "x", "arguments": None}, ("tool_call", "x", {})),
        ({"name": "x", "args": " "}, ("tool_call", "x", {})),
        ({"kind": "tool_call", "name": "x", "args": {"a": 1}}, ("tool_call", "x", {"a": 1})),
        ({"name": "None", "args": {"clarification_needed": "Which?"}}, ("clarification", "", "Which?")),
        ({"name": "None", "args": {"clarification_needed": None}}, ("clarification", "", "")),
        ({"kind": "final", "message": "Hi", "final": None}, ("final", "", "Hi")),
        ({"name": "None"}, ("clarification", "", "")),
        ({"message": "x"}, ("final", "", "x")),
        ({"final": {"message": "x"}}, ("final", "", "x")),
        ({"kind": "final", "final": MappingProxyType({"message": "x"})}, ("final", "", "x")),
    ],
)
def test_what_a_step_is(step: Any, expected: tuple[str, str, Any]) -> None:
    read = read_step(step)
    what = read.arguments if read.kind == "tool_call" else read.message
    assert (read.kind, read.tool_name, what) == expected and read.claims == ()


@pytest.mark.parametrize(
    ("step", "message", "path"),
    [
        ({"name": 5}, "A tool action needs the 'name' of a tool", "name"),
        ({"name": "x", "args": 5}, "The 'args' of a tool action must be an object", "args"),
        ({"kind": "end"}, "'kind' must be 'tool_call' or 'final', not 'end'", "kind"),
        ({"kind": "final"}, "A final step needs a 'message' that is text", "final.message"),
        ({"final": 5}, "A final step needs a 'message' that is text", "final.message"),
        ({"message": 5}, "A final step needs a 'message' that is text", "final.message"),
        ({"claims": 5}, "'claims' must be an array", "final.claims"),
        ({"claims": [CLAIM] * 100_001}, "A message can have at most 100000 claims", "final.claims"),
        ({"claims": [CLAIM, 5]}, "Claim 1 is not an object", "final.claims[1]"),
        ({"claims": [{**CLAIM, "path": 5}]}, "Claim 0 needs a 'path' that is text", "final.claims[0].path"),
        (
            {"claims": [{**CLAIM, "source_call_id": None}]},
            "Claim 0 needs a 'source_call_id' that is text",
            "final.claims[0].source_call_id",
        ),
        (
            {"claims": [{**CLAIM, "quantity": {"value": True, "unit": "kWh"}}]},
            "Claim 0: the value of a Quantity must be a number",
            "final.claims[0].quantity",
        ),
        ({"claims": [{**CLAIM, "basis": 5}]}, "Claim 0: its 'basis' must be text", "final.claims[0].basis"),
        ({"claims": [{**CLAIM, "x": object()}]}, "Claim 0 cannot be read: ", "final.claims[0]"),
    ],
)
def test_a_step_that_cannot_be_read_is_told_with_its_place(step: Any, message: str, path: str) -> None:
    with pytest.raises(GLValidationError) as caught:
        read_claims(step["claims"]) if "claims" in step else read_step(step)
    assert caught.value.message.startswith(message) and caught.value.path == path


@pytest.mark.parametrize(
    "claim", [CLAIM, {**CLAIM, "more": "x"}, {**CLAIM, "basis": None}, MappingProxyType(CLAIM)]
)
def test_a_claim_is_read_whatever_stands_beside(claim: Any) -> None:
    for value in (5, -5.5, 2**70, 0):
        quantity = {"value": value, "unit": "kWh"}
        for claims in ([{**claim, "quantity": quantity}], ({**claim, "quantity": quantity},)):
            (read,) = read_claims(claims)
            assert read == Claim("tc_1", "$.heat", Quantity(value, "kWh")) and read.basis is None
    assert read_claims(None) == ()
    assert read_claims([{**CLAIM, "basis": "HHV"}])[0].basis == "HHV"
