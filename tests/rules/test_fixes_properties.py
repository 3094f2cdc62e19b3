"""What must be true of any fix, over tools drawn at random and over whatever code base one points it at.

``TEST_EXAMPLES`` draws so many examples, other ones each time; ``TEST_CORPUS`` names a folder of real code, whose
files are read and fixed in memory alone.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixing import assert_sound, assert_untouched, findings, fix_all, offered, wanted
from gllint.files.config import Config
from gllint.run import fixer
from gllint.run.engine import Engine, Options, by_path

EXAMPLES = os.environ.get("TEST_EXAMPLES")
CORPUS = os.environ.get("TEST_CORPUS")

NUMBERS = st.sampled_from(
    [
        "3",
        "-1.5",
        "len(rows)",
        "found * 2.5",
        "found - 1",
        "(found - 1)",
        "(\n            found\n            - 1  # less one\n        )",
        "1 if site else 2",
        "2.5 if site else None",
        "round(found * 2.0, 1)",
        "total_kwh",
        "known",
        "(late := 2.5)",
        "float(site)",
        "sum(row for row in rows)",
        "helper_kw(site)",
        "(lambda: 2.5)()",
        "found \\\n            * 2.5",
        "len(f'{site}: {found:.1f} kWh')",
        "total_kwh if (late := found) > 1 else 3",
        "max(found, 2.5) ** 2",
    ]
)
OTHERS = st.sampled_from(['"on"', "None", "site", "True", "found", "[]", "text(site)", "rows"])
UNITS = st.sampled_from(["kWh", "kwh", "kwhh", "kg CO2e", "m3", "BTU", "mw", "GBp", "", "kWh/m2", "KW"])
KEYS = ["heat", "heat_kwh", "cost_eur", "peak_kw", "min_load", "max_load", "state", "count", "share_pct"]


@st.composite
def quantities(draw: st.DrawFn) -> str:
    """A Quantity, well-formed or not."""
    value = draw(
        NUMBERS | st.sampled_from(['"12.5"', 'f"{found:.1f}"', "str(known)", '"n/a"', "None", "found"])
    )
    unit = draw(UNITS)
    extra = draw(st.sampled_from(["", "", "", ', "source": "meter"', ", 'at': site"]))
    return draw(
        st.sampled_from(
            [
                f'{{"value": {value}, "unit": "{unit}"{extra}}}',
                f"{{'unit': '{unit}', 'value': {value}{extra}}}",
                f'Quantity(value={value}, unit="{unit}")',
                f'{{\n            "value": {value},\n            "unit": "{unit}"{extra},\n        }}',
            ]
        )
    )


def entries(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A dict display over several layouts."""
    pairs = st.lists(st.tuples(st.sampled_from(KEYS), inner), max_size=4, unique_by=lambda pair: pair[0])
    return st.builds(_display, pairs, st.integers(0, 3))


def _display(pairs: list[tuple[str, str]], layout: int) -> str:
    quote = "'" if layout == 1 else '"'
    shown = [f"{quote}{key}{quote}: {value}" for key, value in pairs]
    if layout == 2 and pairs:
        return "{\n            " + ",\n            ".join(shown) + ",\n        }"
    if layout == 3 and pairs:
        return "{\n            " + ",  # so far\n            ".join(shown) + "  # the last\n        }"
    return "{" + ", ".join(shown) + "}"


