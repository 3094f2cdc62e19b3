"""The reader of CPython's tree and that of LibCST's say the same of every section, and number it alike."""

from __future__ import annotations

import dataclasses
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gllint_rules.reading.facts import Module, SectionFacts
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reader import parse_section
from gllint_rules.reading.sections import read_statements
from test_reader_positions import SOURCES, read

_LEFT_OUT = {"units", "section"}  # logical lines serve fixes alone


def difference(one: object, other: object) -> str | None:
    """Where two readings differ, by the way to there."""
    waiting = [(one, other, "")]
    seen: set[tuple[int, int]] = set()
    while waiting:
        one, other, way = waiting.pop()
        if type(one) is not type(other):
            return f"{way}: {one!r}, {other!r}"
        if (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        if dataclasses.is_dataclass(one):
            names = [field.name for field in dataclasses.fields(one) if field.name not in _LEFT_OUT]
            waiting += [(getattr(one, name), getattr(other, name), f"{way}.{name}") for name in names]
        elif isinstance(one, dict) and isinstance(other, dict) and list(one) == list(other):
            waiting += [(one[key], other[key], f"{way}[{key!r}]") for key in one]
        elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
            waiting += [(*pair, f"{way}[{i}]") for i, pair in enumerate(zip(one, other, strict=True))]
        elif isinstance(one, Mapping) and not isinstance(one, dict):
            continue  # what several sections say together
        elif one != other:
            return f"{way}: {one!r}, {other!r}"
    return None


def differences(module: Module) -> Iterator[str]:
    for section in module.outline.sections:
        if section.kind != "imports" and not module.outline.is_whole:
            one, other = SectionFacts(section), SectionFacts(section)
            read_statements(module, section, one)
            parse_section(module, section, other)
            found = difference(one, other)
            if found is not None:
                yield f"{section.name or section.number}{found}"


# Python writes a name in one form, LibCST in that of the source.
@pytest.mark.parametrize("name", sorted(SOURCES.keys() - {"unicode"}))
def test_both_readers_say_the_same(name: str) -> None:
    assert list(differences(read_module("/a.py", read(name)))) == []


def test_both_readers_say_the_same_of_strings_and_odd_syntax() -> None:
    source = Path(__file__).with_name("readers.txt").read_text("utf-8")
    module = read_module("/a.py", source)
    assert not module.outline.is_whole
    assert list(differences(module)) == []


@pytest.mark.parametrize("name", ["textwrap", "string", "bisect"])
def test_both_readers_say_the_same_of_the_standard_library(name: str) -> None:
    path = Path(sysconfig.get_paths()["stdlib"], f"{name}.py")
    assert list(differences(read_module(str(path), path.read_text("utf-8")))) == []
