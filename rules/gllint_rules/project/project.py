"""The facts of all modules joined. It answers lazily and remembers.

:class:`~gllint_rules.project.imports.Imports` knows which file an import leads to,
:class:`~gllint_rules.tools.tools.Tools` which values are tools, the evaluator what expressions hold; a
:class:`Project` holds the three, and remembers what others ask of all of its modules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast

from gllint_rules.finding import Cut
from gllint_rules.project.imports import Imports
from gllint_rules.reading.facts import Module
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.reads import Read, Reads, Spoilt, noted
from gllint_rules.tools.registrars import Registrar
from gllint_rules.tools.tools import Tools, forgotten
from gllint_rules.words.names import Names
from gllint_rules.words.settings import Settings

if TYPE_CHECKING:
    from gllint_rules.reading.positions import Positions

_T = TypeVar("_T")
_G = TypeVar("_G")
_Given = TypeVarTuple("_Given")
_ROUNDS = 3  # modules between one that hands functions over and one that gives them


class Announced(Mapping[str, Module]):
    """The announced modules by their paths; one of which the path alone was told is read when it is asked for.

    ``seen`` is called by whoever looks at all of them.
    """

    def __init__(self, read: Callable[[str], Module], seen: Callable[[], None]) -> None:
        self.paths: dict[str, Module | None] = {}
        self._read, self._seen = read, seen

    def __getitem__(self, path: str) -> Module:
        module = self.paths[path]
        if module is None:
            module = self.paths[path] = self._read(path)
        return module

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        self._seen()
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


class Project:
    """All that is known of the code under lint.

    ``load`` gives the facts of a file or ``None``; ``exists`` says whether there is one; ``source_of`` gives the
    text of a file that has findings. Paths are absolute, with forward slashes. ``packages`` are the folders in
    which each top-level package of the project lies (see :func:`~gllint_rules.project.imports.top_level_packages`).
    ``talks`` says that a file which nobody announces imports a framework or a model's SDK.
    Modules that nobody announced are loaded when a value leads into them; what those build that the project does not
    ``owns`` is reported where it is called. ``said`` gives what a part (see :meth:`each`) was given
    and said earlier of modules of which the same holds now; ``holding``, where edits are followed, those of some files
    that hold one of some words; ``reads``, where edits are followed, notes what answers rest on.
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
        said: Callable[[Any], Iterable[tuple[Any, dict[str, Any]]]] = lambda part: (),
        holding: Callable[[frozenset[str], Collection[str]], Collection[str]] | None = None,
        reads: Reads | None = None,
    ) -> None:
        self.settings = settings
        self.names = Names.of(settings)
        self.root = root
        self.source_of = source_of
        # What was asked of all modules together since somebody emptied this: whole questions with what they were
        # given, and ``everything``.
        self.consulted: set[tuple[Any, ...]] = set()
        self.reads = reads
        self.imports = Imports(load, exists, packages or {}, owns, reads)
        self.modules = Announced(self._read, lambda: self.consulted.add((everything,)))
        self._screened_out_talks = talks
        self._talks: bool | None = None
        self.tools = Tools(
            self.imports, self.names, self.talks, lambda: self.once(taken), settings.packages, reads
        )
        self.evaluator = self.tools.evaluator
        self._told = 0  # how many of the cuts
        self._asking = 0  # how many questions about the whole project are open
        self._positions: dict[str, Positions] = {}
        self._answers: dict[object, Any] = {}
        self._said, self._holding = said, holding
        self._parts: dict[tuple[Callable[..., Any], Any], dict[str, Any]] = {}
        # What was read for them, where that is noted.
        self._parts_read: dict[tuple[Callable[..., Any], Any], dict[str, frozenset[Read]]] = {}
        # Where others hold the same project: what a part says of all modules, found out by all of them together.
        self.share_out: Callable[[Any, Any], Mapping[str, Any]] | None = None

    def add(self, module: Module) -> None:
        """Announce a module that the screen let through."""
        self.modules.paths[module.path] = module
        self.imports.add(module)
        self._forget_answers()

    def announce(self, path: str) -> None:
        """Announce a module that is read once somebody asks for it."""
        self.modules.paths[path] = None
        self._forget_answers()

    def _read(self, path: str) -> Module:
        return self.imports.module_at(path) or read_module(path, "")  # as good as empty, if it has gone since

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._talks = None

    def inherit(
        self, old: Project, changed: Collection[str], answers: Project | None = None
    ) -> frozenset[str]:
        """Take over what ``old`` knows, as far as it rests on no module at ``changed`` and on none that came or went.

        The other modules must be the same objects, and the same files must exist. ``answers`` is the project whose
        inferred values are taken over, in place of ``old``. Returns the paths of the modules that may say something
        else now.
        """
        answers = answers or old
        gone = old.modules.paths.keys() ^ self.modules.paths.keys()
        others = {*changed, *gone}
        spoilt = Spoilt(
            [module.key for path in others if (module := answers.imports.known(path)) is not None], others
        )
        self.imports.inherit(old.imports, changed)
        self.tools.inherit(old.tools, others)
        if self.tools.following is not None and answers.tools.following is not None:
            self.tools.following.inherit(answers.tools.following)
        self._parts = {key: dict(known) for key, known in old._parts.items()}
        self._parts_read = {key: dict(read) for key, read in old._parts_read.items()}
        return self._forget(others, old.imports.reaching(others), spoilt, old.talks())

    def follow(self, changed: Collection[str]) -> frozenset[str]:
        """Forget what rests on the modules at ``changed``, which have followed an edit.

        Returns the paths of the modules that may say something else now.
        """
        talked = self.talks()
        modules: set[int] = set()
        reads: set[Read] = set()
        for module in filter(None, map(self.imports.known, changed)):
            if module.spoilt is None:
                modules.add(module.key)
            else:
                reads.update(module.key | number for number in module.spoilt)
        stale = self.imports.reaching(changed)
        self.imports.follow(changed)
        return self._forget(changed, stale, Spoilt(modules, reads), talked)

    def _forget(
        self, changed: Collection[str], stale: frozenset[str], spoilt: Spoilt, talked: bool
    ) -> frozenset[str]:
        """Forget what is ``spoilt``, and of the ``stale`` modules that of which it is not known what it rests on."""
        self._forget_answers()
        if self.reads is not None:
            self.reads.now = set()
        for path in changed:
            self._positions.pop(path, None)

        for key, known in self._parts.items():
            read = self._parts_read.get(key, {})
            for path in forgotten(known, read, changed, stale, spoilt):
                del known[path]
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
        """Judge by other ``settings`` from now on, which may differ from those so far in what they allow alone.

        Raises ``ValueError`` where they differ in what is a tool, or a message.
        """
        if not settings.reads_like(self.settings):
            raise ValueError("these settings tell something else of the modules")
        self.settings = settings
        self._forget_answers()

    def talks(self) -> bool:
        """Whether a file of the project imports a framework of the table or a model's SDK."""
        if self._talks is None:
            self._talks = self._screened_out_talks or any(self._each(_talks_to_a_model, None))
        return self._talks

    def each(self, part: Callable[[Project, Module, _G], _T], given: _G) -> Iterator[_T]:
        """For each module what ``part`` says of it, remembered as long as ``given`` is the same.

        A question about the whole project is best asked in such parts: an edit leaves most of them valid. What a
        part says may rest on ``given``, the module and what its names lead to, and must not be changed; all of these
        may go from process to process.
        """
        if not self._asking:
            self.consulted.add((everything,))
        return self._each(part, given)

    def each_by_words(
        self,
        part: Callable[[Project, Module, tuple[frozenset[str], _G]], _T],
        words: frozenset[str],
        given: _G,
    ) -> Iterator[_T]:
        """As :meth:`each`, for a part to which a word means nothing where the text of a module does not hold it.

        Where few words have come or gone, most modules need not be read for that.
        """
        if self._holding is not None and (part, (words, given)) not in self._parts:
            old = [key for key in self._parts if key[0] is part]  # nobody asks with their words again
            earlier = [(key[1], self._parts.pop(key), self._parts_read.pop(key, {})) for key in old]
            said = ((asked, known, dict[str, frozenset[Read]]()) for asked, known in self._said(part))
            alike = [one for one in (*earlier, *said) if one[0][1] == given]
            if alike:
                (before, _), known, read = min(alike, key=lambda one: len(words ^ one[0][0]))
                held = self._holding(words ^ before, known) if words != before else ()
                known = {path: value for path, value in known.items() if path not in held}
                self._parts[part, (words, given)] = known
                self._parts_read[part, (words, given)] = {p: r for p, r in read.items() if p in known}
        return self.each(part, (words, given))

    def _each(self, part: Callable[[Project, Module, _G], _T], given: _G) -> Iterator[_T]:
        known = self._known_parts(part, given)
        if (
            self.share_out is not None
            and self.evaluator.depth == 0
            and self.modules.paths.keys() > known.keys()
        ):
            known.update(self.share_out(part, given))
        for path in self.modules.paths:
            if path not in known:
                known[path] = self._part(part, path, given)
            yield known[path]

    def parts(
        self, part: Callable[[Project, Module, _G], _T], given: _G, paths: Iterable[str]
    ) -> dict[str, _T]:
        """What ``part`` says of the modules at ``paths``: the share of another one who asks about all of them."""
        known = self._known_parts(part, given)
        for path in paths:
            if path not in known:
                known[path] = self._part(part, path, given)
        return {path: known[path] for path in paths}

    def _part(self, part: Callable[[Project, Module, _G], _T], path: str, given: _G) -> _T:
        value, read = noted(self.reads, lambda: part(self, self.modules[path], given))
        if self.reads is not None:
            self._parts_read.setdefault((part, given), {})[path] = read
        return value

    def remember(
        self, part: Callable[[Project, Module, _G], _T], given: _G, values: Mapping[str, _T]
    ) -> None:
        """Take over what another one found ``part`` to say of some modules."""
        self._known_parts(part, given).update(values)

    def _known_parts(self, part: Callable[[Project, Module, _G], _T], given: _G) -> dict[str, _T]:
        key = part, given
        if key not in self._parts:
            self._parts[key] = next((known for before, known in self._said(part) if before == given), {})
        return self._parts[key]

    @property
    def said(self) -> Mapping[tuple[Callable[..., Any], Any], Mapping[str, Any]]:
        """What parts of questions said of modules so far, by what they were given."""
        return self._parts

    def once(self, question: Callable[[Project, *_Given], _T], *given: *_Given) -> _T:
        """The answer to a question about the whole project, remembered until another module is announced.

        ``given`` are plain values.
        """
        asked = question, *given
        self.consulted.add(asked)
        if asked not in self._answers:
            self._asking += 1
            try:
                if self.reads is None:
                    self._answers[asked] = question(self, *given)
                else:
                    self._answers[asked] = self.reads.apart(lambda: question(self, *given))
            finally:
                self._asking -= 1
        answer: _T = self._answers[asked]
        return answer

    def held(self, make: Callable[[Project], _T]) -> _T:
        """What ``make`` makes to remember things in, which says nothing by itself; as long as :meth:`once`."""
        if make not in self._answers:
            self._answers[make] = make(self)
        answer: _T = self._answers[make]
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


def everything(project: Project) -> None:
    """Stand for a question about all modules of which nothing else is known."""


def _talks_to_a_model(project: Project, module: Module, given: None) -> bool:
    return project.names.table.talks_to_a_model(module.outline.modules())


def taken(project: Project) -> frozenset[Registrar]:
    """By what of the project functions are handed over that other modules give."""
    found = new = frozenset(Registrar._make(one) for part in project.each(_taken_in, None) for one in part)
    for _ in range(_ROUNDS):
        if not new:
            break
        parts = project.each(_taken_through, new)
        new = frozenset(Registrar._make(one) for part in parts for one in part) - found
        found |= new
    return found


def _taken_in(
    project: Project, module: Module, given: None
) -> frozenset[tuple[str, int, str, str, str, str]]:
    project.tools.own(module)
    forms = project.tools.forms
    return frozenset((*forms.registrars.get(module.path, ()), *forms.decorator_aliases(module)))


def _taken_through(
    project: Project, module: Module, given: frozenset[tuple[str, int, str, str, str, str]]
) -> frozenset[tuple[str, int, str, str, str, str]]:
    return project.tools.forms.registrars_in(module, cast("frozenset[Registrar]", given))
