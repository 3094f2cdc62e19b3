"""The edit loop of a coding agent: its edit, the hook's answer, the edit that this answer alone says, silence.

One row a rule, over the bad example of its page. A rule without a row must be in ``NO_LOOP``, with the reason.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from gllint.cli.hooking import hook
from gllint_rules import RULES

Write = Callable[..., Path]

_BLOCK = re.compile(r"^```python ?(?P<path>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
REF = '{"$ref": "greenlang://schemas/quantity.json"}'
CLAIM = '"claims": [{"source_call_id": call_id, "path": "$.power", "quantity": power}]'


class Step(NamedTuple):
    """One answer and the edit after it: the answer says ``said``; ``old`` becomes ``new`` in the file that it names."""

    said: str
    old: str
    new: str


class Loop(NamedTuple):
    """The steps after the bad example of a rule, the settings that the answers name, and those before any answer."""

    steps: tuple[Step, ...]
    settings: str = ""
    edited: str = "example.py"
    before: str = ""


def one(said: str, old: str, new: str, **more: str) -> Loop:
    return Loop((Step(said, old, new),), **more)


LOOPS = {
    "GL101": one('`{"value": watts, "unit": "W"}`', "watts}", '{"value": watts, "unit": "W"}}'),
    "GL102": one("the `value` of this Quantity is not a number", 'f"{level:.1f}"', "level"),
    "GL103": one(
        "return each Quantity under a key of its own",
        '{"readings": [{"value": first, "unit": "kWh"}, {"value": last, "unit": "kWh"}]}',
        '{"first": {"value": first, "unit": "kWh"}, "last": {"value": last, "unit": "kWh"}}',
    ),
    "GL104": one(
        '`{"text": …, "volume": {"value": read_volume(tank), "unit": "m3"}}`',
        'f"The tank holds {read_volume(tank):.1f} m3."',
        '{"text": f"The tank holds {read_volume(tank):.1f} m3.", "volume": {"value": read_volume(tank), "unit": "m3"}}',
    ),
    "GL105": one("read it from a data source instead", '"value": demand', '"value": read_meter()'),
    "GL106": one("Add the unit to the name of the argument", "discharge", "discharge_m3_s"),
    "GL201": one(f"`{REF}`", '{"type": "number"}', REF),
    "GL202": one(f"`{REF}`", "={},", f'={{"type": "object", "properties": {{"power": {REF}}}}},'),
    "GL203": one("'text' is not a JSON Schema type", '"type": "text"', '"type": "string"'),
    "GL204": one("Known schemas: greenlang://schemas/quantity.json.", "quantities.json", "quantity.json"),
    "GL205": one("the result lacks `load`, which its schema requires", '{"power": {"v', '{"load": {"v'),
    "GL206": Loop(
        (
            Step("add a parameter `site`", "lambda place:", "lambda site:"),
            Step(
                "parameter `site` has no default",
                'args_schema={"type": "object", "p',
                'args_schema={"type": "object", "required": ["site"], "p',
            ),
        )
    ),
    "GL301": one(
        "`gllint_runtime.dispatch_tool` is such a function",
        "return meter.run(question)",
        'return dispatch_tool(ToolAction(name="meter", args={"meter": question}))',
    ),
    "GL302": one(
        "get it here from `TOOL_REGISTRY` of that module",
        "tools=[MeterTool()]",
        'tools=[TOOL_REGISTRY["meter"]]',
        edited="plant/agent.py",
    ),
    "GL303": one("Did you mean `read_meter`?", "read_metre", "read_meter"),
    "GL304": one(
        "flatten this one",
        '{"site": {"city": "Ghent", "zone": "north"}}',
        '{"city": "Ghent", "zone": "north"}',
    ),
    "GL401": Loop(
        (
            Step("write {{claim:0}} in its place", "about 40 kW.", "{{claim:0}}."),
            Step("'{{claim:0}}' has no entry in claims[]", '"claims": []', CLAIM),
        )
    ),
    "GL402": Loop(
        (
            Step(
                "write {{claim:0}} in its place",
                'f"The pump draws {power} kW."',
                '"The pump draws {{claim:0}}."',
            ),
            Step("'{{claim:0}}' has no entry in claims[]", '"claims": []', CLAIM),
        )
    ),
    "GL403": one("`claims[0]` is not used by any macro", "{{claim:1}}", "{{claim:0}}"),
    "GL404": one("Begin at the root of the output: '$.power'.", '"power", "q', '"$.power", "q'),
    "GL405": one(
        "Let a tool return the number as a Quantity",
        '"A flat like this uses about 2,900 kWh a year."',
        '{"demand": {"value": look_up(building), "unit": "kWh/year"}}',
    ),
    "GL406": one("Declare it as `Claimed[Quantity]`", "heat: float", "heat: Claimed[Quantity]"),
    "GL501": one("Did you mean `kWh`?", '"kwh"', '"kWh"'),
    "GL502": one('`unit-packs = ["us"]`', "look_up(fuel)", "look_up(fuel)", settings='unit-packs = ["us"]'),
    "GL503": one("Rename the key", '"heat_kwh"', '"footprint_kg"'),
    "GL504": one("`heat_wh / 1000`", '"value": heat_wh', '"value": heat_wh / 1000'),
    "GL505": one("1 kWh is 1000 Wh", "+ cooling_wh", "+ cooling_wh * 0.001"),
    "GL601": one("`live_required=True`", "fn=grid_mix,", "fn=grid_mix,\n    live_required=True,"),
    "GL602": one("`live_required=True`", "isoformat()},", "isoformat()},\n    live_required=True,"),
    "GL701": one(
        "Set `category`",
        "class ValveTool(BaseTool):",
        "class ValveTool(BaseTool):\n    category = ToolCategory.MODIFICATION\n",
    ),
    "GL702": one("Declare it as MODIFICATION", "ToolCategory.READ_ONLY", "ToolCategory.MODIFICATION"),
    "GL900": one("1:10 GL900 invalid syntax", "tool(:", "tool():"),
    "GL901": one("Remove it", "  # gllint: ignore[GL101] left over", ""),
    "GL902": Loop(
        (
            Step("Write `# gllint: ignore[GL101]`", "disable=GL101", "ignore[GL101]"),
            Step("GL901 Unused suppression of GL101 | Remove it.", "  # gllint: ignore[GL101]", ""),
        )
    ),
}


def answer(top: Path, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What the hook answers to an edit of ``path``; ``""`` where it lets it pass."""
    event = {
        "cwd": str(top),
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": str(top / path)},
    }
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    monkeypatch.chdir(top)
    status = hook("claude-code")
    output, error = capsys.readouterr()
    assert (status, output) == (2 if error else 0, "")
    return error


