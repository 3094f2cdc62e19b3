"""What a stranger's repository may try in order to be told "No findings": each is found, refused or told.

An attempt is a name, files, and what must come of it: a code and its place (``GL101 a.py:7``), ``refused: `` with what an error
(exit status 2) says, ``told: `` with what stands beside "No findings", ``missed: `` with the reason why nothing is, or
``nothing: `` with the reason why there is nothing to say: nothing runs what stands there.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.mark import ParameterSet
from click.testing import CliRunner

from gllint.cli.commands import cli
from gllint.errors import UsageError

Files = Mapping[str, "str | bytes | Link"]
Attempt = tuple[str, Files, str]


class Link(NamedTuple):
    """A symbolic link, where it points."""

    target: str


TOOL = '''\
from langchain_core.tools import tool


@tool
def report(area: str) -> dict:
    """The heat of an area."""
    return {"heat": 5}
'''
CLEAN = "X = 1\n"
MESSAGE = 'FINAL_MESSAGE = "The building needs 9500 kWh."\n'
UNIT = TOOL.replace("5}", '{"value": 5, "unit": "flurbs"}}')
DIRECT = TOOL + '\n\ndef answer():\n    return report.invoke("a")\n'


def tool(
    decorator: str = "@tool", result: str = '{"heat": 5}', head: str = "", parameters: str = "area: str"
) -> str:
    """A module with one tool."""
    return (
        f"from langchain_core.tools import tool\n{head}\n\n{decorator}\n"
        f'def report({parameters}) -> dict:\n    """The heat of an area."""\n    return {result}\n'
    )


def plain(
    registration: str, head: str = "from langchain_core.tools import tool, BaseTool, StructuredTool\n"
) -> str:
    """A module whose function is a tool only by what stands behind it."""
    return f'{head}\n\ndef report(area: str) -> dict:\n    """Heat."""\n    return {{"heat": 5}}\n\n\n{registration}\n'


def declared(encoding: str, text: str, line: int = 1) -> bytes:
    return ("#!/usr/bin/python\n" * (line - 1) + f"# -*- coding: {encoding} -*-\n{text}").encode(encoding)


def encodings() -> Iterator[Attempt]:
    ascii_ = TOOL.encode()
    odd = TOOL.replace("@tool", "@\\x74ool").encode()
    yield "byte order mark", {"a.py": b"\xef\xbb\xbf" + ascii_}, "GL101 a.py:7"
    yield "latin-1 in line 1", {"a.py": declared("latin-1", TOOL.replace("heat", "wärme"))}, "GL101 a.py:8"
    yield (
        "latin-1 in line 3, too late",
        {"a.py": declared("latin-1", TOOL.replace("heat", "wärme"), 3)},
        "GL900 a.py:9",
    )
    yield (
        "cp037, which has no ASCII",
        {"a.py": declared("cp037", TOOL)},
        "told: not checked, cannot be decoded",
    )
    yield "unicode_escape", {"a.py": b"# coding: unicode_escape\n" + odd}, "GL101 a.py:8"
    yield (
        "utf-7 hides the whole tool",
        {
            "a.py": b"# coding: utf7\n# +AAo-"
            + TOOL.replace("\n", "+AAo-").replace("@", "+AEA-").replace("_", "+AF8-").encode()
            + b"\n"
        },
        "GL101 a.py:9",
    )
    yield (
        "utf-7 in a message",
        {
            "a.py": b"# coding: utf-7\n"
            + MESSAGE.replace("FINAL_MESSAGE", "+AEYASQBOAEEATA-_MESSAGE").encode()
        },
        "GL401 a.py:2",
    )
    yield "utf-16 with a mark", {"a.py": TOOL.encode("utf-16")}, "told: not checked, cannot be decoded"
    yield "a null byte at the end", {"a.py": ascii_ + b"\0"}, "GL900 a.py:8"
    yield (
        "Shift JIS, whose backslash is a yen",
        {"a.py": declared("shift_jis", TOOL.replace("heat", "熱"))},
        "GL101 a.py:8",
    )
    yield "rot13", {"a.py": b"# coding: rot13\n" + ascii_}, "GL900 a.py:1"
    yield "an encoding that is unknown", {"a.py": b"# coding: klingon\n" + ascii_}, "GL900 a.py:1"
    yield "a mark and another encoding", {"a.py": b"\xef\xbb\xbf# coding: latin-1\n" + ascii_}, "GL900 a.py:1"
    yield "not UTF-8", {"a.py": ascii_ + b"# \xff\xfe\n"}, "GL900 a.py:8"


def lookalikes() -> Iterator[Attempt]:
    yield (
        "bold letters in both",
        {"a.py": TOOL.replace("import tool", "import 𝐭𝐨𝐨𝐥").replace("@tool", "@𝘁𝗼𝗼𝗹")},
        "GL101 a.py:7",
    )
    yield (
        "the method of a tool class",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\nclass A(BaseTool):\n    def _ｒun(self, area):\n        return {"heat": 5}\n'
        },
        "GL101 a.py:6",
    )
    yield "a keyword argument", {"a.py": plain('StructuredTool(name="a", ｆunc=report)')}, "GL101 a.py:6"
    yield "Arabic digits", {"a.py": MESSAGE.replace("9500", "٩٥٠٠")}, "GL401 a.py:1"
    yield (
        "zero-width characters between digits",
        {"a.py": MESSAGE.replace("9500", "9\u200b5\u200b0\u200b0")},
        "GL401 a.py:1",
    )
    yield (
        "digits by escapes",
        {"a.py": MESSAGE.replace("9500", "\\x39\\65\\N{DIGIT ZERO}\\u0030")},
        "GL401 a.py:1",
    )
    yield "a unit of Cyrillic letters", {"a.py": UNIT.replace("flurbs", "кWh")}, "GL501 a.py:7"
    yield "a right-to-left override", {"a.py": TOOL.replace("heat", "\u202eheat\u202c")}, "GL101 a.py:7"


def line_ends() -> Iterator[Attempt]:
    yield "carriage returns", {"a.py": TOOL.replace("\n", "\r")}, "GL101 a.py:7"
    yield (
        "a form feed in the indentation",
        {"a.py": TOOL.replace("    return", "  \x0c    return")},
        "GL101 a.py:7",
    )
    yield "a carriage return ends a comment", {"a.py": TOOL.replace("@tool", "# x\r@tool")}, "GL101 a.py:8"
    yield "a line separator in a string", {"a.py": TOOL.replace('"heat"', '"\u2028# noqa"')}, "GL101 a.py:7"
    yield "no end of the last line", {"a.py": TOOL.rstrip("\n")}, "GL101 a.py:7"
    yield (
        "joined lines everywhere",
        {
            "a.py": TOOL.replace("return {", "return \\\n\\\n{")
            .replace("import tool", "import \\\n tool")
            .replace("@tool", "@\\\ntool")
        },
        "GL101 a.py:11",
    )


def suppressions() -> Iterator[Attempt]:
    def at(end: str) -> Files:
        return {"a.py": TOOL.replace("5}\n", f"5}}{end}\n")}

    yield "noqa in a returned string", {"a.py": TOOL.replace("5}", '5, "note": "# noqa"}')}, "GL101 a.py:7"
    yield "ignore-file in a docstring", {"a.py": '"""\n# gllint: ignore-file\n"""\n' + TOOL}, "GL101 a.py:10"
    yield (
        "flake8: noqa: of a file",
        {"a.py": "# flake8: noqa: GL101\n" + TOOL},
        "told: 1 finding is suppressed by comments",
    )
    yield (
        "noqa in an f-string",
        {"a.py": TOOL.replace("5}", '5, "note": f"{area}# noqa: GL101"}')},
        "GL101 a.py:7",
    )
    yield "noqa of another code", at("  # noqa: GL401"), "GL101 a.py:7"
    yield "noqa of a code in Cyrillic", at("  # noqa: GL1О1"), "GL101 a.py:7"
    yield "noqa of a sentence", at("  # noqa: because it is measured"), "GL101 a.py:7"
    yield "ignore of a star", at("  # gllint: ignore[*] x"), "GL101 a.py:7"
    yield (
        "ignore-file far down",
        {"a.py": TOOL + "\n" * 400 + "# gllint: ignore-file[GL101] x\n"},
        "GL101 a.py:7",
    )
    yield "noqa on the decorator", {"a.py": TOOL.replace("@tool\n", "@tool  # noqa: GL101\n")}, "GL101 a.py:7"
    yield "a real noqa", at("  # noqa: GL101"), "told: 1 finding is suppressed by comments"
    yield (
        "a real ignore-file of a group",
        {"a.py": "# gllint: ignore-file[GL1] x\n" + TOOL},
        "told: 1 finding is suppressed by comments",
    )


