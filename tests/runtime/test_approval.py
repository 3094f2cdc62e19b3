"""Who is asked before a tool runs, and what counts as consent."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime import GLSecurityError, ScriptedProvider, Tool, ToolCategory, ToolRegistry, ToolRuntime
from gllint_runtime.execution.approval import ApprovalGate, preview
from gllint_runtime.execution.asking import finish

EFFECTS = [ToolCategory.MODIFICATION, ToolCategory.EXTERNAL]


def tool(category: ToolCategory, **options: Any) -> Tool:
    return Tool(name="write", fn=lambda text: {"written": text}, category=category, **options)


def check(gate: ApprovalGate, tool: Tool, arguments: dict[str, Any]) -> str:
    return finish(gate.checking(tool, arguments, ToolCategory(tool.category)))


@pytest.mark.parametrize("category", [ToolCategory.READ_ONLY, ToolCategory.NOTE_TAKING])
def test_what_has_no_effect_just_runs(category: ToolCategory) -> None:
    assert check(ApprovalGate(approve=None), tool(category), {}) == "auto"


def test_notes_alone_are_announced() -> None:
    told: list[Any] = []
    gate = ApprovalGate(notify=lambda tool, args: told.append((tool.name, args)))
    assert check(gate, tool(ToolCategory.NOTE_TAKING), {"text": "a"}) == "notice"
    assert check(gate, tool(ToolCategory.READ_ONLY), {"text": "b"}) == "auto"
    assert told == [("write", {"text": "a"})]


@pytest.mark.parametrize("category", EFFECTS)
def test_no_callback_means_no(category: ToolCategory) -> None:
    with pytest.raises(GLSecurityError, match="needs an approve callback") as caught:
        check(ApprovalGate(), tool(category), {})
    assert caught.value.code == "APPROVAL_DENIED"


async def later() -> str:
    return "yes"


@pytest.mark.parametrize("answer", [False, None, "no", "yes", 1, "True", [True], later])
@pytest.mark.parametrize("category", EFFECTS)
def test_only_true_is_consent(answer: Any, category: ToolCategory) -> None:
    gate = ApprovalGate(lambda tool, args, first: answer() if callable(answer) else answer)
    with pytest.raises(GLSecurityError, match="did not approve"):
        check(gate, tool(category), {})


@pytest.mark.parametrize("category", EFFECTS)
def test_consent_may_be_awaited(category: ToolCategory) -> None:
    async def ask(tool: Any, arguments: Any, first_use: bool) -> bool:
        return True

    assert check(ApprovalGate(ask), tool(category), {}) == "approved"


@pytest.mark.parametrize("category", EFFECTS)
def test_a_callback_cannot_lower_the_category(category: ToolCategory) -> None:
    asked: list[str] = []

    def ask(tool: Any, arguments: Any, first_use: bool) -> bool:
        asked.append(tool.name)
        tool.category = ToolCategory.READ_ONLY
        return False

    registry = ToolRegistry(approve=ask)
    registry.register(tool(category))
    for _ in range(2):
        with pytest.raises(GLSecurityError):
            registry.invoke("write", {"text": "a"})
    assert len(asked) == 2


def test_notes_are_confirmed_on_request() -> None:
    note = tool(ToolCategory.NOTE_TAKING)
    assert check(ApprovalGate(lambda *_: False), note, {}) == "auto"
    assert check(ApprovalGate(lambda *_: True, confirm_notes=True), note, {}) == "approved"
    for gate in (ApprovalGate(lambda *_: False, confirm_notes=True), ApprovalGate(confirm_notes=True)):
        with pytest.raises(GLSecurityError):
            check(gate, note, {})
    assert check(ApprovalGate(confirm_notes=True), tool(ToolCategory.READ_ONLY), {}) == "auto"


def test_a_failing_callback_means_no() -> None:
    def broken(*_: Any) -> bool:
        raise OSError("no terminal")

    with pytest.raises(GLSecurityError, match="no terminal"):
        check(ApprovalGate(broken), tool(ToolCategory.EXTERNAL), {})


def test_the_first_use_stands_out_until_it_was_approved() -> None:
    seen: list[bool] = []
    answers = iter([False, True, True])

    def approve(tool: Any, args: dict[str, Any], first_use: bool) -> bool:
        seen.append(first_use)
        return next(answers)

    gate = ApprovalGate(approve)
    with pytest.raises(GLSecurityError):
        check(gate, tool(ToolCategory.EXTERNAL), {})
    assert [check(gate, tool(ToolCategory.EXTERNAL), {}) for _ in range(2)] == ["approved", "approved"]
    assert seen == [True, True, False]


def test_what_a_registry_let_through_once_is_known_to_each_run(step: Any) -> None:
    seen: list[bool] = []
    registry = ToolRegistry(approve=lambda tool, args, first: seen.append(first) or True)
    registry.register(tool(ToolCategory.EXTERNAL))
    for _ in range(2):
        script = ScriptedProvider([step.call("write", text="a"), step.final("Done")])
        ToolRuntime(script, registry).run("", "")
    assert seen == [True, False]


def test_the_callback_cannot_change_the_arguments() -> None:
    def approve(tool: Any, args: dict[str, Any], first_use: bool) -> bool:
        args["text"] = "something else"
        return True

    registry = ToolRegistry(approve=approve)
    registry.register(tool(ToolCategory.MODIFICATION))
    assert registry.invoke("write", {"text": "a"}) == {"written": "a"}


def test_previews() -> None:
    own = tool(ToolCategory.MODIFICATION, preview=lambda text: f"Write {text!r} to the log")
    assert preview(own, {"text": "a"}) == "Write 'a' to the log"
    assert preview(tool(ToolCategory.EXTERNAL), {"text": "a"}) == "write(text='a')"


def test_categories_may_be_written_as_text() -> None:
    with pytest.raises(GLSecurityError):
        check(ApprovalGate(), tool("external"), {})  # type: ignore[arg-type]


def test_a_runtime_keeps_what_its_registry_asks_for(step: Any) -> None:
    """Its own callbacks take the place of the registry's; what is to be confirmed stays."""
    asked: list[str] = []
    told: list[str] = []
    registry = ToolRegistry(approve=lambda tool, *_: asked.append(tool.name) or True, confirm_notes=True)
    registry.register(tool(ToolCategory.NOTE_TAKING))
    name = registry.list()[0].name
    for options, outcome in (
        ({"notify": lambda tool, _: told.append(tool.name)}, "success"),
        ({"approve": lambda *_: False}, "error"),
        ({}, "success"),
    ):
        script = ScriptedProvider([step.call(name, text="a"), step.final("Done")])
        assert ToolRuntime(script, registry, **options).try_run("", "")["status"] == outcome
    assert asked == [name, name] and told == [name]
