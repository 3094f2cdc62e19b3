"""Suppressions: which findings they take away, and which of them are reported as unused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gllint.files.source import Offsets, changed
from gllint.run import fixer
from gllint.run.screening import MARKED, screen_bytes
from gllint.verdict import suppress
from gllint.verdict.noqa import AS_IGNORE, add_noqa, suppressing
from gllint.verdict.suppress import Comments
from gllint_rules import RULES, Edit, Finding, Settings, Span

Write = Callable[..., Path]
CODES = frozenset(code for code, rule in RULES.items() if rule.default)


def finding(line: int, code: str = "GL401", column: int = 1) -> Finding:
    return Finding(code, "/a.py", Span(line, column, line, column + 1), "m")


def apply(path: str, source: str, *rest: Any, **options: Any) -> tuple[Finding, ...]:
    return suppress.apply(path, Comments(source), *rest, **options)


def left(source: str, *findings: Finding, codes: frozenset[str] = CODES, noqa: bool = True) -> list[str]:
    return [f"{f.span.line} {f.code}" for f in apply("/a.py", source, findings, codes, noqa=noqa)]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa", "# NOQA", "#noqa", "# noqa: GL401", "# noqa:GL401", "# NoQA: GL401", "# noqa: gl401", "# noqa: GL4",
        "# noqa: E501,GL401", "# noqa: E501, GL401 because", "# noqa: E501 GL401", "# why  # noqa: GL401",
        "# gllint: ignore[GL401]", "# gllint: ignore[GL401] a reason", "# gllint:ignore[GL401, GL101]",
        "# gllint: ignore[GL4]", "# type: ignore # gllint: ignore[GL401]", "# gllint: ignore[naked-number] why",
        "# gllint: ignore[GL101, Naked-Number]", "# gllint: ignore[gl]", "# GLLINT: Ignore [GL401]",
    ],
)  # fmt: skip
def test_what_suppresses(comment: str) -> None:
    assert left(f"x = 1  {comment}\n", finding(1), codes=CODES - {"GL901"}) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: GL101",
        "# gllint: ignore[GL1]",
        "# see gllint: ignore[GL401]",
        "# no qa",
        "# noqua",
        "x # noqb",
    ],
)
def test_what_does_not(comment: str) -> None:
    assert left(f"x = 1  {comment}\n", finding(1), codes=CODES - {"GL901"}) == ["1 GL401"]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# gllint: ignore", "Write `# gllint: ignore[GL401] reason`"),
        ("# gllint: ignore GL401", "Write `# gllint: ignore[GL401]`"),
        ("# gllint: disable=GL401", "Write `# gllint: ignore[GL401]`"),
        ("# gllint: disable=naked-number, GL5 because", "Write `# gllint: ignore[naked-number, GL5]`"),
        ("# gllint: ignore[GL401", "Write `# gllint: ignore[GL401]`"),
        ("# gllint: ignore(GL401)", "Write `# gllint: ignore[GL401]`"),
        ("# gllint: ignore-next-line[GL401]", "Write `# gllint: ignore[GL401]`"),
        ("# gllint: nothing", "is malformed"),
        ("# gllint:", "is malformed"),
        ("# gllint: off", "is malformed"),
        ("# gllint: ignore[]", "has no code"),
        ("# gllint: ignore[, ]", "has no code"),
        ("# gllint: ignore[GL999] r", "`GL999` is not a code"),
        ("# gllint: ignore[naked-numbers]", "Did you mean 'naked-number'?"),
        ("# gllint: ignore[E501, xyz]", "`E501`, `xyz` is not a code"),
        ("# type: ignore # gllint: skip", "is malformed"),
        ("# gllint: ignore-file", "Write"),
    ],
)
def test_what_cannot_be_read_suppresses_nothing_and_is_said(comment: str, said: str) -> None:
    found = apply("/a.py", f"x = 1  {comment}\n", [finding(1)], CODES)
    assert sorted(f.code for f in found) == ["GL401", "GL902"]
    wrong = next(f for f in found if f.code == "GL902")
    assert said in f"{wrong.message}. {wrong.help}"
    column = comment.index("# gllint") + 8
    assert (wrong.span.line, wrong.span.column) == (1, column)
    assert left(f"x = 1  {comment}\n", finding(1), codes=CODES - {"GL902"}) == ["1 GL401"]


@pytest.mark.parametrize(
    ("comment", "wrong", "said"),
    [
        ("# noqa: GL4O1", "GL4O1", "Did you mean 'GL401'?"),
        ("# noqa: GL401x", "GL401x", "is not a code"),
        ("# noqa:GL401GL101", "GL401GL101", "is not a code"),
        ("# noqa : GL4l1", "GL4l1", "is not a code"),
        ("# noqa: gl4o1", "gl4o1", "is not a code"),
        ("# type: ignore  # noqa: GL4O1", "GL4O1", "is not a code"),
        ("# noqa： GL401", "# noqa： GL401", "Write `# gllint: ignore[GL401]`"),
        ("# noqa꞉ GL401", "# noqa꞉ GL401", "Write `# gllint: ignore[GL401]`"),
        ("# noqa GL401", "# noqa GL401", "Write `# gllint: ignore[GL401]`"),
        ("# noqa(GL401)", "# noqa(GL401)", "Write `# gllint: ignore[GL401]`"),
        ("# noqa - GL401  # why", "# noqa - GL401", "Write `# gllint: ignore[GL401]`"),
        ("# noqa: GL", "# noqa: GL", "is malformed"),
    ],
)
def test_a_noqa_that_cannot_be_read_suppresses_nothing_and_is_said(
    comment: str, wrong: str, said: str
) -> None:
    found = apply("/a.py", f"x = 1  {comment}\n", [finding(1)], CODES)
    assert sorted(f.code for f in found) == ["GL401", "GL902"]
    (told,) = [f for f in found if f.code == "GL902"]
    assert said in f"{told.message}. {told.help}"
    column = 8 + comment.index(wrong)
    assert told.span == Span(1, column, 1, column + len(wrong))


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa E501",
        "# noqa: because",
        "# noqa:",
        "# noqa: E5O1",
        "# noqa: E501x",
        "# noqaGL401",
        "# noqa F401 why",
    ],
)
def test_a_noqa_of_others_that_cannot_be_read_suppresses_nothing_of_ours(comment: str) -> None:
    assert left(f"x = 1  {comment}\n", finding(1)) == ["1 GL401"]
    assert left(f"x = 1  {comment}\n") == []


@pytest.mark.parametrize(
    "comment",
    ["# noqa because", "# noqa - see #12", "# noqa  # E501", "# noqa  # GL401", "# noqa, 3 of them"],
)
def test_a_noqa_with_a_reason_suppresses_everything(comment: str) -> None:
    assert left(f"x = 1  {comment}\n", finding(1)) == []


def test_what_a_noqa_names_beside_what_is_no_code_is_suppressed() -> None:
    found = apply("/a.py", "x = 1  # noqa: GL401, GL1O1 why\n", [finding(1)], CODES)
    assert [(f.code, "`GL1O1` is not a code" in f.message) for f in found] == [("GL902", True)]
    assert left("x = 1  # noqa: GL401 as GL1O1 says\n", finding(1)) == []


def test_what_is_known_beside_what_is_not_suppresses() -> None:
    found = apply("/a.py", "x = 1  # gllint: ignore[GL401, GL999] r\n", [finding(1)], CODES)
    assert [(f.code, "`GL999` is not a code" in f.message) for f in found] == [("GL902", True)]


def test_an_invalid_suppression_does_not_hide_itself_and_others_may() -> None:
    assert left("x = 1  # gllint: ignore[GL902, GL999]\n") == ["1 GL902"]
    assert left("# gllint: ignore-file[GL9]\nx = 1  # gllint: off\n") == []
    assert left("x = 1  # gllint: off  # noqa: GL902\n") == []


@pytest.mark.parametrize(
    ("comment", "given"),
    [
        ("# gllint: ignore[GL401] measured by hand", True),
        ("# gllint: ignore[GL401]: measured by hand", True),
        ("# gllint: ignore[GL401] w", True),
        ("# gllint: ignore[GL401] #12", True),
        ("# gllint: ignore[GL401]", False),
        ("# gllint: ignore[GL401]  # type: ignore", False),
        ("# gllint: ignore[GL401] -", False),
        ("# noqa: GL401", True),
    ],
)
def test_a_reason_can_be_required(comment: str, given: bool) -> None:
    text = f"x = 1  {comment}\n"
    found = apply("/a.py", text, [finding(1)], CODES, require_reason=True)
    assert [f.code for f in found] == ([] if given else ["GL902"])
    assert apply("/a.py", text, [finding(1)], CODES) == ()


def test_the_fix_of_an_invalid_suppression_is_one_that_can_be_read() -> None:
    before = "x = 1  # gllint: disable=GL401 by hand\n"
    (wrong,) = [f for f in apply("/a.py", before, [finding(1)], CODES) if f.code == "GL902"]
    assert wrong.fix is not None and wrong.fix.applicability == "unsafe"
    after, _ = fixer.apply(before, [wrong.fix])
    assert apply("/a.py", after, [finding(1)], CODES) == ()


def test_names_and_codes_are_told_apart_when_unused() -> None:
    source = "x = 1  # gllint: ignore[raw-number-in-result, naked-number] r\n"
    (found,) = apply("/a.py", source, [finding(1)], CODES)
    assert "raw-number-in-result" in found.message and found.fix is not None
    assert fixer.apply(source, [found.fix])[0] == "x = 1  # gllint: ignore[naked-number] r\n"


def test_invalid_suppressions_are_found_wherever_they_stand(
    write: Write, check: Callable[..., list[str]], run: Callable[..., Any]
) -> None:
    top = write({"gllint.toml": "require-reason = true\n", "plain.py": "x = 1  # gllint: disable=all\n"})
    write({"other.py": "y = 2  # gllint: ignore[GL401]\n"})
    wanted = ["other.py:1:8: GL901", "other.py:1:8: GL902", "plain.py:1:8: GL902"]
    assert check(cwd=top) == wanted
    done = run("check", "--isolated", "--select", "GL9", cwd=top)
    assert done.returncode == 1 and done.stdout.count(b"GL902") == 1


def test_a_noqa_speaks_of_its_logical_line() -> None:
    text = 'x = """\none\ntwo\n"""  # noqa: GL401\ny = 1\n'
    assert left(text, finding(2), finding(3), finding(5)) == ["5 GL401"]
    slashed = "x = 1 + \\\n    2  # noqa: GL401\n"
    assert left(slashed, finding(1)) == []
    bracket = "x = [\n    1,\n    2,  # noqa: GL401\n]\n"
    assert left(bracket, finding(2), finding(3)) == ["2 GL401"]


def test_a_comment_on_its_own_line_speaks_of_the_next() -> None:
    text = "# gllint: ignore[GL401] measured\n\n# more\nx = '''\n1\n'''\ny = 1\n"
    assert left(text, finding(5), finding(7)) == ["7 GL401"]
    inside = "x = [\n    # gllint: ignore[GL401] measured\n    1,\n    2,\n]\n"
    assert left(inside, finding(3), finding(4)) == ["4 GL401"]
    assert left("# noqa: GL401\nx = 1\ny = 1\n", finding(2), finding(3)) == ["3 GL401"]


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        # The first and the last line of a simple statement, and a line above it.
        ("x = [  # C\n    1,\n    2,\n]\ny = 1\n", {5}),
        ("x = [\n    1,\n    2,\n]  # C\ny = 1\n", {5}),
        ("# C\nx = [\n    1,\n]\ny = 1\n", {5}),
        ("x = 1 + \\\n    2  # C\ny = 1\n", {3}),
        # The element that stands on a line, or below it.
        ("x = [\n    1,  # C\n    2,\n]\n", {1, 3, 4}),
        ("x = [\n    f(  # C\n        1,\n    ),\n    2,\n]\n", {1, 5, 6}),
        ("x = [\n    f(\n        1,\n    ),  # C\n    2,\n]\n", {1, 5, 6}),
        ("x = [\n    f(\n        1,  # C\n        2,\n    ),\n]\n", {1, 2, 4, 5, 6}),
        ("x = [\n    # C\n    f(\n        1,\n    ),\n    2,\n]\n", {1, 6, 7}),
        ("x = (\n    1\n    + 2  # C\n    + 3\n)\n", {1, 5}),
        ("x = f(\n    1,\n    # C\n)\n", {1, 2}),
        ("x = [\n    # C\n    # more\n\n    1,\n    2,\n]\n", {1, 3, 6, 7}),
        ("x = [\n    1,\n    # C\n    2, 3,\n    4,\n]\n", {1, 2, 5, 6}),
        # Of a compound statement its header alone.
        ("if f(  # C\n    1,\n):\n    x = 1\n", {4}),
        ("def f(\n    a=1,\n):  # C\n    x = 1\n", {4}),
        ("# C\n@a(\n    1,\n)\n@b\ndef f(a=1):\n    x = 1\n", {7}),
        ("@a(\n    1,\n)  # C\n@b\ndef f(a=1):\n    x = 1\n", {4, 5, 6}),
        ("# C\nclass A:\n    x = 1\n", {3}),
        ("match x:  # C\n    case 1:\n        x = 1\n", {2, 3}),
        ("match = [  # C\n    1,\n]\nx = 1\n", {4}),
        ("if (lambda: [\n    1,\n])():  # C\n    x = 1\n", {4}),
        ("try:\n    x = 1\nexcept E:  # C\n    x = 1\n", {1, 2, 4}),
        # A comment between two statements is about the one below.
        ("x = 1\n\n\n# C\n\n\ny = 1\nz = 1\n", {1, 8}),
    ],
)
@pytest.mark.parametrize("comment", ["# noqa: GL401", "# gllint: ignore[GL401] why"])
def test_what_a_comment_covers(source: str, kept: set[int], comment: str) -> None:
    lines = source.splitlines()
    coded = [n for n, line in enumerate(lines, 1) if line.strip() not in ("", "# C")]
    found = left(source.replace("# C", comment), *map(finding, coded))
    assert found == [f"{line} GL401" for line in sorted(kept)]


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("# gllint: disable[GL401] why\nx = 1\n# gllint: enable[GL401]\ny = 1\n", {4}),
        ("# gllint: disable[GL4] why\nx = 1\n# gllint: enable[GL401]\ny = 1\n", {4}),
        ("# gllint: disable[GL401] why\nx = 1\n# gllint: enable[naked-number]\ny = 1\n", {4}),
        ("x = 1\n# gllint: disable[GL401] why\nx = 1\ny = 1\n", {1}),
        ("def f():\n    # gllint: disable[GL401] why\n    x = 1\n    if x:\n        y = 1\nz = 1\n", {1, 6}),
        ("if x:\n    if y:\n        # gllint: disable[GL401] why\n        x = 1\n    y = 1\n", {1, 2, 5}),
        ("def f():  # gllint: disable[GL401] why\n    x = 1\n    y = 1\nz = 1\n", {4}),
        ("def f():\n    x = 1  # gllint: disable[GL401] why\n    y = 1\nz = 1\n", {1, 4}),
        ("def f():\n# gllint: disable[GL401] why\n    x = 1\ny = 1\n", {1, 4}),
        # To the end of the block in which it stands: that of its indentation, as far as a formatter leaves it that.
        ("if x:\n    x = 1\n# gllint: disable[GL401] why\n    y = 1\nz = 1\n", {1, 2, 5}),
        ("if x:\n    x = 1\n    # gllint: disable[GL401] why\ny = 1\nz = 1\n", {1, 2, 4, 5}),
        ("if x:\n    x = 1\n# gllint: disable[GL401] why\ny = 1\nz = 1\n", {1, 2}),
        ("    # gllint: disable[GL401] why\nx = 1\ny = 1\n", set()),
        ("if x:\n    if y:\n        x = 1\n    # gllint: disable[GL401] why\n    y = 1\nz = 1\n", {1, 2, 3, 6}),
        ("if x:\n\tx = 1\n\t# gllint: disable[GL401] why\n\ty = 1\nz = 1\n", {1, 2, 5}),
        ("x = 1\n        # gllint: disable[GL401] why\ny = 1\nif x:\n    z = 1\n", {1}),
        # What is disabled to the last line of a block may be enabled there.
        ("def f():\n    # gllint: disable[GL401] why\n    x = 1\n    # gllint: enable[GL401]\ny = 1\n", {1, 5}),
        ("def f():\n    # gllint: disable[GL401] why\n    x = 1\ny = 1\n# gllint: disable[GL401] why\nz = 1\n", {1, 4}),
        ("def f(  # gllint: disable[GL401] why\n    a,\n):\n    x = 1\ny = 1\n", {5}),
        ("x = 1\ny = [  # gllint: disable[GL401] why\n    1,\n]\nz = 1\n", {1}),
        ("x = [\n    1,\n]  # gllint: disable[GL401] why\nz = 1\n", set()),
        ("x = 1  # gllint: enable[GL401]\ny = 1\n# gllint: disable[GL401] why\nz = 1  # gllint: enable[GL401]\n", {1, 2, 4}),
        ("; # gllint: disable[GL401] why\nx = 1\n", set()),
        ("x = [\n    1,\n    # gllint: disable[GL401] why\n    2,\n]\ny = 1\n", {1, 2}),
        ("# gllint: disable[GL401] why\n# gllint: enable[GL401]\nx = 1\n# gllint: disable[GL401] y\ny = 1\n", {3}),
    ],
)  # fmt: skip
def test_what_a_disabled_code_covers(source: str, kept: set[int]) -> None:
    lines = source.splitlines()
    coded = [n for n, line in enumerate(lines, 1) if not line.strip().startswith("#")]
    found = left(source, *map(finding, coded), codes=CODES - {"GL901"})
    assert found == [f"{line} GL401" for line in sorted(kept)]


def test_a_sign_that_ends_nothing_is_no_statement() -> None:
    """A comment behind it ended in an internal error."""
    assert left(";  # gllint: enable[GL401]\n") == ["1 GL901"]
    assert left(";  # noqa: GL401\n", finding(1)) == []


def test_what_is_disabled_in_vain_is_unused() -> None:
    again = "# gllint: disable[GL401] why\n# gllint: disable[GL401] again\nx = 1\n# gllint: enable[GL401]\n"
    assert left(again, finding(3)) == ["2 GL901"]
    assert left("x = 1\n# gllint: enable[GL401]\n") == ["2 GL901"]
    found = apply("/a.py", "x = 1\n# gllint: enable[GL401]\n", (), CODES, require_reason=True)
    assert [f.message for f in found] == ["Nothing disables GL401 here"]


def test_what_stands_where_its_finding_is_no_more_covered_is_not_called_unused() -> None:
    """A formatter has broken the line: the comment is behind the last element, the finding in the first one."""
    source = "x = f(\n    1,\n    a,  # gllint: ignore[GL401] counted by hand\n)\n"
    assert left(source, finding(2)) == ["2 GL401"]
    assert left(source) == ["3 GL901"]
    assert left(source, finding(4)) == ["4 GL401"]
    assert left(source.replace(")", "); y = 1"), finding(4, column=2)) == ["4 GL401", "3 GL901"]
    source = f"y = 2\n{source}z = 3\n"
    assert left(source, finding(1)) == ["1 GL401", "4 GL901"]
    assert left(source, finding(6)) == ["6 GL401", "4 GL901"]
    assert left(source, finding(1), finding(6)) == ["1 GL401", "6 GL401", "4 GL901"]
    assert left(source, finding(1), finding(3)) == ["1 GL401", "3 GL401"]
    assert left(source, finding(3, "GL101")) == ["3 GL101", "4 GL901"]
    header = "class A(B):\n    pass  # gllint: ignore[GL401] by hand\n"
    assert left(header, finding(1)) == ["1 GL401"]


def test_a_whole_file() -> None:
    top = '"""Doc."""\n# gllint: ignore-file[GL4] a fixture\nimport os\nx = 1\n'
    assert left(top, finding(4), finding(4, "GL101")) == ["4 GL101"]
    late = "x = 1\n" * 12 + "# gllint: ignore-file[GL4]\n"
    assert left(late, finding(1)) == ["1 GL401", "13 GL901"]
    assert left("x = 1\n# flake8: noqa\n", finding(1)) == []
    # flake8 skips such a file whatever stands behind the noqa.
    for comment in ("    # flake8: noqa: E5, F4", "# FLAKE8=noqa because"):
        assert left(f"x = 1\n{comment}\n", finding(1)) == []
    assert left("x = 1  # flake8: noqa\n", finding(1)) == ["1 GL401"]


@pytest.mark.parametrize(
    "text",
    [
        "x = 'a # noqa: GL401 b'\n",
        "x = 'a # noqa'\n",
        "x = f'a {y} # noqa: GL401'\n",
        "x = rb'# noqa'\n",
        'x = """\n# noqa\n# gllint: ignore[GL401] no\n"""\n',
        'x = """5\n# flake8: noqa\n"""\n',
        "x = 'a' \\\n    '# noqa'\n",
        "x = {\n    'a': '# noqa: GL401',\n}\n",
        "x = '# gllint: ignore[GL401] no'\n",
        "x = '# gllint: ignore-file[GL401] no'\n",
        "x = '# gllint: disable[GL401] no'\n",
        "x = '# gllint: nothing'\n",
        '"""# noqa"""\n',
    ],
)
def test_text_in_a_string_suppresses_nothing_and_is_never_unused(text: str) -> None:
    assert left(text, *(finding(line) for line in range(1, text.count("\n") + 1))) == [
        f"{line} GL401" for line in range(1, text.count("\n") + 1)
    ]