def configurations() -> Iterator[Attempt]:
    def with_(text: str, **more: str) -> Files:
        return {"gllint.toml": text + "\n", "a.py": TOOL, **more}

    yield "exclude everything", with_('exclude = ["*"]'), "told: `exclude` in gllint.toml limits"
    yield (
        "extend-exclude the file",
        with_('extend-exclude = ["a.py"]'),
        "told: `extend-exclude` in gllint.toml limits",
    )
    yield "select nothing", with_("select = []"), "told: `select` in gllint.toml limits"
    yield "ignore the rule", with_('ignore = ["GL101"]'), "told: `ignore` in gllint.toml limits"
    yield (
        "per-file-ignores",
        with_('[per-file-ignores]\n"*" = ["GL"]'),
        "told: `per-file-ignores` in gllint.toml limits",
    )
    yield "plain-keys of the key", with_('plain-keys = ["heat"]'), "told: `plain-keys` in gllint.toml limits"
    yield (
        "plain-kinds of everything",
        {
            **with_('plain-kinds = ["count", "index", "identifier"]'),
            "a.py": TOOL.replace('heat"', 'heat_kwh"'),
        },
        "GL101 a.py:7",
    )
    yield (
        "extend-units of the unit",
        {"gllint.toml": 'extend-units = ["flurbs"]\n', "a.py": UNIT},
        "told: `extend-units` in gllint.toml limits",
    )
    yield (
        "a pack with the unit",
        {"gllint.toml": 'unit-packs = ["counts"]\n', "a.py": UNIT.replace("flurbs", "item")},
        "told: `unit-packs` in gllint.toml limits",
    )
    yield (
        "a shape of a Quantity",
        {
            "gllint.toml": 'quantity-shapes = ["money"]\n',
            "a.py": tool(result='{"amount": 5, "currency": "EUR"}'),
        },
        "told: `quantity-shapes` in gllint.toml limits",
    )
    yield (
        "quantities in lists",
        {
            "gllint.toml": "array-paths = true\n",
            "a.py": tool(result='{"rows": [{"value": 5, "unit": "kWh"}]}'),
        },
        "told: `array-paths` in gllint.toml limits",
    )
    yield (
        "dispatchers, where all else is sound",
        {
            "gllint.toml": 'dispatchers = ["answer"]\n',
            "a.py": DIRECT.replace('{"heat": 5}', '{"area": area}'),
        },
        "told: `dispatchers` in gllint.toml limits",
    )
    yield (
        "whitelist-patterns of digits",
        {"gllint.toml": 'whitelist-patterns = ["[0-9]+"]\n', "a.py": MESSAGE},
        "told: `whitelist-patterns` in gllint.toml limits",
    )
    yield (
        "a baseline that is not there",
        with_('baseline = "no.json"'),
        "refused: cannot be read: No such file or director",
    )
    yield (
        "a framework that says not-tools",
        with_('[[frameworks]]\nname = "x"\nnot-tools = ["langchain_core.tools.tool"]'),
        "told: `frameworks` in gllint.toml limits",
    )
    yield (
        "an extend of an extend",
        with_('extend = "b.toml"', **{"b.toml": 'extend = "c.toml"\n', "c.toml": 'ignore = ["GL"]\n'}),
        "told: `ignore` in c.toml limits",
    )
    yield (
        "an extend in a circle",
        with_('extend = "b.toml"', **{"b.toml": 'extend = "gllint.toml"\n'}),
        "refused: key 'extend': ",
    )
    yield (
        "an extend of 200 files",
        with_(
            'extend = "0.toml"',
            **{
                f"{i}.toml": f'extend = "{i + 1}.toml"\n' if i < 199 else 'ignore = ["GL"]\n'
                for i in range(200)
            },
        ),
        "refused: key 'extend': more than 16 files",
    )
    yield (
        "a nested pyproject that selects nothing",
        with_("", **{"s/a.py": TOOL, "s/pyproject.toml": "[tool.gllint]\nselect = []\n", "a.py": "X = 1\n"}),
        "told: `select` in s/pyproject.toml limits",
    )
    yield (
        "both files",
        {"gllint.toml": 'exclude = ["*"]\n', "pyproject.toml": "[tool.gllint]\n", "a.py": TOOL},
        "told: `exclude` in gllint.toml limits",
    )
    yield (
        "setup.cfg",
        {
            "setup.cfg": "[gllint]\nexclude = *\n[flake8]\nexclude = *\nper-file-ignores = *:GL\n",
            "a.py": TOOL,
        },
        "GL101 a.py:7",
    )
    yield (
        "a rule plugin named in pyproject",
        {
            "pyproject.toml": '[project]\nname = "x"\n[project.entry-points."gllint.rules"]\nx = "a:x"\n[tool.gllint]\n',
            "a.py": TOOL,
        },
        "GL101 a.py:7",
    )
    yield "a dated cache-dir", with_('cache-dir = "a.py"'), "GL101 a.py:7"


