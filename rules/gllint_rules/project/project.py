"""The facts of all modules of a project together, read on demand, with stored answers.

:class:`~gllint_rules.project.imports.Imports` knows which file an import leads to,
:class:`~gllint_rules.tools.tools.Tools` which values are tools, the evaluator what expressions contain; a
:class:`Project` contains the three, and remembers what others ask of all of its modules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast

from gllint_rules.finding import Cut
from gllint_rules.project.imports import Imports
from gllint_rules.project.test_paths import is_test_path
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Read, Reads, Spoilt, noted
from gllint_rules.reading.section_texts import Edited
from gllint_rules.tools.registrars import Registrar
from gllint_rules.tools.tools import Subclass, Tools, forgotten
from gllint_rules.words.names import Names
from gllint_rules.words.settings import Settings

if TYPE_CHECKING:
    from gllint_rules.reading.positions import Positions

_T = TypeVar("_T")
_G = TypeVar("_G")
_Arguments = TypeVarTuple("_Arguments")
_ROUNDS = 3  # modules through which a function may be passed until it is registered


class AnnouncedModules(Mapping[str, Module]):
    """The modules to check, by path. One that was announced by its path alone is read on demand.

    ``on_iteration`` is called when all of them are needed.
    """

    def __init__(self, read: Callable[[str], Module], on_iteration: Callable[[], None]) -> None:
        self.paths: dict[str, Module | None] = {}
        self._read, self._on_iteration = read, on_iteration

    def __getitem__(self, path: str) -> Module:
        module = self.paths[path]
        if module is None:
            module = self.paths[path] = self._read(path)
        return module

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        self._on_iteration()
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


class Project:
    """All that is known of the code under lint.

    ``load`` gives the facts of a file or ``None``; ``exists`` says whether there is one; ``source_of`` gives the
    text of a file that has findings. Paths are absolute, with forward slashes. ``packages`` are the folders in
    which each top-level package of the project lies (see :func:`~gllint_rules.project.imports.top_level_packages`).
    ``talks`` means that a file that is not announced imports a framework or a model's SDK.
    Modules that are not announced are loaded when a value leads into them; what those build that the project does not
    ``owns`` is reported where it is called. ``old_values`` gives the arguments of a part (see :meth:`answers`) with
    what it said earlier of modules of which the same contains now; ``holding``, where edits are followed, those of some
    files that contain one of some words; ``reads``, where edits are followed, notes what answers rest on.
    """

    def __init__(
        self,
        settings: Settings,
        load: Callable[[str], Module | None],
        exists: Callable[[str], bool],
        source_of: Callable[[str], str],
        root: str = "",
        packages: Mapping[str, Sequence[str]] | None = None,
        owns: Callable[[str], bool] = lambda path: True,
        talks: bool = False,
        old_values: Callable[[Any], Iterable[tuple[Any, dict[str, Any]]]] = lambda part: (),
        holding: Callable[[frozenset[str], Collection[str]], Collection[str]] | None = None,
        reads: Reads | None = None,
    ) -> None:
        self.settings = settings
        self.names = Names.of(settings)
        self.root = root
        self.source_of = source_of
        # What was asked of all modules together since this was emptied: whole questions with what they were
        # given, and ``everything``.
        self.consulted: set[tuple[Any, ...]] = set()
        self.reads = reads
        self.imports = Imports(load, exists, packages or {}, owns, reads, root)
        self.modules = AnnouncedModules(self._read, lambda: self.consulted.add((everything,)))
        self._screened_out_talks = talks
        self._talks: bool | None = None
        self.tools = Tools(
            self.imports,
            self.names,
            self.talks,
            lambda: self.once(registrars),
            settings.packages,
            reads,
            lambda: self.once(subclasses),
        )
        self.evaluator = self.tools.evaluator
        self._cut_count = 0  # how many of the cuts
        self._asking = 0  # how many questions about the whole project are open
        self._positions: dict[str, Positions] = {}
        self._answers: dict[object, Any] = {}
        self._old_values, self._holding = old_values, holding
        self._parts: dict[tuple[Callable[..., Any], Any], dict[str, Any]] = {}
        # What was read for them, where that is noted.
        self._parts_read: dict[tuple[Callable[..., Any], Any], dict[str, frozenset[Read]]] = {}
        # Where other processes have the same project: the answers of a part for all modules, shared among them.
        self.share_out: Callable[[Any, Any], Mapping[str, Any]] | None = None

    def add(self, module: Module) -> None:
        """Announce a module that the screen let through."""
        self.modules.paths[module.path] = module
        self.imports.add(module)
        self._forget_answers()

    def announce(self, path: str) -> None:
        """Announce a module that is read on demand."""
        self.modules.paths[path] = None
        self._forget_answers()

    def _module(self, path: str) -> Module:
        return self.modules[path] if path in self.modules else self._read(path)

    def _read(self, path: str) -> Module:
        return self.imports.module_at(path) or read_module(path, "")  # as good as empty, if it has gone since

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._talks = None

    def inherit(
        self, old: Project, changed: Collection[str], answers: Project | None = None
    ) -> frozenset[str]:
        """Take over the answers of ``old`` that depend on no module at ``changed``, and on none that came or went.

        The other modules must be the same objects, and the same files must exist. ``answers`` is the project whose
        inferred values are taken over, if it is not ``old``. Return the paths of the modules whose findings may differ.
        """
        answers = answers or old
        gone = old.modules.paths.keys() ^ self.modules.paths.keys()
        paths = {*changed, *gone}
        spoilt = Spoilt(
            [module.key for path in paths if (module := answers.imports.loaded_module(path)) is not None],
            paths,
        )
        self.imports.inherit(old.imports, changed)
        self.tools.inherit(old.tools, paths)
        if self.tools.following is not None and answers.tools.following is not None:
            self.tools.following.inherit(answers.tools.following)
        self._parts = {key: dict(values) for key, values in old._parts.items()}
        self._parts_read = {key: dict(read) for key, read in old._parts_read.items()}
        return self._forget(paths, old.imports.reaching(paths), spoilt, old.talks())

    def follow(self, changed: Collection[str]) -> frozenset[str]:
        """Forget the answers that depend on the edited modules at ``changed``.

        Return the paths of the modules whose findings may differ; none if the edit changed only places.
        """
        followed = [*filter(None, map(self.imports.loaded_module, changed))]
        if len(followed) == len(changed) and all(module.edited == Edited.PLACES for module in followed):
            self._forget_places(changed)
            return frozenset()
        talked = self.talks()
        modules: set[int] = set()
        reads: set[Read] = set()
        for module in followed:
            if module.spoilt is None:
                modules.add(module.key)
            else:
                reads.update(module.key | number for number in module.spoilt)
        stale = self.imports.reaching(changed)
        self.imports.follow(changed)
        return self._forget(changed, stale, Spoilt(modules, reads), talked)

    def _forget_places(self, changed: Collection[str]) -> None:
        """Forget the places in the modules at ``changed``."""
        for path in changed:
            self._positions.pop(path, None)
            for key, values in self._parts.items():
                values.pop(path, None)  # some of them contain places
                self._parts_read.get(key, {}).pop(path, None)
        # Answers to whole questions contain no places; memories may.
        self._answers = {key: answer for key, answer in self._answers.items() if isinstance(key, tuple)}

    def _forget(
        self, changed: Collection[str], stale: frozenset[str], spoilt: Spoilt, talked: bool
    ) -> frozenset[str]:
        """Forget the ``spoilt`` answers, and those of ``stale`` modules whose dependencies are unknown."""
        self._forget_answers()
        if self.reads is not None:
            self.reads.now = set()
        for path in changed:
            self._positions.pop(path, None)

        for key, values in self._parts.items():
            read = self._parts_read.get(key, {})
            for path in forgotten(values, read, changed, stale, spoilt):
                del values[path]
                read.pop(path, None)
        is_as_before = self.talks() == talked
        if is_as_before and self.tools.following is not None:
            self.tools.following.forget_spoilt(spoilt)
        else:
            self.evaluator.forget()
        if is_as_before:
            self.tools.forget(changed, stale, spoilt)
        else:
            self._parts.clear()
            self._parts_read.clear()
            self.tools.forget_all(changed)
        return stale

    def judge_by(self, settings: Settings) -> None:
        """Use other ``settings`` from now on, which may only differ in what they allow.

        Raises ValueError if they also differ in what counts as a tool or a message.
        """
        if not settings.reads_like(self.settings):
            raise ValueError("these settings change the meaning of the modules")
        self.settings = settings
        self._forget_answers()

    def talks(self) -> bool:
        """Return whether a file of the project imports a framework of the table or a model's SDK, or reads a
        model's calls of tools.
        """
        if self._talks is None:
            self._talks = self._screened_out_talks or any(self._answers_of(_talks_to_a_model, None))
        return self._talks

    def answers(self, part: Callable[[Project, Module, _G], _T], argument: _G) -> Iterator[_T]:
        """Yield the answer of ``part`` for each module, stored under ``part`` and ``argument``.

        A question about the whole project is best asked in such parts: an edit leaves most of them valid. An answer may
        depend on ``argument``, the module and its imports. It must not be changed, and must be picklable, since other
        processes may compute it.
        """
        if not self._asking:
            self.consulted.add((everything,))
        return self._answers_of(part, argument)

    def answers_by_words(
        self,
        part: Callable[[Project, Module, tuple[frozenset[str], _G]], _T],
        words: frozenset[str],
        argument: _G,
    ) -> Iterator[_T]:
        """Like :meth:`answers`, for a part that only uses those ``words`` that are in the text of a module.

        If the words differ little from those of a stored answer, only modules with one of the different words are read.
        """
        if self._holding is not None and (part, (words, argument)) not in self._parts:
            old = [key for key in self._parts if key[0] is part]  # their words are not asked for again
            earlier = [(key[1], self._parts.pop(key), self._parts_read.pop(key, {})) for key in old]
            cache_parts = (
                (old_argument, values, dict[str, frozenset[Read]]())
                for old_argument, values in self._old_values(part)
            )
            candidates = [candidate for candidate in (*earlier, *cache_parts) if candidate[0][1] == argument]
            if candidates:
                (old_words, _), values, read = min(
                    candidates, key=lambda candidate: len(words ^ candidate[0][0])
                )
                stale = self._holding(words ^ old_words, values) if words != old_words else ()
                values = {path: value for path, value in values.items() if path not in stale}
                self._parts[part, (words, argument)] = values
                self._parts_read[part, (words, argument)] = {p: r for p, r in read.items() if p in values}
        return self.answers(part, (words, argument))

    def _answers_of(self, part: Callable[[Project, Module, _G], _T], argument: _G) -> Iterator[_T]:
        """Yield the answer of each module to a question about it; other processes may find some of them."""
        values = self._values_of(part, argument)
        if (
            self.share_out is not None
            and self.evaluator.depth == 0
            and self.modules.paths.keys() > values.keys()
        ):
            values.update(self.share_out(part, argument))
        for path in self.modules.paths:
            if path not in values:
                values[path] = self._part(part, path, argument)
            yield values[path]

    def parts(
        self, part: Callable[[Project, Module, _G], _T], argument: _G, paths: Iterable[str]
    ) -> dict[str, _T]:
        """Return the answers of ``part`` for the modules at ``paths``, which another process asked for."""
        values = self._values_of(part, argument)
        for path in paths:
            if path not in values:
                values[path] = self._part(part, path, argument)
        return {path: values[path] for path in paths}

    def _part(self, part: Callable[[Project, Module, _G], _T], path: str, argument: _G) -> _T:
        value, read = noted(self.reads, lambda: part(self, self._module(path), argument))
        if self.reads is not None:
            self._parts_read.setdefault((part, argument), {})[path] = read
        return value

    def remember(
        self, part: Callable[[Project, Module, _G], _T], argument: _G, values: Mapping[str, _T]
    ) -> None:
        """Take over the answers of ``part`` that another process computed."""
        self._values_of(part, argument).update(values)

    def _values_of(self, part: Callable[[Project, Module, _G], _T], argument: _G) -> dict[str, _T]:
        key = part, argument
        if key not in self._parts:
            self._parts[key] = next(
                (values for old_argument, values in self._old_values(part) if old_argument == argument), {}
            )
        return self._parts[key]

    @property
    def part_values(self) -> Mapping[tuple[Callable[..., Any], Any], Mapping[str, Any]]:
        """The answers that modules have given so far, by question and argument, then by module."""
        return self._parts

    def once(self, question: Callable[[Project, *_Arguments], _T], *arguments: *_Arguments) -> _T:
        """Return the answer to a question about the whole project, stored until another module is announced.

        ``arguments`` must be plain values.
        """
        key = question, *arguments
        self.consulted.add(key)
        if key not in self._answers:
            self._asking += 1
            try:
                if self.reads is None:
                    self._answers[key] = question(self, *arguments)
                else:
                    self._answers[key] = self.reads.apart(lambda: question(self, *arguments))
            finally:
                self._asking -= 1
        answer: _T = self._answers[key]
        return answer

    def memory(self, make: Callable[[Project], _T]) -> _T:
        """Return the object that ``make`` creates to store answers in; dropped with the answers of :meth:`once`."""
        if make not in self._answers:
            self._answers[make] = make(self)
        answer: _T = self._answers[make]
        return answer

    def positions(self, module: Module) -> Positions:
        """Return the places of the expressions of ``module``."""
        positions = self._positions.get(module.path)
        if positions is None or positions.module is not module:
            from gllint_rules.reading.positions import positions_of

            positions = positions_of(module)
            self._positions[module.path] = positions
        return positions

    def cuts(self) -> list[Cut]:
        """Return the places where budgets ran out since the last call."""
        new = list(self.evaluator.cuts.items())[self._cut_count :]
        self._cut_count += len(new)
        return [
            # A question about a module as a whole has no place in it.
            Cut(site.module.path, self.positions(site.module).span(site.at).line if site.at else 1, budget)
            for site, budget in new
        ]


def everything(project: Project) -> None:
    """Stand for an unknown question about all modules in ``consulted``. Never called."""


def _talks_to_a_model(project: Project, module: Module, argument: None) -> bool:
    table = project.names.table
    requests = table.descriptions.quoted_requests
    return table.talks_to_a_model(module.outline.modules()) or any(
        module.mentions(section, requests) for section in module.outline.sections
    )


def registrars(project: Project) -> frozenset[Registrar]:
    """Return the registrars: functions of the project to which other modules pass functions."""
    registrars = new = frozenset(
        Registrar._make(fields) for part in project.answers(_registrars_in, None) for fields in part
    )
    for _ in range(_ROUNDS):
        if not new:
            break
        parts = project.answers(_registrars_through, new)
        new = frozenset(Registrar._make(fields) for part in parts for fields in part) - registrars
        registrars |= new
    return frozenset(_without_tests(project, registrar) for registrar in registrars)


def subclasses(project: Project) -> frozenset[Subclass]:
    """Return the classes of the project that have a base, each by the last name of one."""
    return frozenset(
        Subclass._make(fields) for part in project.answers(_subclasses_in, None) for fields in part
    )


def _subclasses_in(project: Project, module: Module, argument: None) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (base.rpartition(".")[2], module.path, section.name)
        for section in module.outline.sections
        if section.kind == "class" and not is_test_path(module.path, project.root)
        for base in section.bases
    )


def _without_tests(project: Project, registrar: Registrar) -> Registrar:
    """Return a registrar as of the kind "tested" if it is the name of a tool in a test: no other file calls that."""
    is_tested = registrar.kind == "described" and is_test_path(registrar.path, project.root)
    return registrar._replace(kind="tested") if is_tested else registrar


def _registrars_in(
    project: Project, module: Module, argument: None
) -> frozenset[tuple[str, int, str, str, str, str]]:
    project.tools.own(module)
    forms = project.tools.forms
    return frozenset((*forms.registrars.get(module.path, ()), *forms.decorator_aliases(module)))


def _registrars_through(
    project: Project, module: Module, registrars: frozenset[tuple[str, int, str, str, str, str]]
) -> frozenset[tuple[str, int, str, str, str, str]]:
    return project.tools.forms.registrars_in(module, cast("frozenset[Registrar]", registrars))
