"""What an edit leaves of a file's outline, so that a keystroke reads again what it touched and nothing else."""

from __future__ import annotations

import re

from gllint_rules.reading.outline import Outline, Section, outline_of_method, outline_of_part
from gllint_rules.reading.syntax import ParseFailure

_IMPORT = re.compile(r"\bimport\b")


def edited(old: Outline, old_source: str, source: str) -> Outline | None:
    """Return the outline of ``source`` after an edit, made from the outline before it, if possible.

    Statements on lines of their own, each complete, are Python together as they are apart. So what was edited is
    parsed alone, from the statement before to the one behind, and the rest stays as it was. ``None`` where that text
    is not Python by itself, or where it imports, which says something of the whole file.
    """
    start = _alike(old_source, source)
    tail = _alike(old_source[start:][::-1], source[start:][::-1])
    stop, by = len(old_source) - tail, len(source) - len(old_source)
    edited_method = _edited_method(old, old_source, source, start, stop, by)
    if edited_method is not None:
        return edited_method
    tops = [section for section in old.sections if section.owner is None]
    preceding = [section for section in tops if section.end < start]
    following = [section for section in tops if section.begin > stop]
    begin = preceding[-1].end if preceding else 0
    end = following[0].begin if following else len(old_source)
    if _IMPORT.search(old_source, begin, end) or _IMPORT.search(source, begin, end + by):
        return None
    first = next((s.number for s in tops if s.end >= start), len(old.sections))
    last = following[0].number if following else len(old.sections)
    try:
        outline = outline_of_part(source, begin, end + by, first, old.aliases)
    except ParseFailure:
        return None
    count = first + len(outline) - last
    rest = [_moved(section, by, count) for section in old.sections[last:]]
    return old._replace(sections=(*old.sections[:first], *outline, *rest))


def _edited_method(
    old: Outline, old_source: str, source: str, start: int, stop: int, by: int
) -> Outline | None:
    """Return the outline after an edit inside of one method: of a class of a thousand lines nothing else is parsed."""
    for method in old.sections:
        if method.owner is not None and method.begin < start and stop < method.end:
            break
    else:
        return None
    end = method.end + by
    head = old_source[method.begin : start]
    if (
        not head.strip()
        or _IMPORT.search(old_source, method.begin, method.end)
        or _IMPORT.search(source, method.begin, end)
    ):
        return None
    try:
        outline = outline_of_method(source, method.begin, end, method.number, method.owner, old.aliases)
    except ParseFailure:
        return None
    if outline is None:
        return None
    again, hole = outline
    cls = old.sections[method.owner]
    place = method.number - cls.number - 1
    holes = (*cls.holes[:place], hole, *(_shifted(later, by) for later in cls.holes[place + 1 :]))
    members = tuple((name, at + by if at > method.begin else at) for name, at in cls.members)
    new = {
        cls.number: cls._replace(end=cls.end + by, holes=holes, members=members),
        method.number: again,
    }
    sections = (
        new.get(s.number) or (_moved(s, by, 0) if s.begin > method.begin else s) for s in old.sections
    )
    return old._replace(sections=tuple(sections))


def _alike(text: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _moved(section: Section, by: int, count: int) -> Section:
    """Return the section moved by ``by`` characters and ``count`` sections."""
    if not by and not count:
        return section
    return section._replace(
        number=section.number + count,
        owner=None if section.owner is None else section.owner + count,
        begin=section.begin + by,
        end=section.end + by,
        holes=tuple(_shifted(hole, by) for hole in section.holes),
        members=tuple((name, offset + by) for name, offset in section.members),
    )


def _shifted(hole: tuple[int, int, int], by: int) -> tuple[int, int, int]:
    begin, end, word = hole
    return begin + by, end + by, word + by