@pytest.mark.parametrize(
    ("source", "places", "kept"),
    [
        # A finding before the first sign of its line, behind the last one, or in the comment lies in its statement.
        ("if x:\n    # C\n    y = 1", [(3, 1), (3, 5), (3, 9), (3, 10), (3, 12), (4, 1)], [(4, 1)]),
        ("# C\nx = 1  # 5 kWh\n", [(2, 1), (2, 5), (2, 6), (2, 10), (3, 1)], [(3, 1)]),
        ("x = [  # 5 kWh\n    1,\n]  # C\n", [(1, 1), (1, 10), (2, 5), (3, 1), (3, 9)], []),
        ("# C\nx  # 5 kWh\n", [(2, 5), (2, 8)], []),
        ("x = [\n    # C\n    1, 2,\n]\n", [(3, 5), (3, 6), (3, 8)], [(3, 6)]),
        ("x = [\n    1,\n    # C", [(1, 1), (2, 5)], [(1, 1), (2, 5), (3, 5)]),
        # Of an element within another, what speaks of either.
        ("x = [\n    f(  # C\n        1,\n        2,\n    ),\n    3,\n]\n", [(2, 5), (3, 9), (4, 9), (5, 5), (6, 5)], [(6, 5)]),
        ("x = f(\n    [\n        1,  # C\n        2,\n    ], [\n        3,  # C\n        4,\n    ],\n)\n", [(2, 5), (3, 9), (4, 9), (6, 9), (7, 9)], [(2, 5), (4, 9), (7, 9)]),
    ],
)  # fmt: skip
def test_where_a_finding_may_lie(
    source: str, places: Sequence[tuple[int, int]], kept: Sequence[tuple[int, int]]
) -> None:
    text = source.replace("# C", "# gllint: ignore[GL401] why")
    found = apply("/a.py", text, [finding(line, column=column) for line, column in places], CODES)
    assert [(f.span.line, f.span.column) for f in found] == [*kept]


