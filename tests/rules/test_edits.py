"""After an edit the outline and the places are those of the file read from scratch, whatever was edited."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gllint_rules.reading import outline
from gllint_rules.reading.edits import _alike, edited
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.outline import outline_of
from gllint_rules.reading.positions import Positions
from gllint_rules.reading.section_texts import Edited
from gllint_rules.reading.stack import on_large_stack
from gllint_rules.reading.syntax import ParseFailure, parsed
from harness import random_edit

ROOT = Path(__file__).parents[2]
FILES = (
    "rules/gllint_rules/reading/facts.py",
    "rules/gllint_rules/reading/sketch.py",
    "rules/gllint_rules/catalogue/gl102_malformed_quantity.py",
    "runtime/gllint_runtime/policy/units.py",
    "tests/rules/test_edits.py",
)


@pytest.mark.parametrize("name", FILES)
def test_an_edited_outline_is_the_one_read_from_scratch(name: str) -> None:
    rng = random.Random(name)
    first = (ROOT / name).read_text("utf-8")
    text, old, kept = first, outline_of(first), 0
    for number in range(50):
        if number % 5 == 0:
            text, old = first, outline_of(first)
        new = random_edit(rng, text)
        made = edited(old, text, new)
        try:
            expected = outline_of(new)
        except ParseFailure:
            assert made is None
            continue
        assert made in (None, expected)
        kept += made is not None
        text, old = new, expected
    assert kept


def test_what_an_edit_left_alone_is_not_read_again() -> None:
    text = "a = 1\n\n\ndef f(x):\n    return {'n': x}\n\n\nclass C:\n    k = 2\n\n    def m(self):\n        return 3\n"
    before = read_module("/a.py", text)
    known = [before.section(number) for number in range(4)]
    after = read_module("/a.py", text.replace("return 3", "y = 4\n        return y"), before)
    assert [after.section(number) is known[number] for number in range(4)] == [True, True, True, False]
    [cls] = after.classes
    assert cls.method("m") is after.section(3).functions[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 3", "return 33"),
        ("return 3", "return important(3)"),
        ("return 3", "return 3 # é"),
        ("self, y", "self, y, z: 'C'"),
        ("def m", "async def m"),
        ("return 3", "if y:\n            y[0] = 4\n        return 3"),
    ],
)
def test_an_edit_within_a_method_parses_that_method_alone(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    text = "import a\n\n\nclass C(B):\n    k = 2\n\n    @d\n    def m(self, y):\n        return 3\n\n    j = 4\n\n    def n(self):\n        pass\n"
    before, after = outline_of(text), text.replace(old, new)
    monkeypatch.setattr(outline, "parsed", lambda source: (read.append(source), parsed(source))[1])
    assert edited(before, text, after) == outline_of(after)
    assert ["import a" in source or "def n" in source for source in read] == [False, True]


@pytest.mark.parametrize("name", FILES)
def test_places_after_edits_are_those_of_the_file_read_from_scratch(name: str) -> None:
    rng = random.Random(name)
    text = (ROOT / name).read_text("utf-8")
    module = read_module("/a.py", text)
    for _ in range(12):
        new = random_edit(rng, text)
        try:
            outline_of(new)
        except ParseFailure:
            continue
        module, text, fresh = read_module("/a.py", new, module), new, read_module("/b.py", new)
        places, expected = Positions(module), Positions(fresh)
        for part in rng.sample(module.outline.sections, min(8, len(module.outline.sections))):
            size = fresh.section(part.number).size
            assert module.section(part.number).size == size
            for at in range(part.number << 24, (part.number << 24) + size):
                assert places.span(at) == expected.span(at)


TOOL = """\
@function_tool
def heat(site: str) -> dict:
    \"\"\"Heat. # no comment\"\"\"
    note = f"{site} # none"
    rows = [
        1.5,
        len(site),
    ]
    return {"heat": rows, "note": note}
