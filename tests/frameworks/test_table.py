"""The framework table: what it says of a name, and that its rows were verified against what is recorded."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from gllint_rules.words import framework_table
from gllint_rules.words.framework_table import Callee, Kind, TableError, ToolListing

HERE = Path(__file__).parent
PINS = tomllib.loads((HERE / "pins.toml").read_text("utf-8"))


def test_what_is_loaded_is_what_is_written() -> None:
    assert Path(framework_table.LOADED).read_text("utf-8") == framework_table.as_loaded(
        Path(framework_table.SOURCE).read_text("utf-8")
    ), "run `python -m gllint_rules.words.framework_table`"


def test_each_row_names_the_version_that_is_recorded() -> None:
    verified = {part for row in framework_table.shipped().rows for part in row.verified.split(", ") if part}
    for name, row in PINS.items():
        versions = json.loads((HERE / "recorded" / f"{name}.json").read_text("utf-8"))["versions"]
        package = re.split(r"[\[=<-]slim|[\[=<]", row["requires"][0])[0]
        version = next(iter({versions[k] for k in versions if k.removesuffix("-slim") == package}))
        assert f"{package} {version}" in verified


@pytest.mark.parametrize(
    ("kind", "written", "origin", "method", "imports", "row"),
    [
        # A function of a framework, wherever it is re-exported from.
        ("decorators", "tool", "langchain_core.tools.convert.tool", False, [], "langchain"),
        ("decorators", "tool", "crewai.tools.tool", False, [], "crewai"),
        (
            "decorators",
            "kernel_function",
            "semantic_kernel.functions.kernel_function",
            False,
            [],
            "semantic-kernel",
        ),
        # Exactly this name makes no tool, although its last part does.
        ("decorators", "tool", "crewai.project.tool", False, [], None),
        ("decorators", "tool", "inspect_ai.tool.tool", False, [], None),
        ("generators", "tool", "inspect_ai.tool.tool", False, [], "inspect-ai"),
        ("decorators", "tool", "fastmcp.tools.tool", False, [], "fastmcp"),
        # A method of a known class, of an unknown one where the framework is imported, and of nobody knows what.
        ("decorators", "mcp.tool", "fastmcp.FastMCP.tool", True, [], "fastmcp"),
        ("decorators", "self.action", "", True, ["browser_use"], "browser-use"),
        ("decorators", "self.action", "", True, ["celery"], None),
        ("decorators", "server.tool", "", True, [], "any"),
        ("decorators", "agent.prompt", "ag2.Agent.prompt", True, [], None),
        ("decorators", "mcp.resource", "fastmcp.FastMCP.resource", True, [], None),
        # Calls.
        ("calls", "Tool", "langchain_core.tools.Tool", False, [], "langchain"),
        ("calls", "Tool", "dspy.Tool", False, [], "dspy"),
        ("calls", "StockTool", "", False, [], "any"),
        ("calls", "StockTool.from_function", "", True, [], "any"),
        ("calls", "Text.from_function", "", True, [], None),
        ("calls", "self.register", "agno.tools.Toolkit.register", True, [], "agno"),
        ("calls", "atexit.register", "atexit.register", False, ["agno"], None),
        # Lists.
        (
            "keywords",
            "llm.bind_tools",
            "langchain_openai.ChatOpenAI.bind_tools",
            True,
            ["langchain_openai"],
            "langchain",
        ),
        ("keywords", "client.models.generate_content", "", True, ["google.genai"], "google-genai"),
        ("keywords", "Agent", "google.adk.agents.Agent", False, [], "google-adk"),
        ("keywords", "Crew", "shop.agents.Crew", False, [], "any"),
        (
            "generators",
            "register_function",
            "nat.cli.register_workflow.register_function",
            False,
            [],
            "nvidia-nat",
        ),
        ("calls", "register_function", "autogen.register_function", False, [], "ag2 0"),
        ("described", "ToolDef", "", False, [], "any"),
    ],
)
def test_find(
    kind: Kind, written: str, origin: str, method: bool, imports: list[str], row: str | None
) -> None:
    shipped = framework_table.shipped()
    callee = Callee(origin or written, bool(origin), method, talks=bool(imports))
    found = shipped.find(kind, callee, shipped.imported(imports))
    assert (found.framework.name if found else None) == row


def test_places() -> None:
    shipped = framework_table.shipped()
    found = shipped.find("keywords", Callee("langchain.agents.create_agent", True))
    assert found is not None and found.name.places == (1, "tools") and found.framework.plain_functions
    found = shipped.find("keywords", Callee("agents.Agent", True))
    assert found is not None and not found.framework.plain_functions
    # A callee that its row does not name takes what its framework takes.
    found = shipped.find("keywords", Callee("crewai.Crew", True))
    assert found is not None and found.name.places == ("tools",) and not found.framework.plain_functions
    found = shipped.find("keywords", Callee("shop.Waiter", True))
    assert found is not None and found.framework.plain_functions


def test_what_is_handed_over_as_something_else_is_no_tool() -> None:
    shipped = framework_table.shipped()
    assert shipped.is_no_tool("prepare", Callee("pydantic_ai.Tool", True))
    assert shipped.is_no_tool("instructions", Callee("shop.Agent", True))
    assert shipped.is_no_tool("tool_hooks", Callee("agno.agent.Agent", True))
    assert not shipped.is_no_tool("tool_hooks", Callee("shop.Agent", True))
    assert not shipped.is_no_tool("tools", Callee("agno.agent.Agent", True))


def test_classes() -> None:
    shipped = framework_table.shipped()
    assert shipped.methods("langchain_core.tools.BaseTool") == ("_run", "_arun")
    assert shipped.methods("google.adk.tools.BaseTool") == ("run_async",)
    assert "execute" in shipped.methods("shop.base.BaseTool")
    assert shipped.methods("shop.base.Screw") == ()
    assert shipped.published("llama_index.core.tools.tool_spec.base.BaseToolSpec") == (
        ToolListing("spec_functions"),
    )
    assert shipped.published("langroid.ToolMessage") == (
        ToolListing("request", "Agent"),
        ToolListing("request", "ChatAgent"),
        ToolListing("request", "DocChatAgent"),
    )
    assert shipped.payload("pydantic_ai.ToolReturn") == (0, "return_value")
    assert shipped.payload("agno.tools.function.ToolResult") == ("content",)
    assert shipped.payload("shop.ToolResult") == ("data", "output", "result")
    assert shipped.payload("langroid.agent.tools.orchestration.ResultTool") == ()
    assert shipped.payload("shop.Basket") is None


def test_who_talks_to_a_model() -> None:
    shipped = framework_table.shipped()
    assert shipped.talks_to_a_model(["os", "openai.types"])
    assert shipped.talks_to_a_model(["langchain_community.tools"])
    assert not shipped.talks_to_a_model(["os", "pandas", "agentsmith"])


def test_rows_of_a_project() -> None:
    own = framework_table.with_rows(
        [
            {
                "name": "shop",
                "imports": ["shop.kit"],
                "decorators": ["offered"],
                "calls": ["Kit.add"],
                "keywords": ["abilities"],
                "bases": {"Ability": "perform"},
            }
        ]
    )
    found = own.find("decorators", Callee("shop.kit.offered", True))
    assert found is not None and found.framework.name == "shop"
    found = own.find("calls", Callee("shop.kit.Kit.add", True, True))
    assert found is not None and found.name.places == (0,)
    found = own.find("keywords", Callee("shop.kit.Waiter", True))
    assert found is not None and found.name.places == ("abilities",)
    assert own.methods("shop.kit.Ability") == ("perform",)
    assert own.find("decorators", Callee("crewai.project.tool", True)) is None
    assert framework_table.with_rows([]) is framework_table.shipped()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"decorators": ["x"]}, r"frameworks\[0\]: a row needs a `name`"),
        (
            {"name": "shop", "decorator": ["x"]},
            r"frameworks\[0\] \(shop\): unknown key `decorator`; did you mean `decorators`",
        ),
        ({"name": "shop", "decorators": [3]}, r"`decorators` must be a list of names, not \[3\]"),
        (
            {"name": "shop", "calls": {"f": True}},
            r"`calls.f` must be a position \(0\), a keyword \(\"name\"\), or a list of these",
        ),
        ({"name": "shop", "calls": "f"}, "`calls` must be a table of names and places, not 'f'"),
        ({"name": "shop", "plain-functions": "no"}, "`plain-functions` must be true or false, not 'no'"),
        (
            {"name": "shop", "published": {"Kit": 3}},
            "`published.Kit` must be a name, or a table with `attribute` and `of`",
        ),
        ({"name": "shop", "parts": {"format": [0]}}, "a key of `parts` must be like"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(row: dict[str, object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        framework_table.read_rows([row])