@pytest.mark.parametrize(
    ("source", "hides"),
    [
        ("x = 1  # noqa\n", True),
        ("x = 1  # noqa: GL4\n", True),
        ("x = 1  # noqa: E501,gl401 why\n", True),
        ("x = 1  # noqa: E501\n", False),
        ("x = 1  # noqa : E501\n", True),
        ("x = 'a # noqa'\n", True),
        ("x = 1 + \\\n    2  # noqa\n", True),
        ('x = """\n# noqa: GL401\n"""\n', True),
        ("x = [\n    2,  # noqa\n]\n", False),
        ("x = 1\ny = 2  # noqa\n", False),
    ],
)
def test_what_flake8_hides(source: str, hides: bool) -> None:
    assert Comments(source).flake8_hides(finding(1)) is hides
    assert Comments(f"y = 2\n{source}").flake8_hides(finding(2)) is hides


def test_flake8_looks_at_the_whole_of_a_text() -> None:
    comments = Comments("x = '''# noqa\n5\n'''\ny = 2\n")
    assert [comments.flake8_hides(finding(line)) for line in (1, 2, 3, 4)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("source", "may"), [("x  #NOQA", True), ("# GLLint: x", True), ("import gllint", False), ("", False)]
)
def test_what_may_hold_a_suppression(source: str, may: bool) -> None:
    assert suppress.may_suppress(source) is may


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1  # noqa: GL401\n", "Unused suppression of GL401. Remove it."),
        (
            "x = 1  # gllint: ignore[naked-number, GL5]\n",
            "Unused suppression of naked-number, GL5. Remove it.",
        ),
        ("x = 1\n# gllint: enable[GL401]\n", "Nothing disables GL401 here. Remove it."),
        (
            "x = 1\n" * 11 + "# gllint: ignore-file[GL4] why\n",
            "Suppression of GL4 for the whole file has no effect below the first statement. "
            "Move it above the first statement, or remove it.",
        ),
    ],
)
def test_what_is_said_of_an_unused_suppression(source: str, said: str) -> None:
    (found,) = apply("/a.py", source, (), CODES)
    assert f"{found.message}. {found.help}" == said and found.fix is not None
    assert found.fix.message == "Remove the unused suppression"


