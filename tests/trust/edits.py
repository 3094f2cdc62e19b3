"""A project that follows its edits, against one that is asked anew after each of them.

The projects are made ones and parts of real ones. An edit puts something in or takes it out, renames, adds a comment, an
import or a parameter, breaks the syntax, moves or removes a file, or undoes what one before it did. Some are typed into a
buffer, others are written on disk. After each of them every file is asked for its findings, with fixes now and then.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from trust import AGENT, Budget, Row, sum_of, write

from gllint.run.engine import Engine, Options
from gllint.server.live import LiveEngine
from gllint_rules import RULES, Finding, Settings
from gllint_rules.reading.syntax import ParseFailure, parsed
from gllint_rules.words.screen import Screen

_TESTS = Path(__file__).parents[1]
_ROUND = 40  # edits of a project, until another one has its turn
_LARGEST, _MOST_BYTES = 8, 60_000  # files and bytes of a project
_REAL = 150  # projects that are drawn from
_LEAST = 10_000  # edits in an hour
_SHARE_WITH_FIXES, _SHARE_ON_DISK, _SHARE_KEPT = 0.05, 0.4, 0.5
Files = dict[str, str]
Shown = tuple[Any, ...]


class Round(NamedTuple):
    """What came of the edits of one project: how many there were, findings after them, kinds, and what was wrong."""

    edits: int
    findings: int
    kinds: dict[str, int]
    wrong: list[str]


def rows(budget: Budget) -> Iterator[Row]:
    """One row for all edits."""
    projects = [*_made(), *(_real(budget) if budget.is_long() else ())]
    rounds = 10_000 if budget.is_long() else 1
    count = _ROUND if budget.is_long() else 10
    items = [(budget.random.choice(projects), budget.random.random(), count) for _ in range(rounds)]
    done = [*budget.map(_follow, items, partial(Round, 0, 0, {}), _LEAST, partial(sum_of, "edits"))]
    edits, findings = sum(item.edits for item in done), sum(item.findings for item in done)
    kinds = {kind: sum(item.kinds.get(kind, 0) for item in done) for kind in EDITS}
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    yield Row(
        "equivalence: edits",
        f"{edits} edits of {len(done)} projects ({told}), {findings} findings after them",
        [line for item in done for line in item.wrong][:20],
        edits,
        _LEAST,
    )


# --- the projects -------------------------------------------------------------------------------------------


def _made() -> list[Files]:
    """The cases of several files, and two that refer to each other in most ways that there are."""
    for folder in ("rules", "program"):
        sys.path.insert(0, str(_TESTS / folder))
    from test_kept import VERSIONS

    import test_following  # noqa: F401  # here, so that no process has to
    from harness import cases

    several = [
        case.files
        for path in sorted((_TESTS / "rules" / "cases").glob("*.md"))
        for case in cases(path)
        if len(case.files) > 1 and not case.configuration
    ]
    versions = {name: text for name, (text, *_) in VERSIONS.items() if text is not None}
    return [AGENT, versions, *several]


def _real(budget: Budget) -> list[Files]:
    """Parts of real projects in which a rule could speak about some file."""
    screen = Screen(Settings(needles=RULES.needles()))
    folders = [*budget.parts(_LARGEST).values()]
    budget.random.shuffle(folders)
    found: list[Files] = []
    for paths in islice(folders, 4_000):
        if len(found) == _REAL or not budget.goes_on(len(found)):
            break
        if len(paths) < 2 or sum(path.stat().st_size for path in paths) > _MOST_BYTES:
            continue
        data = {path: path.read_bytes() for path in paths}
        if not any(map(screen.passes, data.values())):
            continue
        try:
            found.append({_module_path(path): text.decode() for path, text in data.items()})
        except UnicodeDecodeError:
            continue
    return found


def _module_path(path: Path) -> str:
    """The path of a file from where its package is imported."""
    top = path.parent
    while (top / "__init__.py").exists():
        top = top.parent
    return str(path.relative_to(top))


# --- the edits ----------------------------------------------------------------------------------------------


def _any(chance: random.Random, text: str, others: Sequence[str]) -> str:
    from test_following import another

    return another(chance, text)


def _renamed(chance: random.Random, text: str, others: Sequence[str]) -> str:
    names = re.findall(r"\b(?:def|class) (\w+)", text) or re.findall(r"\b[a-z]\w{3,}\b", text)
    if not names:
        return text
    name = chance.choice(names)
    whole = rf"\b{name}\b" if chance.random() < 0.5 else rf"(?<=def ){name}\b|(?<=class ){name}\b"
    return re.sub(whole, chance.choice((f"{name}_2", "run", "area")), text)


def _at_line(chance: random.Random, text: str, line: str) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines) + 1)
    before = lines[at] if at < len(lines) else ""
    indent = before[: len(before) - len(before.lstrip())] if chance.random() < 0.7 else ""
    return "\n".join([*lines[:at], indent + line, *lines[at:]])


_COMMENTS = ("", "# more", "# noqa: GL101", "# gllint: ignore[GL401] old", "# claim: 5 kWh", "  ")


def _commented(chance: random.Random, text: str, others: Sequence[str]) -> str:
    comment = chance.choice(_COMMENTS)
    if chance.random() < 0.5:
        return _at_line(chance, text, comment)
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    lines[at] = lines[at].partition("  #")[0] if "  #" in lines[at] else f"{lines[at]}  {comment}"
    return "\n".join(lines)


def _imported(chance: random.Random, text: str, others: Sequence[str]) -> str:
    imports = [line for line in text.split("\n") if re.match(r"\s*(?:import|from) ", line)]
    if imports and chance.random() < 0.4:
        return text.replace(chance.choice(imports) + "\n", "", 1)
    module = chance.choice(others).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    line = chance.choice((f"import {module}", f"from {module} import *", f"from {module} import area as run"))
    return f"{line}\n{text}"


def _signed(chance: random.Random, text: str, others: Sequence[str]) -> str:
    """The signature or the decorators of a function become others."""
    found = [*re.finditer(r"^( *)def \w+\(([^()]*)\)( -> [\w.\[\], ]+)?:", text, re.MULTILINE)]
    if not found:
        return text
    match = chance.choice(found)
    if chance.random() < 0.3:
        return f"{text[: match.start()]}{match[1]}@tool\n{text[match.start() :]}"
    start, end = match.span(2)
    parameters = chance.choice(
        (f"{match[2]}, more=2.5" if match[2] else "more", "self, site: str", "", "*args")
    )
    return text[:start] + parameters + text[end:]


def _broken(chance: random.Random, text: str, others: Sequence[str]) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(("(", ")", '"""', "def (", "\\", "\0")) + text[at:]


