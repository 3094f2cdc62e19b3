"""Reading what a model wrote, and running tools on its behalf without ever raising."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from gllint_runtime import (
    TOOL_REGISTRY,
    GLValidationError,
    Tool,
    ToolAction,
    ToolRegistry,
    dispatch_tool,
    sanitize_args,
)
from gllint_runtime.execution.steps import read_object, read_step


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
        ('{"name": "x", "args": [1]}', "are an object"),
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
    with pytest.raises(TypeError, match="no tool"):
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