def test_what_is_not_read_in_full_is_not_called_unused() -> None:
    def judged(*codes: str, source: str = "x = 1  # noqa: GL401, GL101\n") -> list[str]:
        found = apply("/a.py", source, (), CODES, is_judged=lambda _, unused: {*codes} == {*unused})
        return [f.code for f in found]

    assert judged("GL401", "GL101") == ["GL901"] and judged("GL401") == []
    assert judged(source="x = 1\n# gllint: enable[GL401]\n") == ["GL901"]


def test_a_prefix_is_judged_where_all_that_it_names_is_in_force() -> None:
    fours = {code for code in CODES if code.startswith("GL4")}
    assert left("x = 1  # noqa: GL4\n", codes=frozenset({*fours, "GL901"})) == ["1 GL901"]
    assert left("x = 1  # noqa: GL4\n", codes=frozenset({*fours, "GL901"} - {"GL401"})) == []
    assert left("x = 1  # noqa: GL901\n") == left("x = 1  # noqa: GL902\n") == []
    assert left("x = 1  # noqa: GL105\n", codes=CODES | {"GL105"}) == ["1 GL901"]


@pytest.mark.parametrize(
    ("comment", "unused"),
    [
        ("# noqa: GL401", True),
        ("# noqa: GL4", True),
        ("# gllint: ignore[GL401] once true", True),
        ("# gllint: ignore[naked-number]", True),
        ("# noqa: GL999", True),
        ("# noqa", False),
        ("# noqa: E501", False),
        ("# noqa: GL105", False),  # opt-in, so not in force: nothing is known
        ("# noqa: GL901", False),
    ],
)
def test_what_is_unused(comment: str, unused: bool) -> None:
    assert (left(f"x = 1  {comment}\n") == ["1 GL901"]) is unused


