"""What a project does, as far as its configuration should know: frameworks, units, kinds of number, dispatchers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gllint.run.engine import Engine, Outcome
from gllint_rules import Finding
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.words.framework_table import shipped

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][\w.]*)", re.MULTILINE)
_IN_TEMPLATE = re.compile(r"\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}")
_OF_TEMPLATES = re.compile(r"template|cookiecutter|\{\{", re.IGNORECASE)
_TEST_FILES = ("conftest.py", "test_*.py", "*_test.py")
_MACRO = re.compile(r"\{\{(?:claim:|tc_)")
_UNIT = re.compile(r"""["']unit["'][ \t]*:[ \t]*["']([^"'\n]{1,30})["']""")


@dataclass(slots=True)
class Survey:
    """What was seen. ``frameworks`` and ``units`` with how many files, or how often, the most frequent first.

    ``own`` are the findings that obey the project's configuration: a part of it may have one of its own. With
    ``has_macros`` a file mentions a claim macro.
    """

    outcome: Outcome
    own: list[Finding] = field(default_factory=list)
    frameworks: dict[str, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    dispatchers: tuple[str, ...] = ()
    in_tests: int = 0
    has_macros: bool = False
    templates: tuple[str, ...] = ()  # patterns of files that are no Python until someone fills them in


def survey(engine: Engine, root: str, base: str) -> Survey:
    """Return what is in the project in the folder ``root``: its findings, frameworks, units and dispatchers.

    ``base`` is the folder of its configuration. Raises :class:`UsageError`.
    """
    outcome = engine.check([root])
    source = engine.places.project(root).config.source
    obeying = [finding for finding in outcome.findings if engine.config_of(finding.path).source == source]
    frameworks: Counter[str] = Counter()
    units: Counter[str] = Counter()
    dispatchers: dict[str, None] = {}
    rows = [row for row in shipped().rows if row.imports]
    dispatching = _dispatching()
    has_macros = False
    for path in outcome.checked:
        source = engine.sources.code(path)
        modules = set(_IMPORT.findall(source))
        # Rows of one framework say behind its name which version or which part of it they are of: `mcp 1 low level`.
        frameworks.update({row.name.partition(" ")[0] for row in rows if any(map(row.owns, modules))})
        units.update(_UNIT.findall(source))
        has_macros = has_macros or _MACRO.search(source) is not None
        dispatchers.update(dict.fromkeys(a or b for a, b in dispatching.findall(source)))
    kinds = Counter(
        finding.kind
        for finding in obeying
        if finding.kind is not None and not is_test_path(finding.path, root)
    )
    broken = [finding.path for finding in obeying if finding.code == "GL900"]
    templates = [path for path in broken if _IN_TEMPLATE.search(engine.sources.code(path))]
    return Survey(
        outcome,
        obeying,
        _ranked(frameworks),
        _ranked(units),
        _ranked(kinds),
        tuple(dispatchers),
        sum(is_test_path(finding.path, root) for finding in obeying),
        has_macros,
        tuple(
            dict.fromkeys(_template_pattern(path.removeprefix(base.rstrip("/") + "/")) for path in templates)
        ),
    )


def _ranked(counts: Counter[str]) -> dict[str, int]:
    """Return the most frequent first, equals by name: the order of the files says nothing."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def test_patterns(paths: Sequence[str], root: str) -> tuple[str, ...]:
    """Return patterns for the test code among ``paths``: ``tests/``, ``test_*.py``."""
    patterns: dict[str, None] = {}
    for path in paths:
        relative = path.removeprefix(root.rstrip("/") + "/")
        if not is_test_path(path, root):
            continue
        *folders, name = relative.split("/")
        folder = next((f for f in ("tests", "test") if f in folders), None)
        if folder is not None:
            patterns[f"{folder}/"] = None
        else:
            patterns[next(pattern for pattern in _TEST_FILES if fnmatchcase(name, pattern))] = None
    return tuple(sorted(patterns))


def _template_pattern(relative: str) -> str:
    """Return the outermost folder of templates that a file lies in, else the file."""
    folders = relative.split("/")[:-1]
    depth = next((i for i, name in enumerate(folders, 1) if _OF_TEMPLATES.search(name)), None)
    return "/" + ("/".join(folders[:depth]) + "/" if depth is not None else relative)


def _dispatching() -> re.Pattern[str]:
    """Return the expression that finds a definition of a dispatcher (``def dispatch_tool``), or of a class derived
    from one.

    The names are those of the table of frameworks.
    """
    names = {name.rpartition(".")[2] for row in shipped().rows for name in row.dispatchers}
    either = "|".join(map(re.escape, sorted(names)))
    return re.compile(
        rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+({either})\b|^[ \t]*class[ \t]+(\w+)\([^)\n]*\b(?:{either})\b",
        re.MULTILINE,
    )
