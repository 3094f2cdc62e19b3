"""Notebooks: the findings of the same code in a module, at the right cells, and fixes that keep every other byte."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint.files.notebooks import Notebook, as_python, read
from gllint.files.source import Undecodable, decode

Write = Callable[..., Path]
Run = Callable[..., Any]
Check = Callable[..., list[str]]


def notebook(*cells: str | list[str] | dict[str, Any], **more: Any) -> bytes:
    """A notebook of these code cells; a dict is a cell as it stands."""
    made = [
        cell
        if isinstance(cell, dict)
        else {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        for cell in cells
    ]
    document = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
    return (json.dumps(document, indent=1) + "\n").encode()


TEXT = {"cell_type": "markdown", "metadata": {}, "source": ["# 500 kWh\n"]}
IMPORT = ["%pip install langchain\n", "from langchain_core.tools import tool\n", "files = !ls"]
TOOL = '@tool\ndef f(rows: list, x) -> dict:\n    """É 😀."""\n    return {"é": "é", "total_kwh": 3 * float(x), "n": len(rows)}\ntool?\n'


def test_the_findings_are_those_of_the_module_at_the_right_cells(write: Write, check: Check) -> None:
    top = write({"n.ipynb": notebook(TEXT, IMPORT, "%%bash\necho 9\n", TOOL)})
    assert check(cwd=top, whole=True) == [
        "n.ipynb:cell 4:4:36: GL101 `total_kwh` in the result of tool `f` is a number without a unit",
        "n.ipynb:cell 4:4:55: GL101 `n` in the result of tool `f` is a number without a unit",
    ]


def test_every_format_names_the_cell(write: Write, run: Run) -> None:
    data = notebook(TEXT, IMPORT, TOOL)
    top = write({"n.ipynb": data})
    line = next(i for i, text in enumerate(data.decode().splitlines(), 1) if "total_kwh" in text)

    def told(name: str) -> str:
        done = run("check", "--output-format", name, cwd=top)
        assert done.returncode == 1
        text: str = done.stdout.decode()
        return text

    [first, _] = json.loads(told("json"))
    assert (first["cell"], first["line"], first["column"], first["end_line"]) == (3, 4, 36, 4)
    assert {(edit["cell"], edit["line"]) for edit in first["fix"]["edits"]} == {(3, 4)}
    full = told("full")
    assert (
        "n.ipynb:cell 3:4:36: GL101" in full and '\n4 |     return {"é"' in full and "langchain" not in full
    )
    assert f"file=n.ipynb,line={line},endLine={line}" in told("github") and "cell 3:4:36" in told("github")
    [gitlab, _] = json.loads(told("gitlab"))
    assert (
        gitlab["location"]["positions"]["begin"]["line"] == line and "cell 3, 4:36" in gitlab["description"]
    )
    result = json.loads(told("sarif"))["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line
    assert "cell 3, 4:36" in result["message"]["text"] and "fixes" not in result
    assert "GL101 at cell 3:4:36" in told("junit")


@pytest.mark.parametrize("as_list", [True, False])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_fix_keeps_every_other_byte(write: Write, run: Run, as_list: bool, ascii_only: bool) -> None:
    document = json.loads(notebook(TEXT, IMPORT, TOOL.splitlines(keepends=True) if as_list else TOOL))
    before = json.dumps(document, indent=3, ensure_ascii=ascii_only).replace(
        '"nbformat": 4', '"nbformat":  4'
    )
    top = write({"n.ipynb": before})
    assert run("check", "--fix", "--unsafe-fixes", cwd=top).returncode == 1
    after = (top / "n.ipynb").read_bytes().decode()
    fixed = '{\\"value\\": 3 * float(x), \\"unit\\": \\"kWh\\"}'
    assert after == before.replace("3 * float(x)", fixed)
    assert run("check", "--add-noqa", cwd=top).returncode == 0
    assert run("check", cwd=top).returncode == 0
    assert '\\"n\\": len(rows)}  # noqa: GL101\\n' in (top / "n.ipynb").read_text()


def test_fixes_of_neighbouring_cells_go_to_their_own(write: Write, run: Run) -> None:
    cells = [f"v{number} = {number}  # noqa: GL401" for number in range(3)]
    top = write({"n.ipynb": notebook(*cells)})
    assert run("check", "--fix", "--unsafe-fixes", cwd=top).returncode == 0
    assert (top / "n.ipynb").read_bytes() == notebook("v0 = 0", "v1 = 1", "v2 = 2")


@pytest.mark.parametrize(
    ("cells", "at", "after"),
    [
        (["a = 1", "%%time\nb = 2"], 6, ["a = 1\nnew = 0", "%%time\nb = 2"]),
        (["a = 1\n", "b = 2"], 6, ["a = 1\nnew = 0\n", "b = 2"]),
        (["%%time\na = 1"], 0, ["%%time\nnew = 0\na = 1"]),
        (["%%time", "a = 1"], 0, ["%%time\nnew = 0\n", "a = 1"]),
        (["\n%%time\na = 1"], 0, ["\n%%time\nnew = 0\na = 1"]),
        (["a = 1\r\nb = 2"], 7, ["a = 1\r\nnew = 0\nb = 2"]),
        (["a = 1", "b = 2"], 12, ["a = 1", "b = 2\nnew = 0"]),
        (["!ls\na = 1"], 0, ["new = 0\n!ls\na = 1"]),
        (["a = 1", "%%bash\nls", "b = 2"], 6, ["a = 1\nnew = 0", "%%bash\nls", "b = 2"]),
    ],
)
def test_whole_lines_are_put_into_the_cell_that_they_belong_to(
    cells: list[str], at: int, after: list[str]
) -> None:
    for data, expected in (
        (notebook(*cells), notebook(*after)),
        (notebook(*(cell.splitlines(keepends=True) for cell in cells)), None),
    ):
        found = read(data)
        assert isinstance(found, Notebook)
        made = found.with_changes([(at, at, "new = 0\n")])
        assert ["".join(cell["source"]) for cell in json.loads(made)["cells"]] == after
        assert expected in (None, made)
    with pytest.raises(ValueError, match="several cells"):
        read(notebook("a", "b")).with_changes([(0, 4, "c\n")])  # type: ignore[union-attr]


def test_diff_and_standard_input(write: Write, run: Run) -> None:
    data = notebook(IMPORT, TOOL)
    top = write({"n.ipynb": data})
    shown = run("check", "--diff", "--unsafe-fixes", cwd=top).stdout.decode()
    assert shown.count("\n+") == 2 and "kWh" in shown
    done = run("check", "-", "--stdin-filename", "n.ipynb", "--output-format", "concise", cwd=top, stdin=data)
    assert done.stdout.startswith(b"n.ipynb:cell 2:4:36: GL101")
    assert (top / "n.ipynb").read_bytes() == data


def test_a_broken_cell_costs_no_other_cell(write: Write, check: Check) -> None:
    top = write(
        {"n.ipynb": notebook(IMPORT, ["x = 1\n", "def half(: return 2  # noqa: GL101"], TOOL, "1 = 2")}
    )
    assert check(cwd=top, whole=True) == [
        "n.ipynb:cell 2:2:10: GL900 invalid syntax",
        "n.ipynb:cell 3:4:36: GL101 `total_kwh` in the result of tool `f` is a number without a unit",
        "n.ipynb:cell 3:4:55: GL101 `n` in the result of tool `f` is a number without a unit",
        "n.ipynb:cell 4:1:1: GL900 cannot assign to literal here. Maybe you meant '==' instead of '='?",
    ]


@pytest.mark.parametrize("code", ["area_m² = 5", "import os, ²", "x = '\0'"])
def test_a_character_that_no_python_has_costs_no_other_cell(write: Write, check: Check, code: str) -> None:
    lines = check(cwd=write({"n.ipynb": notebook(IMPORT, code, TOOL)}), whole=True)
    assert [line.split()[2] for line in lines] == ["GL900", "GL101", "GL101"]


def test_a_comment_declares_nothing_unread(write: Write, check: Check) -> None:
    comment = "# gllint reads no such cell, 99:7: x\n"
    top = write(
        {
            "n.ipynb": notebook(IMPORT, comment + TOOL),
            "t.py": IMPORT[1] + comment + TOOL.replace("tool?\n", ""),
        }
    )
    lines = check("t.py", "n.ipynb", cwd=top, whole=True)
    assert [line.partition(" GL")[2][:3] for line in lines] == ["101"] * 4


def test_the_lines_of_a_broken_cell_are_shown_as_they_are_written(write: Write, run: Run) -> None:
    top = write({"n.ipynb": notebook(IMPORT, TOOL, "%pip install x\nx += = 1  # noqa")})
    done = run("check", cwd=top).stdout.decode()
    assert (
        "\n 1 | %pip install x\n 2 | x += = 1  # noqa\n   |      ^\n" in done
        and "This cell was not checked" in done
    )


@pytest.mark.parametrize("name", ["n", "other"])
def test_nothing_that_may_rest_on_a_broken_cell_is_judged(write: Write, run: Run, name: str) -> None:
    tool = "from langchain_core.tools import tool\n\n\n@tool\ndef f():\n    return {}  # noqa: GL101\n"
    files = {"n.ipynb": notebook("import other\nx = = 1", *([tool] if name == "n" else []))}
    top = write(files if name == "n" else {**files, "other.py": tool})
    done = run("check", "--select", "ALL", cwd=top)
    assert b"GL901" not in done.stdout and (name == "n" or b"1 suppression" in done.stderr)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = b = 1; c += 2\nd: int = 3", "a b c d"),
        ("for a, (b, c) in x: d = 1", "a b c d"),
        ("import a.b as c, d\nfrom e import (f,\n  g as h)\nprint(i)", "a b c d f g h"),
        ("def a(b, c=1): pass\nclass d: pass\nasync def e(): pass", "a d e"),
        ("with open(x) as a, b() as c: pass\nif (d := 1) == 2: e = 3", "a c d e"),
        ("a.b = 1\nc[0], *d = 2\nf(x=1)\ny == z\n(e, f) = 3", "a b c d e f"),
        ("a <<= 1\nb >>= 2\nc <= d\nimportant", "a b"),
        ("a² = 1\nfor ² in b: c = 1", "c"),
    ],
)
def test_what_a_broken_cell_binds_is_not_known(code: str, names: str) -> None:
    made = read(notebook("import a", f"{code}\n1 = 2"))
    assert isinstance(made, Notebook)
    [bound] = [line for line in made.source.splitlines() if "get_ipython()" in line]
    assert sorted(bound.partition("get_ipython()")[0].replace(" = ", " ").split()) == names.split()


def test_a_number_that_a_broken_cell_may_replace_is_not_known(write: Write, check: Check) -> None:
    message = "FINAL_MESSAGE = f'The building needs {x} kWh.'"
    top = write({"n.ipynb": notebook("x = 9500", "if a:\n    x = = 1", message)})
    assert check(cwd=top, whole=True) == ["n.ipynb:cell 2:2:9: GL900 invalid syntax"]


@pytest.mark.parametrize(
    "piece", ["for ", "import (", "x:", "a = ", "f(", "as ", "=", "x   ", "é", "\t", "if "]
)
def test_a_broken_cell_of_one_piece_again_and_again_is_read_at_once(piece: str) -> None:
    made = read(notebook(f"1 = {piece * 20_000}\n$"))
    assert isinstance(made, Notebook) and "get_ipython()" in made.source


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "1:2: GL900 not valid JSON: Expecting property name"),
        (b"[]", "GL900 not a notebook: it is not a JSON object"),
        (b"{}", "GL900 not a notebook: it has no list of cells"),
        (b'{"cells": [3]}', "GL900 not a notebook: cell 1 is not an object"),
        (notebook({"cell_type": "code", "source": [1]}), "GL900 not a notebook: the source of cell 1 is not text"),
        (b'{"cells": "\xff"}', "GL900 not utf-8 text"),
        ("{}".encode("utf-16"), "GL900 not utf-8 text"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (notebook("x = 1", "y = (\n"), "n.ipynb:cell 2:1:5: GL900"),
        (notebook("x = 1\0"), "GL900 source code contains a null byte"),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_said(write: Write, run: Run, content: bytes, said: str) -> None:
    done = run("check", "n.ipynb", "--output-format", "concise", cwd=write({"n.ipynb": content}))
    assert (done.returncode, said in done.stdout.decode()) == (1, True), done
    assert done.stdout.count(b"\n") == 1 and b"internal" not in done.stderr


@pytest.mark.parametrize(
    "content",
    [
        b"", b" \n", notebook(), notebook(""), notebook({"cell_type": "raw", "source": 3}),
        notebook("print 'R'", metadata={"kernelspec": {"language": "R"}}), b"\xef\xbb\xbf" + notebook("x = 1"),
        notebook("%%R\nx <- (\n"), notebook("x = '\ud800'"), notebook("# -*- coding: latin-1 -*-\nx = 'é'"),
        notebook({"cell_type": "code"}), notebook("await x\nfor i in y:\n    !ls {i}\n"), notebook("x = 1", metadata=[]),
    ],
)  # fmt: skip
def test_what_has_no_findings(write: Write, check: Check, content: bytes) -> None:
    assert check("n.ipynb", cwd=write({"n.ipynb": content})) == []


@pytest.mark.parametrize(
    ("code", "python"),
    [
        ("%matplotlib inline\nx = 1", ["pass", "x = 1"]),
        ("if x:\n    !ls\n", ["if x:", "    pass"]),
        ("out = !ls -l\n", ["out = get_ipython()"]),
        ("a = %timeit -o f()\n", ["a = get_ipython()"]),
        ("!ls \\\n  -l\nx = 1", ["pass", "", "x = 1"]),
        ("df?\n?df\nx[1]??", ["pass", "pass", "pass"]),
        ("%%time\nx = 1\n", ["", "x = 1"]),
        ("%ls\nx = '''\n%no\n!no\n'''\n", ["pass", "x = '''", "%no", "!no", "'''"]),
        ("%ls\nx = (3\n% 4)\n", ["pass", "x = (3", "% 4)"]),
        ("%ls\nx = 3 \\\n% 4\n", ["pass", "x = 3 \\", "% 4"]),
        ("%ls\nx = 'a'  # what?\n", ["pass", "x = 'a'  # what?"]),
        ("%ls\ny = x != 3\n", ["pass", "y = x != 3"]),
        ("pip install -U langchain==0.3\nx = 1", ["pass", "x = 1"]),
        ("if x:\n    cd ../data\n", ["if x:", "    pass"]),
        ("pip = 3\n!ls\npip - x\nenv = {\n}", ["pip = 3", "pass", "pip - x", "env = {", "}"]),
        ("!ls\nx = (\ntime if y else\nz)", ["pass", "x = (", "time if y else", "z)"]),
        ("%ls\ny = 'don\\'t' '!'\n", ["pass", "y = 'don\\'t' '!'"]),
    ],
)
def test_what_only_ipython_reads_is_left_out(code: str, python: list[str]) -> None:
    found = read(notebook(code))
    assert isinstance(found, Notebook)
    assert found.source.splitlines() == python


def test_cells_share_names_and_suppressions_count(write: Write, check: Check) -> None:
    tool = '@tool\ndef f(rows: list):\n    return {"x": HOW_MANY}  # gllint: ignore[GL101] shown to nobody\n'
    top = write({"n.ipynb": notebook("HOW_MANY = 3", IMPORT, tool, "# gllint: off")})
    assert check(cwd=top, whole=True) == [
        "n.ipynb:cell 4:1:1: GL902 this suppression is malformed and has no effect"
    ]


def test_since_goes_by_the_lines_of_the_file(write: Write, check: Check) -> None:
    other = TOOL.replace("def f", "def g").replace("total_kwh", "other_kwh")
    cells = [TEXT, IMPORT, TOOL.splitlines(keepends=True), other.splitlines(keepends=True)]
    top = write({"n.ipynb": notebook(*cells)})
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "old"]):
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *command]
        subprocess.run(git, cwd=top, check=True)
    assert check("--since", "HEAD", cwd=top) == []
    cells[3] = [line.replace("3 *", "4 *") for line in cells[3]]
    write({"n.ipynb": notebook(*cells)})
    found = check("--since", "HEAD", cwd=top, whole=True)
    assert [line.partition(" GL101")[0] for line in found] == ["n.ipynb:cell 4:4:36:", "n.ipynb:cell 4:4:55:"]


def test_checkpoints_are_left_out(write: Write, check: Check) -> None:
    top = write({".ipynb_checkpoints/n.ipynb": notebook(IMPORT, TOOL), "a.py": ""})
    assert check(cwd=top) == []


# ----------------------------------------------------------------------------------------------- hostile

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "source", "cell_type", "metadata", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
_SOURCE = st.text(
    st.characters() | st.sampled_from(list("%!?\"'\\\n\r()[]{}#= \ud800\0\x0c\u2028")), max_size=60
)
_CELL = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", 3])},
    optional={"source": _SOURCE | st.lists(_SOURCE, max_size=4)},
)


@settings(max_examples=300)
@given(
    st.lists(_CELL, max_size=4).map(lambda cells: {"cells": cells}) | _JSON, st.booleans(), st.integers(0, 2)
)
def test_no_notebook_breaks_it(document: Any, ascii_only: bool, mangled: int) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    for _ in range(mangled):
        at = random.Random(len(data)).randrange(len(data) + 1)
        data = data[:at] + b"\xc3" + data[at + 1 :]
    python = as_python(data)
    found = read(data)
    try:
        text = decode(python).source
    except Undecodable:
        assert isinstance(found, str) or "\0" in found.source
        return
    assert isinstance(found, Notebook) and text == found.source
    assert found.with_changes(()) == (data if found.lines or found.text else b"") or not found.text
    for line in range(1, text.count("\n") + 2):
        place = found.place(line)
        assert place.cell >= 1 and place.line >= 1 and 1 <= place.file_line <= data.count(b"\n") + 1


@settings(max_examples=200)
@given(
    st.lists(st.text(st.sampled_from(list('ab =1é😀"\\\t')), max_size=12), min_size=1, max_size=4), st.data()
)
def test_what_is_put_into_a_line_comes_back(lines: list[str], data: Any) -> None:
    raw = notebook(TEXT, [f"{line}\n" for line in lines], "z = 1\n")
    found = read(raw)
    assert isinstance(found, Notebook)
    if not found.lines:
        return
    whole = found.source.split("\n")
    number = data.draw(st.integers(0, len(whole) - 2))
    new = data.draw(st.text(st.sampled_from(list('xy é"\\😀')), max_size=8))
    at = data.draw(st.integers(0, min(len(whole[number]), len(found.written[number]))))
    offset = sum(len(line) + 1 for line in whole[:number]) + at
    again = read(found.with_changes([(offset, offset, new)]))
    assert isinstance(again, Notebook)
    assert [line.cell for line in again.lines] == [line.cell for line in found.lines]
    assert json.loads(again.text)["cells"][0] == TEXT