def test_a_suppression_of_what_is_not_selected_is_not_judged() -> None:
    assert left("x = 1  # noqa: GL401\n", codes=frozenset({"GL101", "GL901"})) == []
    assert left("x = 1  # noqa: GL401\n", codes=frozenset({"GL401"})) == []
    assert left("x = 1  # noqa: GL401\n", noqa=False) == []
    assert left("x = 1  # noqa: GL401\n", finding(1), noqa=False) == ["1 GL401"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # noqa: GL401\n", "x = 1\n"),
        ("x = 1  # noqa: GL401, E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: E501,GL401 why\n", "x = 1  # noqa: E501 why\n"),
        ("x = 1  # noqa: GL401  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: GL401# type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # type: ignore  # noqa: GL401\n", "x = 1  # type: ignore\n"),
        ("x = 1  # gllint: ignore[GL401, GL101] r\n", "x = 1\n"),
        ("# gllint: ignore-file[GL4]\nx = 1\n", "x = 1\n"),
        ("x = 1\n    # gllint: ignore[GL401]\r\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1  # noqa: GL401 see #12\n", "x = 1  # see #12\n"),
        ("x = 1  # noqa: GL401: see C# and #12\n", "x = 1  # see C# and #12\n"),
        ("x = 1  # noqa: GL401 - (see #12)  # type: ignore\n", "x = 1  # (see #12)  # type: ignore\n"),
        ("x = 1  # noqa: GL401, E501 see #12\n", "x = 1  # noqa: E501 see #12\n"),
        ("x = 1  # gllint: ignore[GL401] see #12\n", "x = 1\n"),
        ("x = 1  # gllint: ignore[GL401] see #12 # type: ignore\n", "x = 1  # type: ignore\n"),
        ("# gllint: disable[GL401] why\nx = 1\n", "x = 1\n"),
        ("x = 1\n# gllint: enable[GL401]\n", "x = 1\n"),
        ("x = 1  # noqa: GL401", "x = 1"),
        ("# noqa: GL401", ""),
    ],
)
def test_the_fix_removes_what_is_unused_and_no_more(before: str, after: str) -> None:
    (found,) = apply("/a.py", before, (), CODES)
    assert found.code == "GL901"
    assert found.fix is not None and found.fix.applicability == "safe"
    assert fixer.apply(before, [found.fix]) == (after, 1)