Change = Callable[[random.Random, str, Sequence[str]], str]
_CHANGES: dict[str, Change] = {
    "inserted or deleted": _any,
    "renames": _renamed,
    "comments": _commented,
    "imports": _imported,
    "signatures": _signed,
    "syntax errors": _broken,
}
EDITS = (*_CHANGES, "undone", "moved or removed")
_WEIGHTS = (30, 10, 12, 10, 10, 8, 14, 6)


class _Followed:
    """A project on disk and in buffers, as an editor's server follows it, and its past."""

    def __init__(self, top: Path, files: Files) -> None:
        self.top = top
        write(top, {"gllint.toml": "", **files})
        self.buffers: dict[str, str] = {}
        self.texts = {str(top / name): text for name, text in files.items()}
        self.past = [dict(self.texts)]
        self.engine = LiveEngine(Options(jobs=1, cache=False))
        self.engine.places.ask_about([str(top)])
        self.workspace = self.engine.live(self.engine.places.project(str(top)))
        self.workspace.load()

    def put(self, path: str, text: str, *, on_disk: bool) -> None:
        """Give a file another text, as somebody who types does, or who saves it elsewhere."""
        self.texts[path] = text
        data = text.encode("utf-8", "surrogateescape")
        if not on_disk or path in self.buffers:
            self.buffers[path] = text
            self.engine.sources.put(path, data)
        else:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(data)
            if self.workspace.written(path):
                return
        self.workspace.changed(path)

    def remove(self, path: str) -> None:
        """Close a file and take it away."""
        del self.texts[path]
        self.buffers.pop(path, None)
        self.engine.sources.drop(path)
        Path(path).unlink(missing_ok=True)
        self.workspace.changed(path)

    def save(self) -> None:
        """Write the buffers, and close them."""
        for path, text in self.buffers.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(text.encode("utf-8", "surrogateescape"))
            self.engine.sources.drop(path)
            if not self.workspace.written(path):
                self.workspace.changed(path)
        self.buffers = {}

    def edit(self, chance: random.Random) -> str:
        """Do one edit; which kind it was."""
        [kind] = chance.choices(EDITS, _WEIGHTS)
        names = [path for path in self.texts if path.endswith(".py")]
        path, on_disk = chance.choice(names), chance.random() < _SHARE_ON_DISK
        if kind == "undone":
            for other, text in chance.choice(self.past[-6:] + self.past[:1]).items():
                if self.texts.get(other) != text:
                    self.put(other, text, on_disk=on_disk)
        elif kind == "moved or removed":
            text = self.texts[path]
            if len(names) > 1:
                self.remove(path)
            place = chance.choice(
                ("moved.py", "sub/__init__.py", None, str(Path(path).relative_to(self.top)))
            )
            if place is not None:
                self.put(str(self.top / place), text, on_disk=on_disk)
        else:
            others = [str(Path(name).relative_to(self.top)) for name in names]
            self.put(path, _CHANGES[kind](chance, self.texts[path], others), on_disk=on_disk)
        self.past.append(dict(self.texts))
        if chance.random() < 0.15:
            self.save()
        return kind

    def remembered(self, *, fixes: bool) -> dict[str, list[Shown]]:
        """What is said of each file, once there was time for what can wait.

        A server checks a file that somebody looks at again, for what it asks about the whole project.
        """
        list(self.workspace.settle())
        results = self.workspace._results
        for path in [*self.buffers, *(path for path, result in results.items() if result.consulted)]:
            self.workspace.forget_results(path)
        list(self.workspace.settle())
        said = {
            path: [shown(finding, fixes) for finding in self.engine.conclude(path, fixes).findings]
            for path in sorted(self.texts)
        }
        return {path: findings for path, findings in said.items() if findings}

    def anew(self, *, fixes: bool, is_kept: bool = False) -> dict[str, list[Shown]]:
        """What somebody says who knows nothing, or what the cache ``is_kept`` of. An open file is one that is named."""
        engine = Engine(Options(cache=is_kept, jobs=1, fixes=fixes))
        for path, text in self.buffers.items():
            engine.sources.put(path, text.encode("utf-8", "surrogateescape"))
        said: dict[str, list[Shown]] = {}
        for finding in engine.check([str(self.top), *sorted(self.buffers)]).findings:
            said.setdefault(finding.path, []).append(shown(finding, fixes))
        return said


