"""The facts of all modules joined. It answers lazily and remembers.

:class:`~gllint_rules.project.imports.Imports` knows which file an import leads to,
:class:`~gllint_rules.project.tools.Tools` which values are tools, the evaluator what expressions hold; a
:class:`Project` holds the three, and remembers what others ask of all of its modules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from gllint_rules.finding import Cut
from gllint_rules.project.imports import Imports
from gllint_rules.project.tools import Tools
from gllint_rules.reading.facts import Module
from gllint_rules.words.names import Names
from gllint_rules.words.settings import Settings

if TYPE_CHECKING:
    from gllint_rules.reading.positions import Positions

_T = TypeVar("_T")
_G = TypeVar("_G")


class Project:
    """All that is known of the code under lint.

    ``load`` gives the facts of a file or ``None``; ``exists`` says whether there is one; ``source_of`` gives the
    text of a file that has findings. Paths are absolute, with forward slashes. ``packages`` are the folders in
    which each top-level package of the project lies (see :func:`~gllint_rules.project.imports.top_level_packages`).
    ``mentioning`` gives the files of the project, those among them that nobody announced, that hold a word, and on
    request those around it that nobody lints; ``None`` where that is not known. ``talks`` says that a file which
    nobody announces imports a framework or a model's SDK.
    Modules that nobody announced are loaded when a value leads into them; what those build that the project does not
    ``owns`` is reported where it is called.
    """

    def __init__(
        self,
        settings: Settings,
        load: Callable[[str], Module | None],
        exists: Callable[[str], bool],
        source_of: Callable[[str], str],
        root: str = "",
        packages: Mapping[str, Sequence[str]] | None = None,
        mentioning: Callable[[str, bool], Collection[str] | None] = lambda word, around: None,
        owns: Callable[[str], bool] = lambda path: True,
        talks: bool = False,
    ) -> None:
        self.settings = settings
        self.names = Names.of(settings)
        self.root = root
        self.source_of = source_of
        self.mentioning = mentioning
        self.modules: dict[str, Module] = {}
        self.imports = Imports(load, exists, packages or {}, owns)
        self.talks = talks
        self.tools = Tools(self.imports, self.names, lambda: self.once(_talks_to_a_model))
        self.evaluator = self.tools.evaluator
        self._told = 0  # how many of the cuts
        self._positions: dict[str, Positions] = {}
        self._answers: dict[object, Any] = {}
        self._parts: dict[object, tuple[object, dict[str, Any]]] = {}
        # Where others hold the same project: what a part says of all modules, found out by all of them together.
        self.share_out: Callable[[Any, Any], Mapping[str, Any]] | None = None

    def add(self, module: Module) -> None:
        """Announce a module that the screen let through."""
        self.modules[module.path] = module
        self.imports.add(module)
        self._answers.clear()

    def inherit(self, old: Project, changed: Collection[str]) -> frozenset[str]:
        """Take over what ``old`` knows of the tools of modules that do not reach one of ``changed``.

        The modules added to both must be the same objects, those at ``changed`` aside, and the same files must
        exist. Returns the paths of which nothing is taken over.
        """
        come_and_gone = old.modules.keys() ^ self.modules.keys()
        stale = old.imports.reaching({*changed, *come_and_gone})
        self.imports.inherit(old.imports, changed)
        self.tools.inherit(old.tools, lambda path: path not in stale and self.imports.is_loaded(path))
        for part, (given, known) in old._parts.items():
            self._parts[part] = (given, {path: value for path, value in known.items() if path not in stale})
        return stale

    def judge_by(self, settings: Settings) -> None:
        """Judge by other ``settings`` from now on, which may differ from those so far in what they allow alone.

        Raises ``ValueError`` where they differ in what is a tool, or a message.
        """
        if not settings.reads_like(self.settings):
            raise ValueError("these settings tell something else of the modules")
        self.settings = settings
        self._answers.clear()

    def each(self, part: Callable[[Project, Module, _G], _T], given: _G) -> Iterator[tuple[Module, _T]]:
        """For each module what ``part`` says of it, remembered as long as ``given`` is the same.

        A question about the whole project is best asked in such parts: an edit leaves most of them valid. What a
        part says may rest on ``given``, the module and what its names lead to, and must not be changed; all of these
        may go from process to process.
        """
        known = self._known_parts(part, given)
        if self.share_out is not None and self.evaluator.depth == 0 and self.modules.keys() > known.keys():
            known.update(self.share_out(part, given))
        for path, module in self.modules.items():
            if path not in known:
                known[path] = part(self, module, given)
            yield module, known[path]

    def parts(
        self, part: Callable[[Project, Module, _G], _T], given: _G, paths: Iterable[str]
    ) -> dict[str, _T]:
        """What ``part`` says of the modules at ``paths``: the share of another one who asks about all of them."""
        known = self._known_parts(part, given)
        for path in paths:
            if path not in known:
                known[path] = part(self, self.modules[path], given)
        return {path: known[path] for path in paths}

    def _known_parts(self, part: Callable[[Project, Module, _G], _T], given: _G) -> dict[str, _T]:
        held, known = self._parts.get(part, (None, {}))
        if held != given or part not in self._parts:
            known = {}
            self._parts[part] = (given, known)
        return known

    def once(self, question: Callable[[Project], _T]) -> _T:
        """The answer to a question about the whole project, remembered until another module is announced."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: _T = self._answers[question]
        return answer

    def positions(self, module: Module) -> Positions:
        """The places of the expressions of ``module``."""
        found = self._positions.get(module.path)
        if found is None or found.module is not module:
            from gllint_rules.reading.positions import Positions

            found = Positions(module)
            self._positions[module.path] = found
        return found

    def cuts(self) -> list[Cut]:
        """Where budgets ran out since this was last asked."""
        new = list(self.evaluator.cuts.items())[self._told :]
        self._told += len(new)
        return [
            # A question about a module as a whole has no place in it.
            Cut(site.module.path, self.positions(site.module).span(site.at).line if site.at else 1, budget)
            for site, budget in new
        ]


def _talks_to_a_model(project: Project) -> bool:
    """Whether a file of the project imports a framework of the table or a model's SDK."""
    table = project.names.table
    return project.talks or any(
        table.talks_to_a_model(module.outline.modules()) for module in project.modules.values()
    )