def places() -> Iterator[Attempt]:
    yield (
        ".gitignore in a folder",
        {"s/.gitignore": "*\n", "s/a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: s/a.py",
    )
    yield (
        ".git/info/exclude",
        {
            ".git/info/exclude": "a.py\n",
            ".git/HEAD": "ref: refs/heads/main\n",
            "a.py": TOOL,
            "clean.py": CLEAN,
        },
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield (
        ".gitignore names what is imported",
        {".gitignore": "a.py\n", "a.py": TOOL, "clean.py": "import a\n"},
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield "a hidden folder", {".s/a.py": TOOL}, "GL101 .s/a.py:7"
    for folder in (
        ".venv",
        "venv",
        "node_modules",
        "build",
        "dist",
        ".tox",
        "site-packages",
        "__pycache__",
        "buck-out",
        ".vscode",
    ):
        yield (
            f"a folder named {folder}",
            {f"{folder}/a.py": TOOL, "clean.py": CLEAN},
            f"told: 1 file not checked, excluded by default: {folder}/a.py",
        )
    for name in (
        ".venv/lib/a.py",
        "build/lib/a.py",
        "node_modules/b/a.py",
        "_build/html/a.ipynb",
        ".git/hooks/a.py",
    ):
        yield (
            f"a file named {name}",
            {name: notebook([code(TOOL)]) if name.endswith(".ipynb") else TOOL, "clean.py": CLEAN},
            f"told: 1 file not checked, excluded by default: {name}",
        )
    for folder in ("target", "vendor", "third_party", "env", "Build", "build2"):
        yield (
            f"a folder named {folder}",
            {f"{folder}/a.py": TOOL, "clean.py": CLEAN},
            f"GL101 {folder}/a.py:7",
        )
    yield (
        "below a folder named build in a package",
        {"x/build/a.py": TOOL, "x/__init__.py": "", "x/build/__init__.py": ""},
        "told: 1 file not checked, excluded by default: x/build/a.py",
    )
    yield "a nested repository", {"s/.git/HEAD": "ref: refs/heads/main\n", "s/a.py": TOOL}, "GL101 s/a.py:7"
    yield "a stub", {"a.pyi": TOOL}, "GL101 a.pyi:7"
    for name in (".pyw", ".PY", ".Py", ".pYw", ".PYI"):
        yield f"a name that ends in {name!r}", {f"a{name}": TOOL, "clean.py": CLEAN}, f"GL101 a{name}:7"
    for name in (".pyx", ".pyc", ".txt", ".py ", ".pth"):
        yield (
            f"a name that ends in {name!r}, and nothing runs it",
            {f"a{name}": TOOL, "clean.py": CLEAN},
            "nothing: neither Python nor anything here runs it",
        )
    yield (
        "no ending but #!",
        {"agent": "#!/usr/bin/env python3\n" + TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, begins with #! and Python, but does not end in .py: agent",
    )
    for name in (
        "-rf.py",
        "--exit-zero.py",
        "--config=x.py",
        "@a.py",
        "a\nb.py",
        "a\x1b[2K.py",
        "con.py",
        "a b.py",
        "*.py",
        "[a].py",
        "a:1:2.py",
        "é.py",
        "é.py",
        "%s.py",
        "{x}.py",
        "~.py",
        "$HOME.py",
        "'.py",
        '".py',
        "a\\b.py",
        ".py",
        "..py",
        "\u202eyp.py",
        "a" * 240 + ".py",
        "__init__.py",
        "setup.py",
        "# noqa.py",
        "No findings.py",
    ):
        yield f"a file named {name[:30]!r}", {name: TOOL}, "GL101 :7"
    yield "a name that is no UTF-8", {os.fsdecode(b"a\xff.py"): TOOL}, "GL101 a\\udcff.py:7"


def links() -> Iterator[Attempt]:
    yield "a file", {"a.py": Link("b.txt"), "b.txt": TOOL}, "GL101 a.py:7"
    yield (
        "a folder outside",
        {"s": Link("../outside"), "../outside/a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, behind a link that leads elsewhere: s/a.py",
    )
    yield "a file outside", {"a.py": Link("../outside/a.py"), "../outside/a.py": TOOL}, "GL101 a.py:7"
    yield "a loop of folders", {"s/t": Link("../../p"), "s/a.py": TOOL}, "GL101 s/a.py:7"
    yield (
        "a configuration behind a link",
        {"gllint.toml": Link("x.txt"), "x.txt": 'ignore = ["GL"]\n', "a.py": TOOL},
        "told: `ignore` in gllint.toml limits",
    )
    yield (
        "a .gitignore behind a link",
        {".gitignore": Link("x.txt"), "x.txt": "a.py\n", "a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: a.py",
    )


def sizes() -> Iterator[Attempt]:
    yield "200,001 lines", {"a.py": TOOL + "\n" * 200_001}, "told: not checked, too large to read"
    yield "more than 4 MB", {"a.py": TOOL + "# x\n" * 1_000_001}, "told: not checked, too large to read"
    yield "5,000 parentheses", {"a.py": tool(result="(" * 5000 + '{"heat": 5}' + ")" * 5000)}, "GL900 a.py:7"
    yield "a number in nested dicts", {"a.py": tool(result='{"a": ' * 80 + "5" + "}" * 80)}, "GL101 a.py:7"
    yield (
        "a sum of 5,000 terms",
        {"a.py": tool(result='{"heat": ' + " + ".join(["area.x"] * 5000 + ["1"]) + "}")},
        "GL101 a.py:7",
    )
    yield (
        "a message of doubled templates",
        {
            "a.py": 'S0 = "9500 kWh"\n'
            + "".join(f'S{i + 1} = "{{}}{{}}".format(S{i}, S{i})\n' for i in range(26))
            + "FINAL_MESSAGE = S26\n"
        },
        "told: too complex to follow",
    )
    yield "a conflict marker", {"a.py": "<<<<<<< HEAD\n" + TOOL}, "GL900 a.py:1"


def notebook(cells: list[object], **top: object) -> str:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}, **top})


def code(text: str, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": text.splitlines(True), "metadata": {}, "outputs": [], **more}


def notebooks() -> Iterator[Attempt]:
    yield "a notebook", {"a.ipynb": notebook([code(TOOL)])}, "GL101 a.ipynb:cell 1:7"
    yield (
        "a Markdown cell",
        {"a.ipynb": notebook([{**code(TOOL), "cell_type": "markdown"}])},
        "nothing: no cell of code, so that nothing runs it",
    )
    yield (
        "%%writefile of a module",
        {"a.ipynb": notebook([code("%%writefile agent.py\n" + TOOL)])},
        "GL101 a.ipynb:cell 1:8",
    )
    for magic in (
        "%%file a.py",
        "%%writefile -a a.py",
        "%%script python",
        "%%ipython",
        "%%px",
        "%%skip",
        "%%a_magic x",
    ):
        yield magic, {"a.ipynb": notebook([code(f"{magic}\n" + TOOL)])}, "GL101 a.ipynb:cell 1:8"
    yield (
        "%run and !",
        {"a.ipynb": notebook([code("%load_ext x\n!pip install x\nx = !ls\n?x\nx??\n" + TOOL)])},
        "GL101 a.ipynb:cell 1:12",
    )
    yield "broken JSON", {"a.ipynb": notebook([code(TOOL)])[:-3]}, "GL900 a.ipynb:1"
    yield (
        "a tool behind a cell with a syntax error",
        {"a.ipynb": notebook([code("x = ("), code(TOOL)])},
        "GL101 a.ipynb:cell 2:7",
    )
    yield (
        "output cells",
        {"a.ipynb": notebook([code("x", outputs=[{"output_type": "stream", "text": MESSAGE}])])},
        "nothing: no cell of code, so that nothing runs it",
    )
    yield (
        "checkpoints",
        {".ipynb_checkpoints/a-checkpoint.ipynb": notebook([code(TOOL)]), "clean.py": CLEAN},
        "told: 1 file not checked, excluded by default: .ipynb_checkpoints/a-checkpoint.ipynb",
    )


def names() -> Iterator[Attempt]:
    yield (
        "an assigned method",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\ndef f(self, area):\n    return {"heat": 5}\n\n\nclass A(BaseTool):\n    name: str = "a"\n\n\nA._run = f\n'
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "locals()",
        {"a.py": tool(result="locals()").replace("    return", "    heat = 5\n    return")},
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "a JSON file",
        {"a.py": tool(result="json.load(open('x.json'))", head="import json"), "x.json": '{"heat": 5}'},
        "told: Not checked: 1 (unknown result",
    )


KINDS: tuple[Callable[[], Iterator[Attempt]], ...] = (
    encodings, lookalikes, line_ends, suppressions, configurations, places, links, sizes, notebooks, names
)  # fmt: skip
BARE = re.compile(
    r"No findings in \d+ files?\.\n(?:No tools found\. .+\n)?"
    r"|No Python files were found at the paths given\.\n"
)
NO_FILE_OF_WINDOWS = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems refuse some of the names"
)


def _attempts() -> Iterator[ParameterSet]:
    for kind in KINDS:
        for number, (name, files, outcome) in enumerate(kind()):
            missed = outcome.removeprefix("missed: ") if outcome.startswith("missed: ") else ""
            marks = [pytest.mark.xfail(reason=missed, strict=True, raises=AssertionError)] if missed else []
            shown = ascii(name)[1:-1].replace("\\", "/")
            yield pytest.param(files, outcome, marks=marks, id=f"{kind.__name__}-{number}-{shown}")


def _write(top: Path, files: Files) -> None:
    top.mkdir()
    if not any(name.endswith(".toml") for name in files):
        (top / "gllint.toml").touch()
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            path.symlink_to(content.target)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


@NO_FILE_OF_WINDOWS
@pytest.mark.parametrize(("files", "outcome"), list(_attempts()))
def test_nobody_is_told_only_that_there_are_no_findings(
    files: Files, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "p", files)
    monkeypatch.chdir(tmp_path / "p")
    try:
        done = CliRunner().invoke(cli, ["check", "--output-format", "concise"], catch_exceptions=False)
    except UsageError as error:
        assert outcome.startswith("refused: ")
        assert outcome.removeprefix("refused: ") in str(error)
        return
    if outcome.startswith("missed: "):
        assert done.stdout or not BARE.fullmatch(done.stderr)
    elif outcome.startswith("nothing: "):
        assert not done.stdout and BARE.fullmatch(done.stderr)
    elif outcome.startswith("told: "):
        assert done.exit_code == 0
        assert outcome.removeprefix("told: ") in done.stderr
    else:
        code, place = outcome.split(" ", 1)
        assert any(f"{place}:" in line and f": {code} " in line for line in done.stdout.splitlines()), (
            done.stderr
        )
