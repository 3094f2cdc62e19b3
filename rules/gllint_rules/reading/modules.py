"""From the text of a file to its facts: the outline at once, each section on demand."""

from __future__ import annotations

import re

from gllint_rules.reading import facts
from gllint_rules.reading.depth import is_hopeless
from gllint_rules.reading.edits import edited
from gllint_rules.reading.facts import Binding
from gllint_rules.reading.outline import Outline, Section, outline_of
from gllint_rules.reading.sections import Unreadable, read_statements
from gllint_rules.reading.syntax import ParseFailure


def read_module(
    path: str, source: str, old_module: facts.Module | None = None, outline: Outline | None = None
) -> facts.Module:
    """Return the facts of ``source``, which was read from ``path`` (absolute, forward slashes): its outline, for a
    start.

    ``before`` are those before an edit: they follow it, and what it left as it was stays. Where this raises, all does.
    ``outline`` is theirs if it exists already. Raises :class:`ParseFailure` if it is not Python.
    """
    code = source
    if old_module is not None:
        outline = edited(old_module.outline, old_module.code, source)
    try:
        outline = outline or outline_of(source)
    except ParseFailure as refused:
        # LibCST takes a null byte in a string or a comment; nothing that reads the text after it does.
        if "\0" in source or not refused.is_syntax or not _may_be_newer(source) or is_hopeless(source):
            raise
        from gllint_rules.reading.newer import lowered

        older = lowered(source)
        if older is None:
            raise
        code, outline = older, outline_of(older)
    if old_module is None:
        return facts.Module(path, source, outline, read_section, code)
    old_module.follow(source, outline, code)
    return old_module


# Syntax newer than the oldest Python that we run on: without it, LibCST is not loaded.
_NEWER = re.compile(
    r"""(?m)(?:^|[;:])[ \t\f]*type[\s\\]+[^\W\d]\w*[\s\\]*[=\[]  # a type alias
    | \b(?:def|class)[\s\\]+\w+[\s\\]*\[  # type parameters
    | \bexcept\b[\s\\*]+[^\s(:][^:\n]{0,200},  # several exceptions
    | \blazy[\s\\]+(?:import|from)\b  # a lazy import
    | [\[({][\s\\]{0,200}(?:\#[^\n]{0,200}\s{0,200}){0,3}\*[^;]{1,400}?\bfor\b  # a comprehension that unpacks
    | (?<!\w)(?:[tT][rR]?|[rR][tT])["']""",
    re.VERBOSE,
)
# An f-string as Python 3.11 sees it, which ends at the first quote of its kind, or with the line.
_F_STRING = re.compile(
    r"""(?<!\w)(?:[fF][rR]?|[rR][fF])
    (?: "{3}(.*?)(?:"{3}|\Z) | '{3}(.*?)(?:'{3}|\Z) | "((?:[^"\\\r\n]|\\.)*) | '((?:[^'\\\r\n]|\\.)*) )""",
    re.VERBOSE | re.DOTALL,
)
_DEEPEST = 3  # fields within fields that are looked into
_FIELD = re.compile(r"\{[^{}\\#]*\}")


def _may_be_newer(source: str) -> bool:
    """Return whether any newer syntax may be in ``source``."""
    if _NEWER.search(source) is not None:
        return True
    for match in _F_STRING.finditer(source):
        text = match[match.lastindex or 0]
        for _ in range(_DEEPEST):
            text = _FIELD.sub("", text)
        text = text.replace("{{", "").replace("}}", "")
        if "{" in text or "}" in text:  # the hole contains a quote of its own kind, a backslash or a comment
            return True
    return False


def read_section(module: facts.Module, section: Section) -> facts.SectionFacts:
    """Return the facts of one section of ``module``; none if it cannot be read, which ``module.unread`` notes."""
    section_facts = facts.SectionFacts(section)
    if section.kind == "imports":
        for bound, dotted, name in section.imports:
            section_facts.bound.setdefault(bound, []).append(Binding("import", module=dotted, name=name))
        return section_facts
    try:
        read_statements(module, section, section_facts)
    except Unreadable as error:
        module.unread[section.number] = str(error)
        return facts.SectionFacts(section)
    return section_facts