@pytest.mark.parametrize(
    ("source", "comment", "removed"),
    [
        ("# noqa: GL401", Span(1, 1, 1, 14), Span(1, 1, 1, 14)),
        ("# noqa: GL401\n", Span(1, 1, 1, 14), Span(1, 1, 2, 1)),
        ("# noqa: GL401\n5", Span(1, 1, 1, 14), Span(1, 1, 2, 1)),
        ("x = 1  # a # gllint: ignore[GL401] r\n", Span(1, 12, 1, 35), Span(1, 11, 1, 37)),
        ("x = 1  # a # noqa: GL401\n", Span(1, 12, 1, 25), Span(1, 11, 1, 25)),
    ],
)
def test_where_an_unused_suppression_stands(source: str, comment: Span, removed: Span) -> None:
    (found,) = apply("/a.py", source, (), CODES)
    assert found.fix is not None
    assert (found.span, found.fix.edits[0].span) == (comment, removed)


@pytest.mark.parametrize(
    ("line", "counts"), [(10, True), (11, False)], ids=["within the first ten", "below them"]
)
def test_a_whole_file_is_spoken_of_from_near_the_top(line: int, counts: bool) -> None:
    source = "x = 1\n" * (line - 1) + "y = 2  # gllint: ignore-file[GL401] why\n"
    found = apply("/a.py", source, [finding(1)], CODES)
    assert [f.code for f in found] == ([] if counts else ["GL401", "GL901"])
    assert counts or "has no effect below the first statement" in found[1].message


def test_on_the_line_of_the_first_statement_is_not_above_it() -> None:
    source = "\n" * 11 + "x = 1  # gllint: ignore-file[GL401] why\n"
    assert left(source, finding(12)) == ["12 GL401", "12 GL901"]


def test_two_invalid_suppressions_of_a_line_hide_each_other_and_are_used() -> None:
    assert left("x = 1  # gllint: ignore[GL9, foo] why  # gllint: ignore[GL9, bar] why\n") == []
    assert left("x = 1  # gllint: ignore[GL9, foo] why  # gllint: ignore[GL902, bar] why\n") == []


def test_what_is_said_of_a_whole_and_of_its_part_counts_in_the_part() -> None:
    why = "# gllint: ignore[GL401] why"
    source = f"{why}\n@a\ndef f(\n    a=1,\n):  # gllint: ignore[GL101] why\n    x = 1\n"
    assert left(source, finding(3), finding(3, "GL101"), finding(4), finding(6)) == ["6 GL401"]


@pytest.mark.parametrize(
    ("source", "place", "edit"),
    [
        ("x = 1  # c\n", (1, 8, 1, 11), (1, 6, 1, 11)),
        ("x = 1  # c # d\n", (1, 8, 1, 11), (1, 8, 1, 11)),
        ("  # c   \n", (1, 3, 1, 6), (1, 1, 2, 1)),
        ("  # c", (1, 3, 1, 6), (1, 1, 1, 6)),
        ("  # c  # d\n", (1, 3, 1, 6), (1, 3, 1, 6)),
        ("<!-- a\nb -->\nc\n", (1, 1, 2, 6), (1, 1, 3, 1)),
        ("<!-- a\nb --> c\n", (1, 1, 2, 6), (1, 1, 2, 6)),
    ],
)
def test_a_comment_goes_with_the_lines_that_are_its_own(source: str, place: Any, edit: Any) -> None:
    assert Comments(source).without(*place) == Edit(Span(*edit), "")


def test_only_the_unused_codes_go() -> None:
    source = "x = 1  # noqa: GL401, GL101\n"
    (found,) = apply("/a.py", source, [finding(1)], CODES)
    assert "GL101" in found.message and "GL401" not in found.message
    assert found.fix is not None
    assert fixer.apply(source, [found.fix])[0] == "x = 1  # noqa: GL401\n"


_SAMPLE = '''\
a = 5  # noqa
b = 5  # noqa: XX9
c = """
5  # noqa:XX900
"""
d = [
    5,  # noqa: E501, XX9
    5,
]
e = 5 + \\
    5  # NOQA : XX900
f = 5  # noqa: E501 XX900
g = "# noqa: XX900"; h = 5
i = 5  # noqa:XX900,E501 reason
j = 5  # noqa : XX900
k = f"""{5}
"""  # noqa: XX900
'''
_PLUGIN = """
class Plugin:
    name = version = "x"

    def __init__(self, tree, lines):
        self.lines = lines

    def run(self):
        for number, line in enumerate(self.lines, 1):
            yield number, 0, "XX900 m", type(self)
"""


