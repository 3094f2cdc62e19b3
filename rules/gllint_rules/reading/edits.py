"""What an edit leaves of a file's outline, so that a keystroke reads again what it touched and nothing else."""

from __future__ import annotations

from dataclasses import replace

from gllint_rules.reading.outline import Outline, Section, outline_of_part
from gllint_rules.reading.syntax import ParseFailure


def edited(old: Outline, before: str, source: str) -> Outline | None:
    """The outline of ``source``, made of the ``old`` one of what was there ``before`` where that can be told.

    Statements that stand on lines of their own, each complete, are Python together as they are apart. So what was
    edited is parsed alone, from the statement before to the one behind, and the rest stays as it was. ``None``
    where that text is no Python by itself, or where it imports, which says something of the whole file.
    """
    start = _alike(before, source)
    behind = _alike(before[start:][::-1], source[start:][::-1])
    stop, by = len(before) - behind, len(source) - len(before)
    tops = [section for section in old.sections if section.owner is None]
    above = [section for section in tops if section.end < start]
    below = [section for section in tops if section.begin > stop]
    begin = above[-1].end if above else 0
    end = below[0].begin if below else len(before)
    if "import" in before[begin:end] or "import" in source[begin : end + by]:
        return None
    first = next((s.number for s in tops if s.end >= start), len(old.sections))
    last = below[0].number if below else len(old.sections)
    try:
        made = outline_of_part(source, begin, end + by, first, old.aliases)
    except ParseFailure:
        return None
    count = first + len(made) - last
    rest = [_moved(section, by, count) for section in old.sections[last:]]
    sections = (*old.sections[:first], *made, *rest)
    return replace(old, sections=sections, mutated=frozenset().union(*(s.mutated for s in sections)))


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _moved(section: Section, by: int, count: int) -> Section:
    """The section as it stands ``by`` characters and ``count`` sections further on."""
    if not by and not count:
        return section
    return replace(
        section,
        number=section.number + count,
        owner=None if section.owner is None else section.owner + count,
        begin=section.begin + by,
        end=section.end + by,
        holes=tuple((begin + by, end + by, word + by) for begin, end, word in section.holes),
        members=tuple((name, offset + by) for name, offset in section.members),
    )