def is_sound(path: str, text: str) -> bool:
    """Whether a file is Python, or need not be."""
    if not path.endswith(".py"):
        return True
    try:
        parsed(text)
    except (ValueError, ParseFailure):
        return False
    return True


def shown(finding: Finding, fixes: bool) -> Shown:
    """What a user sees of a finding."""
    return finding.code, finding.span, finding.message, finding.help, str(finding.fix) if fixes else ""


def _follow(item: tuple[Files, float, int]) -> Round:
    files, seed, most = item
    chance = random.Random(seed)
    count, found, wrong, kinds = 0, 0, list[str](), dict[str, int]()
    with TemporaryDirectory() as folder:
        here = _Followed(Path(folder, "project"), files)
        for _ in range(most):
            kind = here.edit(chance)
            fixes = chance.random() < _SHARE_WITH_FIXES
            remembered, anew = here.remembered(fixes=fixes), here.anew(fixes=fixes)
            if broken := {path for path, text in here.texts.items() if not is_sound(path, text)}:
                # What other files said stays until it is mended, which most likely the next edit does.
                remembered, anew = (
                    {path: said.get(path) for path in broken & here.buffers.keys()}
                    for said in (remembered, anew)
                )
            elif chance.random() < _SHARE_KEPT and not here.buffers:
                kept = here.anew(fixes=fixes, is_kept=True)
                if kept != anew:
                    wrong.append(
                        f"seed {seed}, edit {count} of {sorted(files)}: with the cache {str(kept)[:800]}"
                    )
                    break
            count, found = count + 1, found + sum(len(findings or ()) for findings in anew.values())
            kinds[kind] = kinds.get(kind, 0) + 1
            if remembered != anew:
                paths = sorted(
                    path for path in remembered.keys() | anew.keys() if remembered.get(path) != anew.get(path)
                )
                told = {path: (remembered.get(path), anew.get(path)) for path in paths}
                wrong.append(f"seed {seed}, edit {count} of {sorted(files)} ({kind}): {str(told)[:1500]}")
                break
    return Round(count, found, kinds, wrong)