"""


@pytest.mark.parametrize(
    ("old", "new", "edited"),
    [
        ("    rows", "    # all of them\n\n    rows", Edited.PLACES),
        ('none"\n', 'none"  # said "so"\n', Edited.PLACES),
        ("]\n", "]    \n", Edited.PLACES),
        ("1.5,\n", "1.5,  # kWh\n", Edited.SPELLING),
        ("1.5,\n", "1.5,\n\n", Edited.SPELLING),
        ("1.5,\n", "1.50,\n", Edited.FACTS),
        ("# no comment", "# no comments", Edited.FACTS),
        ('# none"', '# nobody"', Edited.FACTS),
        ("    rows", "    # {{claim:0}}\n    rows", Edited.FACTS),
        ("    return", "    if note:\n        return", Edited.FACTS),
        ("    rows", "    rows = 1\n    rows", Edited.FACTS),
    ],
)
def test_a_comment_is_no_fact(old: str, new: str, edited: Edited) -> None:
    text = TOOL.replace(old, new, 1)
    module = read_module("/a.py", TOOL)
    facts_of_heat = module.section(0)
    Positions(module).span(facts_of_heat.functions[0].at)
    assert read_module("/a.py", text, module) is module
    assert module.edited == edited
    assert (module.section(0) is facts_of_heat) == (edited < Edited.FACTS)
    anew = read_module("/a.py", text)
    for at in range(module.section(0).size):
        assert Positions(module).span(at) == Positions(anew).span(at)


def test_a_comment_beside_what_is_long_and_deep_takes_no_longer_than_reading_it() -> None:
    text = "def f():\n    # a\n    x = " + " + ".join(["1"] * 1_500) + "\n    return x\n"
    module = on_large_stack(read_module, "/a.py", text)
    on_large_stack(module.section, 0)
    assert on_large_stack(read_module, "/a.py", text.replace("# a", "# ab"), module) is module
    assert module.edited == Edited.PLACES


@pytest.mark.parametrize(
    ("text", "other", "count"),
    [
        ("", "", 0),
        ("", "a", 0),
        ("a", "b", 0),
        ("a", "a", 1),
        ("ab", "ax", 1),
        ("abc", "abcd", 3),
        ("xbc", "ybc", 0),
        ("abcd", "axyz", 1),
        ("abcdefgh", "abcxxxxx", 3),
    ],
)
def test_how_many_characters_two_texts_begin_with_alike(text: str, other: str, count: int) -> None:
    assert _alike(text, other) == _alike(other, text) == count


@pytest.mark.parametrize(
    "new",
    [
        "return 3\n\n    def k(self):\n        return 4",
        "return 3\n\n    k = 4",
        "return 3\n\n\nk = 4",
        "return 3\n\n\n@d\ndef k(self):\n    return 4",
        "y = 3\n    return y",
    ],
)
def test_an_edit_that_makes_more_of_a_method_than_one_is_followed(new: str) -> None:
    text = "class C(B):\n    k = 2\n\n    def m(self, y):\n        return 3\n\n    def n(self):\n        pass\n\n\nx = 1\n"
    after = text.replace("return 3", new)
    try:
        expected = outline_of(after)
    except ParseFailure:
        expected = None
    assert edited(outline_of(text), text, after) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = 1", "x = 1\nimport json, a_module_of_a_long_name"),
        ("x = 1", "import json, a_module_of_a_long_name"),
        ("x = 1\n", "x = 1\nfrom b import c"),
        ("import a", "aa = 1"),
        ("import a", "import b"),
        ("return 3", "import json\n        return 3"),
        ("return 3", "return 3\n        from b import c"),
        ("from b import d", "pass"),
        ("import d", "import e"),
    ],
)
def test_an_edit_that_imports_or_did_is_for_who_reads_the_whole_file(old: str, new: str) -> None:
    text = (
        "import a\n\n\nclass C(B):\n    def m(self, y):\n        return 3\n\n    def n(self):\n"
        "        from b import d\n        return d\n\n\ny = 2\nx = 1\n"
    )
    after = text.replace(old, new, 1)
    assert after != text and outline_of(after) != outline_of(text)
    assert edited(outline_of(text), text, after) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    def m", "     def m"),  # no method among the others any more
        ("    def m", "    async def m"),
        ("    def m", "    @d\n    def m"),
        ("    def m", "    z = 5\n\n    def m"),
        ("    def m", "def m"),
        ("return 3\n", "return 3\n    "),
        ("return 3\n", "return 3\n        # that is all\n"),
        ("return 3\n", "return 3\n        y = 4\n"),
        ("return 3\n", "return 3\\\n"),
        ("    k = 2\n", ""),
        ("    j = 4", "    j, i = 4, 5"),
        ("pass", "return 4"),
        ("pass\n", "pass"),
    ],
)
def test_an_edit_around_a_method_is_followed_as_one_within_it(old: str, new: str) -> None:
    text = (
        "class C(B):\n    k = 2\n\n    def l(self):\n        return 1\n\n    def m(self, y):\n        return 3\n"
        "    j = 4\n\n    def n(self):\n        pass\n"
    )
    after = text.replace(old, new, 1)
    try:
        expected = outline_of(after)
    except ParseFailure:
        expected = None
    assert edited(outline_of(text), text, after) == expected
    if expected is not None:  # and back
        assert edited(expected, after, text) == outline_of(text)


@pytest.mark.parametrize("new", ["y = 2", "a\nb\nc", "a\nb\nc\nd", "a", "", "def g(): pass\nb = 3"])
def test_what_stands_behind_more_or_fewer_statements_moves_along(new: str) -> None:
    text = (
        "z = 0\nx = 1\n\n\nclass C(B):\n    k = 2\n\n    def l(self):\n        return 1\n\n\n"
        "def f():\n    return C()\n"
    )
    after = text.replace("x = 1", new)
    assert edited(outline_of(text), text, after) == outline_of(after)
    assert edited(outline_of(after), after, text) == outline_of(text)