def flake8_leaves(folder: Path, source: str) -> set[int]:
    """The lines that flake8 itself still reports when a plugin reports every line."""
    (folder / "every_line.py").write_text(_PLUGIN)
    (folder / "sample.py").write_text(source)
    (folder / "cfg").write_text("[flake8:local-plugins]\nextension = XX = every_line:Plugin\npaths = .\n")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--config", "cfg", "--select", "XX", "sample.py"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert not done.stderr, done.stderr.decode()
    return {int(line.split(":")[1]) for line in done.stdout.decode().splitlines()}


def test_never_keeps_what_flake8_would_suppress(tmp_path: Path) -> None:
    reported = flake8_leaves(tmp_path, _SAMPLE)
    count = _SAMPLE.count("\n")
    assert reported and len(reported) < count
    ours = apply("/a.py", _SAMPLE, [finding(n, "XX900") for n in range(1, count + 1)], frozenset())
    # What a text says hides nothing here.
    assert {f.span.line for f in ours} <= reported | {3, 4, 5, 13}
    # And the other way round, except for what only a comment says that stands on another line of the statement.
    assert reported - {f.span.line for f in ours} == set()


@pytest.mark.parametrize(
    ("source", "wanted", "expected"),
    [
        ("x = 1\n", [(1, "GL401")], "x = 1  # noqa: GL401\n"),
        ("x = 1  # why\n", [(1, "GL401")], "x = 1  # why  # noqa: GL401\n"),
        ("x = 1  # noqa: E501\n", [(1, "GL401")], "x = 1  # noqa: E501, GL401\n"),
        (
            "x = 1  # noqa: E501 why\n",
            [(1, "GL401"), (1, "GL101")],
            "x = 1  # noqa: E501, GL101, GL401 why\n",
        ),
        ('x = """\n5\n"""\r\n', [(2, "GL401")], 'x = """\n5\n"""  # noqa: GL401\r\n'),
        ("x = 1 + \\\n  2", [(1, "GL401")], "x = 1 + \\\n  2  # noqa: GL401"),
        ("x = [\n  1,\n]\n", [(2, "GL101")], "x = [\n  1,  # noqa: GL101\n]\n"),
        ("x = 1  # noqa\n", [(1, "GL401")], "x = 1  # noqa\n"),
        ("x = 1  # noqa: why\n", [(1, "GL401")], "x = 1  # noqa: why  # noqa: GL401\n"),
    ],
)
def test_adds_suppressions_where_they_count(
    source: str, wanted: Sequence[tuple[int, str]], expected: str
) -> None:
    findings = [finding(line, code) for line, code in wanted]
    added = changed(source, add_noqa(source, findings))
    assert added == expected
    assert left(added, *findings) == []
    assert Comments(added).comments


LIST = "x = [\n    1, 2,\n]"


@pytest.mark.parametrize(
    ("source", "place", "expected"),
    [
        # Behind an element that is alone on its line, else behind the statement, else above it.
        ("x = [\n    1,\n]; y = 2\n", (2, 1), "x = [\n    1,  # noqa: GL401\n]; y = 2\n"),
        (f"{LIST}\n", (2, 1), f"{LIST}  # noqa: GL401\n"),
        (f"{LIST}\n", (2, 8), f"{LIST}  # noqa: GL401\n"),
        (f"{LIST}; y = 2\n", (1, 1), f"# noqa: GL401\n{LIST}; y = 2\n"),
        (f"{LIST}; y = 2\n", (3, 4), f"{LIST}; y = 2  # noqa: GL401\n"),
        ("x = [1]; y = 2\n", (1, 6), "# noqa: GL401\nx = [1]; y = 2\n"),
        ("x = [1]; y = 2\n", (1, 10), "x = [1]; y = 2  # noqa: GL401\n"),
        ("x = 1   \n", (1, 1), "x = 1  # noqa: GL401\n"),
        ("# a note\n", (1, 1), "# a note  # noqa: GL401\n"),
        ("if x:\n    x = [1]; y = 2\n", (2, 10), "if x:\n    # noqa: GL401\n    x = [1]; y = 2\n"),
        # With the codes of a comment that is there, on a line of its own above it alone.
        (f"# noqa: E501 why\n{LIST}; y = 2\n", (2, 1), f"# noqa: E501, GL401 why\n{LIST}; y = 2\n"),
        (f"    # noqa: E501\n{LIST}; y = 2\n", (2, 1), f"    # noqa: E501, GL401\n{LIST}; y = 2\n"),
        (f"z = 1  # noqa: E501\n{LIST}; y = 2\n", (2, 1), f"z = 1  # noqa: E501\n# noqa: GL401\n{LIST}; y = 2\n"),
        (f"# noqa\n{LIST}; y = 2\n", (2, 1), f"# noqa\n{LIST}; y = 2\n"),
        ("x = 1  # noqa: gl401\n", (1, 1), "x = 1  # noqa: gl401\n"),
        # Around its lines, where others stand on both ends of them.
        (f"a = 1; {LIST}; y = 2\n", (2, 1), f"# gllint: disable[GL401]\na = 1; {LIST}; y = 2\n# gllint: enable[GL401]\n"),
        (f"a = 1; {LIST}; y = 2", (2, 1), f"# gllint: disable[GL401]\na = 1; {LIST}; y = 2\n# gllint: enable[GL401]"),
        (
            f"if x:\r\n    a = 1; {LIST}; y = 2\r\nz = 1".replace("\r", ""), (3, 1),
            f"if x:\n    # gllint: disable[GL401]\n    a = 1; {LIST}; y = 2\n    # gllint: enable[GL401]\nz = 1",
        ),
        ("a = 1; x = [\r\n1, 2,\r\n]; y = 2\r\n", (2, 1), "# gllint: disable[GL401]\r\na = 1; x = [\r\n1, 2,\r\n]; y = 2\r\n# gllint: enable[GL401]\r\n"),
    ],
)  # fmt: skip
def test_where_a_suppression_goes(source: str, place: tuple[int, int], expected: str) -> None:
    line, column = place
    wanted = finding(line, column=column)
    added = changed(source, add_noqa(source, [wanted]))
    assert added == expected
    shift = sum(
        row.endswith("disable[GL401]") or row.strip() == "# noqa: GL401" for row in added.splitlines()
    )
    assert left(added, finding(line + shift, column=column), codes=CODES - {"GL901"}) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\n", "x = 1  # gllint: ignore[GL101, GL401]\n"),
        ("x = 1  # gllint: ignore[] by hand\n", "x = 1  # gllint: ignore[GL101, GL401] by hand\n"),
        ("x = 1  # gllint: ignore[gl401] by hand\n", "x = 1  # gllint: ignore[gl401, GL101] by hand\n"),
        ("x = 1  # GLLINT : Ignore [GL401]\n", "x = 1  # GLLINT : Ignore [GL401]  # gllint: ignore[GL101, GL401]\n"),
        ("x = 1  # noqa: GL401\n", "x = 1  # noqa: GL401  # gllint: ignore[GL101, GL401]\n"),
    ],
)  # fmt: skip
def test_a_suppression_of_ours_is_written_for_what_can_be_suppressed(source: str, expected: str) -> None:
    codes = ("GL401", "GL101", "GL900", "GL901", "GL902", "GL401")
    changes = suppressing(
        Comments(source), [finding(1, code) for code in codes], AS_IGNORE, Offsets(source).at
    )
    assert changed(source, changes) == expected