def bad_example(code: str) -> dict[str, str]:
    """The files of a rule's first example."""
    section = RULES[code].documentation.partition("\n## Bad\n")[2].partition("\n## Good\n")[0]
    return {block["path"] or "example.py": block["text"] for block in _BLOCK.finditer(section)}


def test_each_rule_has_a_loop() -> None:
    assert set(LOOPS) == set(RULES)


@pytest.mark.parametrize("code", LOOPS)
def test_the_answer_alone_says_the_edit(
    write: Write, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = LOOPS[code]
    settings = f'[tool.gllint]\nextend-select = ["{code}"]\n{loop.before}'
    top = write({"pyproject.toml": settings, **bad_example(code)})
    file = top / loop.edited
    for number, step in enumerate(loop.steps):
        text = answer(top, loop.edited, monkeypatch, capsys)
        assert number or f" {code} " in text
        assert step.said in text
        assert step.old in file.read_text()
        file.write_text(file.read_text().replace(step.old, step.new))
    write({"pyproject.toml": settings + loop.settings})
    assert answer(top, loop.edited, monkeypatch, capsys) == ""


def test_an_edited_template_is_checked(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = 'from pathlib import Path\n\nFINAL_MESSAGE = Path("final.md").read_text()\n'
    top = write(
        {"pyproject.toml": "[tool.gllint]\n", "agent.py": source, "final.md": "It needs 9,500 kWh.\n"}
    )
    assert "final.md:1:10 GL401 `9,500`" in answer(top, "final.md", monkeypatch, capsys)