VALUES = st.recursive(
    NUMBERS | OTHERS | quantities(),
    lambda inner: entries(inner) | inner.map(lambda value: f"[{value}]"),
    max_leaves=5,
)
RESULTS = entries(VALUES)
ANNOTATIONS = st.sampled_from(
    [
        "",
        " -> dict",
        " -> dict[str, float]",
        " -> dict[str, Any]",
        ' -> "dict"',
        " -> str",
        " -> float | None",
        " -> Result",
    ]
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """The body of a tool: a result, returned at once or built step by step."""
    result = draw(RESULTS)
    more = draw(VALUES)
    key = draw(st.sampled_from(KEYS))
    return draw(
        st.sampled_from(
            [
                f"    return {result}\n",
                f"    return (\n        {result}\n    )\n",
                f"    out = {result}\n    return out\n",
                f"    out = {result}\n    out['{key}'] = {more}\n    return out\n",
                f"    out = {{}}\n    out.update({key}={more})\n    out['x'] = {result}\n    return out\n",
                f"    if not site:\n        return {result}\n    return {{**{result}, '{key}': {more}}}\n",
                f"    out = {result}\n    log(out)\n    return {{'all': out, '{key}': {more}}}\n",
                f"    out = {result}\n    out['{key}'] = out['{key}'] * 2\n    return out\n",
                f"    if (out := {result}):\n        return out\n    return {{'{key}': {more}}}\n",
                f"    return {result} if site else {{'{key}': {more}}}\n",
                f"    out = {result}; out['{key}'] = {more}; return out\n",
                f"    try:\n        return {result}\n    finally:\n        log('{key}')\n",
            ]
        )
    )


HEAD = '''"""Tools."""

import requests
from gllint_runtime import Quantity, Tool
from langchain_core.tools import tool


def helper_kw(site) -> float:
    return look_up(site)


'''
LOCALS = """    found = look_up(site)
    rows = list_rows(site)
    total_kwh = found * 2.0
    known = found / 3.0
"""


@st.composite
def decorated(draw: st.DrawFn) -> str:
    """A decorated tool, or a tool class."""
    body = draw(bodies() | st.builds("    return {}\n".format, NUMBERS))
    annotation = draw(ANNOTATIONS | st.just(" -> float"))
    name = draw(st.sampled_from(["measure", "measure_kwh"]))
    if draw(st.booleans()):
        return f"@tool\ndef {name}(site: str){annotation}:\n{LOCALS}{body}"
    method = f"def _run(self, site: str){annotation}:\n{LOCALS}{body}"
    lines = "".join(f"    {line}" if line.strip() else line for line in method.splitlines(keepends=True))
    return f'class Measure(tool.BaseTool):\n    name = "{name}"\n\n{lines}'


SCHEMAS = st.sampled_from(
    [
        "",
        "{}",
        '{"type": "object"}',
        '{\n        "type": "object",\n    }',
        '{"type": "object", "properties": {"heat": {"type": "number"}, "state": {"type": "string"}}}',
        '{"type": "object", "properties": {"heat_kwh": {"type": ["number", "null"], "minimum": 0}}}',
        '{"type": "object", "properties": {"peak_kw": {"type": "object", "properties": '
        '{"value": {"type": "number"}, "unit": {"type": "string"}}}}}',
        '{"type": "object", "properties": {"count": {"$ref": "greenlang://schemas/Quantity.json"}}}',
        '{"type": "object", "properties": {"state": {"type": "string"}}}',
        '{"type": "number", "description": "in kWh"}',
    ]
)


@st.composite
def described(draw: st.DrawFn) -> str:
    """A tool with schemas."""
    schema = draw(SCHEMAS)
    given_schema = f"    result_schema={schema},\n" if schema else ""
    egress = draw(st.sampled_from(["", "    requests.get(site)\n"]))
    end = draw(
        st.sampled_from(["    fn=measured,\n)\n", "    fn=measured)\n", "    fn=measured,  # see above\n)\n"])
    )
    return (
        f"def measured(site: str){draw(ANNOTATIONS)}:\n{LOCALS}{egress}{draw(bodies())}\n\n"
        'MEASURE = Tool(\n    name="measured",\n'
        '    args_schema={"type": "object", "required": ["site"], "properties": {"site": {"type": "string"}}},\n'
        f"{given_schema}{end}"
    )


MACROS = [
    "{{claim:0}}",
    "{{claim:1}}",
    "{{claim:2}}",
    "{claim:0}",
    "{{ claim:0 }}",
    "{{claim:00}}",
    "{{{{claim:0}}}}",
]
TEXTS = st.lists(st.sampled_from([*MACROS, "{heat['value']}", " kWh", "{site}", ".", " and "]), max_size=5)
CLAIMS = st.lists(
    st.builds(
        '{{"source_call_id": call, "path": "{}", "quantity": {}}}'.format,
        st.sampled_from(["$.heat", "heat", "/a/b", "$['a']", "$.a[0]"]),
        st.sampled_from(["heat", '{"value": known, "unit": "kwh"}', "peak"]),
    ),
    max_size=3,
)


@st.composite
def finishing(draw: st.DrawFn) -> str:
    """A final step."""
    text = "It needs " + " ".join(draw(TEXTS))
    is_formatted = draw(st.booleans())
    if not is_formatted:
        text = text.replace("{heat['value']}", "{x}").replace("{site}", "here")
    claims = ", ".join(draw(CLAIMS))
    return (
        "def finish(call: str, heat: dict[str, float], peak: dict, site: str, known: float) -> dict:\n"
        f'    return {{"kind": "final", "message": {"f" * is_formatted}"{text}", "claims": [{claims}]}}\n'
    )


@st.composite
def modules(draw: st.DrawFn) -> str:
    """A module with some of all that."""
    parts = draw(st.lists(decorated() | described() | finishing(), min_size=1, max_size=2))
    source = HEAD + "\n\n".join(part.replace("easure", f"easure{i}") for i, part in enumerate(parts))
    if draw(st.booleans()):
        source += draw(st.sampled_from(USES))
    source = draw(
        st.sampled_from([source, source, source.rstrip("\n"), source.replace("\n\n\n", "\n\f\n\n")])
    )
    newline = draw(st.sampled_from(["\n", "\n", "\n", "\r\n"]))
    return source.replace("\n", newline)


# What a unit that stood beside a number is told once it is joined with it.
OF_UNITS = {"GL501", "GL502"}
# What stands beside a macro is judged once it is one: in `{{claim:0}} x` the letter would multiply.
OF_MACROS = {"GL401"}
# What else a module may do with what its tools return, and with units.
USES = [
    "\n\nTOTAL = measure0('a')['heat_kwh'] * 2\n",
    "\n\nagent = Agent(tools=[measure0])\n",
    "\n\nFACTORS = {'kwh': 1.0, 'KW': 2.0}\n",
    "\n\ndef show(row):\n    return f\"{row['peak_kw']:.1f}\"\n",
    "\n\n__all__ = ['measure0']\n",
]


@settings(
    max_examples=int(EXAMPLES or 20),
    derandomize=EXAMPLES is None,
    suppress_health_check=list(HealthCheck),
)
@given(modules())
def test_fixes_of_generated_tools(source: str) -> None:
    ast.parse(source)
    files = {"plant/tools.py": source}
    before = findings(files)
    for finding in offered(before):
        assert_sound(files, finding, before)
    for unsafe in (False, True):
        fixed = fix_all(files, unsafe)
        ast.parse(fixed["plant/tools.py"])
        left = findings(fixed)
        assert wanted(left, unsafe) == {}
        # A rule that was fixed may now say what its first finding hid; no other rule has more to say.
        came = Counter(f.code for f in left) - Counter(f.code for f in before)
        codes = {f.code for f in offered(before)}
        assert set(came) <= codes | OF_UNITS | (OF_MACROS if "GL403" in codes else set()), (
            f"{came} came\n{fixed['plant/tools.py']}"
        )


@pytest.mark.skipif(CORPUS is None, reason="TEST_CORPUS names no code base")
def test_fixes_of_real_code() -> None:
    assert CORPUS is not None
    engine = Engine(Options(fixed=Config(), cache=False, jobs=1, noqa=False))
    found = by_path(engine.check([CORPUS]).findings)
    for path, before in found.items():
        data, text = engine.sources.of(path).raw, engine.sources.of(path).text
        for finding in list(offered(before))[:8]:
            assert finding.fix is not None
            fixed, applied = fixer.apply(text.source, [finding.fix])
            assert applied == 1
            assert_untouched(text.source, fixed, finding.fix)
            if _parses(text.source):
                ast.parse(fixed)
            engine.put(path, text.encode(fixed))
            after = engine.check_file(path).findings
            old, new = (Counter((f.code, f.message) for f in fs) for fs in (before, after))
            assert (old - new)[finding.code, finding.message], f"{path}: {finding} stays"
            of_units = OF_UNITS if finding.fix.message.startswith("Combine it with the") else set()
            came = {title for title in new - old if title[0] not in {finding.code, *of_units}}
            assert not came, f"{path}: {finding.fix.message}: {came} came"
            engine.put(path, data)
    for unsafe in (False, True):
        done = fixer.fix(Engine(Options(fixed=Config(), cache=False, jobs=1, noqa=False)), [CORPUS], unsafe)
        assert done.errors == []
        left = [f.fix for f in offered(done.outcome.findings) if f.fix is not None]
        assert [f for f in left if unsafe or f.applicability == "safe"] == []
        for path in done.new_data:
            assert Path(path).read_bytes() == done.old_data[path]


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True