def test_add_noqa_silences_a_project(
    write: Write, run: Callable[..., subprocess.CompletedProcess[bytes]], agent: str
) -> None:
    top = write({"a.py": agent, "b.py": ("\ufeff" + agent.replace("\n", "\r\n")).encode()})
    done = run("check", "--add-noqa", cwd=top)
    assert (done.returncode, done.stderr.decode()) == (0, "Added 4 suppressions.\n")
    assert run("check", cwd=top).returncode == 0
    after = (top / "b.py").read_bytes()
    assert after.startswith(b"\xef\xbb\xbf") and b"\r\n" in after and b"\n" not in after.replace(b"\r\n", b"")


@pytest.mark.parametrize(
    "piece",
    [
        "# gllint: ignore[GL101]\n",
        "# gllint: ignore[GL101] ",
        "# noqa: GL101 ",
        "# gllint: ignore\n",
        "x = 1  # noqa: GL1\n",
    ],
)
def test_many_suppressions_take_linear_time(monkeypatch: pytest.MonkeyPatch, piece: str) -> None:
    """Each is looked at for the lines that it speaks of, a hundred at most, and not for each finding there."""
    count, looks = 1_000, 0

    def speaks_of(suppression: suppress.Suppression, code: str) -> bool:
        nonlocal looks
        looks += 1
        return original(suppression, code)

    original = suppress._speaks_of
    monkeypatch.setattr(suppress, "_speaks_of", speaks_of)
    assert len(apply("/project/a.py", piece * count, (), frozenset(RULES))) == count
    assert looks <= 102 * count


def test_signs_behind_a_suppression_are_looked_at_once() -> None:
    source = f"x = 1  # noqa: GL101 {'(' * 200_000}\n"
    (finding,) = apply("/project/a.py", source, (), frozenset(RULES))
    assert finding.code == "GL901"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("", 1),
        ("x\n", 1),
        ("# a\n\n", 3),
        ("\n# a\n'what it is'  # b\n\nx\n", 5),
        ("'what it is'\n'a text that nobody keeps'\nx\n", 2),
    ],
)
def test_where_the_first_statement_is(source: str, line: int) -> None:
    assert Comments(source).first_statement == line


def test_where_a_comment_that_cannot_be_read_stands() -> None:
    (told,) = apply("/a.py", "x = 1  # gllint: disable  \n", [], CODES)
    assert (told.code, told.span) == ("GL902", Span(1, 8, 1, 25))
    (told,) = apply("/a.py", "x = 1  # gllint:  \n", [], CODES)
    assert (told.code, told.span) == ("GL902", Span(1, 8, 1, 17))


def test_a_comment_behind_code_speaks_of_its_own_line_alone() -> None:
    assert left("x = 1  # gllint: ignore[GL401] why\ny = 2\n", finding(1), finding(2)) == ["2 GL401"]


def test_where_no_statement_begins_a_file_is_suppressed_from_any_line() -> None:
    source = "# a note\n" * 12 + "# gllint: ignore-file[GL401] why\n'''cut off"
    assert left(source, finding(1)) == []


def test_the_last_line_may_be_spoken_of_or_speak_of_itself() -> None:
    assert left("# gllint: ignore[GL401] why\ny = 2", finding(2)) == []
    assert left("y = 2\n# gllint: ignore[GL902] why  # gllint: disable") == []


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: GL401", "# noqa : GL401", "#NOQA:gl401", '# noqa: GL"1"01', "# noqa: E501, GL4o1", "# noqa: GL",
        "# gllint: ignore[GL401]", "# GLLINT: Ignore [GL401]", "# Gllint: ignore[GL401]", "# gllint: what",
    ],
)  # fmt: skip
def test_a_file_without_findings_is_told_of_its_suppressions_like_any_other(comment: str) -> None:
    """The first look left some of them out, so that they were told of only where the file had another finding."""
    assert left(f"x = 1  {comment}\n")
    assert screen_bytes(Settings(needles=RULES.needles()), f"x = 1  {comment}\n".encode()).flags & MARKED
