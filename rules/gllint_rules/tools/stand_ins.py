"""Which names of a module may stand for a decorator of the table, told from outlines and texts.

``D = {"t": tool}``, ``def w(): return tool``, ``from b import w``: what such a name holds is the inference's to say.
Here is told which functions are worth the reading for that, so that most decorators of most modules are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gllint_rules.inference.protocol import Modules
from gllint_rules.reading.facts import Module
from gllint_rules.reading.outline import Section

# The first line of each decorator of a section, up to what it is called with, and all of it.
_DECORATOR = re.compile(r"^[ \t]*@[ \t]*((?:\w+(?:[ \t]*\.[ \t]*\w+)*)?)(.*)$", re.MULTILINE)
_RETURNED = re.compile(r"\breturn\b[^\n]*")
_NAME = re.compile(r"[^\W\d]\w*")
# ``name = other`` and ``name = module.other``: nothing else is followed into other modules.
_RENAMED = re.compile(r"\w+\s*=\s*([^\W\d]\w*)(?:\s*\.\s*([^\W\d]\w*))?\s*(?:#[^\n]*)?$")
_CALL_OF_VALUE = re.compile(r"[)\]]\s*\(")
_REFLECTIVE = ("getattr", "globals", "vars", "eval", "__dict__")
MOST_NAMES = 60  # that are followed from one decorator


class StandIns:
    """Answers for one set of ``words``, the last names of what may be stood in for; each name is looked at once."""

    def __init__(self, modules: Modules, words: frozenset[str]) -> None:
        self._modules, self._words = modules, words
        self._word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})\b")
        # One of them as it is, neither called nor part of prose: what a function returns, a class or a container holds.
        self._value = re.compile(
            rf"(?:=|\breturn\b|[\[({{,:])\s*(?:\w+\s*\.\s*)*{self._word.pattern}(?![ \t]*[(.=\"'\w])"
        )
        # `gated = partial(tool, …)`, `loose = tool(strict=False)`
        self._made = re.compile(
            rf"\w+\s*=\s*(?:(?:\w+\s*\.\s*)?partial\(\s*)?(?:\w+\s*\.\s*)*{self._word.pattern}"
        )
        self._answers: dict[tuple[str, str], bool] = {}

    def forget(self) -> None:
        """Forget all: an outline or a text may be another one."""
        self._answers.clear()

    def may_decorate(self, module: Module, section: Section) -> bool:
        """Whether a decorator in a section may be one of the words under another name."""
        if not section.decorators:
            return False
        key = (module.path, f"@{section.number}")
        if key not in self._answers:
            self._answers[key] = self._may_decorate(module, section)
        return self._answers[key]

    def _may_decorate(self, module: Module, section: Section) -> bool:
        module.note(section.number)
        for match in _DECORATOR.finditer(module.source, section.begin, section.end):
            written, rest = match.groups()
            root, _, inner = "".join(written.split()).partition(".")
            if (
                self._word.search(rest)
                or root in _REFLECTIVE
                or (not root and any(self._rooted(module, rest)))
            ):
                return True
            if root and self.may_stand(module, root, inner.partition(".")[0]):
                return True
        return False

    def may_call(self, module: Module, section: Section) -> bool:
        """Whether a section may call what an expression gives that may be one of the words: ``D["t"](f)``."""
        key = (module.path, f"({section.number}")
        if key not in self._answers:
            module.note(section.number)
            text = module.source[section.begin : section.end] if section.calls else ""
            self._answers[key] = _CALL_OF_VALUE.search(text) is not None and (
                self._word.search(text) is not None
                or any(word in text for word in _REFLECTIVE)
                or any(self._rooted(module, text))
            )
        return self._answers[key]

    def is_made_of(self, module: Module, section: Section) -> bool:
        """Whether what a section binds is made of one of the words, or of a name that an import gives it."""
        text = self._text(module, section)
        if self._value.search(text) or (section.kind == "other" and self._made.match(text)):
            return True
        renamed = _RENAMED.match(text.strip()) if section.kind == "other" else None
        return renamed is not None and self.may_stand(module, renamed[1], renamed[2] or "")

    def _text(self, module: Module, section: Section) -> str:
        """What a section says of what it binds: of a function, and of a method, what it returns."""
        module.note(section.number)
        if section.kind == "function":
            return "\n".join(_RETURNED.findall(module.source, section.begin, section.end))
        begins = [section.begin, *(end for _, end, _ in section.holes)]
        ends = [*(begin for begin, _, _ in section.holes), section.end]
        texts = [module.source[begin:end] for begin, end in zip(begins, ends, strict=True)]
        texts += (
            line for begin, end, _ in section.holes for line in _RETURNED.findall(module.source, begin, end)
        )
        return "\n".join(texts)

    def _rooted(self, module: Module, text: str) -> Iterator[str]:
        """The names in an expression that may stand for one of the words."""
        return (name for name in _NAME.findall(text)[:MOST_NAMES] if self.may_stand(module, name))

    def may_stand(self, module: Module, name: str, attribute: str = "") -> bool:
        """Whether a ``name`` of a module, or its ``attribute``, may be one of the words."""
        places: set[tuple[str, str]] = set()
        waiting = [(module, name, attribute)]
        while waiting and len(places) < MOST_NAMES:
            home, current, inner = waiting.pop()
            key = (home.path, f"{current}.{inner}")
            answer = self._answers.get(key)
            if answer is not None or key in places:
                if answer:
                    return self._say(module, name, attribute, True)
                continue
            places.add(key)
            if self._stands(home, current, inner, waiting):
                return self._say(module, name, attribute, True)
        for key in places:
            self._answers.setdefault(key, False)
        return self._say(module, name, attribute, False)

    def _say(self, module: Module, name: str, attribute: str, answer: bool) -> bool:
        self._answers[module.path, f"{name}.{attribute}"] = answer
        return answer

    def _stands(
        self, module: Module, name: str, attribute: str, waiting: list[tuple[Module, str, str]]
    ) -> bool:
        """Whether a name shows that it may be one of the words; else where to look further is added to ``waiting``."""
        is_bound = False
        for section in module.binders(name):
            is_bound = True
            if section.kind == "imports":
                for imported in section.imports:
                    if imported.bound != name:
                        continue
                    if imported.name in self._words and imported.bound != imported.name:
                        return True
                    waiting += self._imported(module, imported.module, imported.name, attribute)
            elif self._mentions(module, section, waiting):
                return True
        if not is_bound:
            for star in module.outline.stars:
                waiting += self._imported(module, star, name, attribute)
            return any(module.binders("__getattr__"))
        return False

    def _imported(
        self, module: Module, dotted: str, name: str, attribute: str
    ) -> Iterator[tuple[Module, str, str]]:
        """The name of another module of the project that an import binds: of a module the attribute of it."""
        for source, sought in ((dotted, name), (f"{dotted}{'' if dotted[-1:] == '.' else '.'}{name}", "")):
            path = self._modules.find_module(module.path, source)
            home = self._modules.module_at(path) if path is not None and path != module.path else None
            if home is not None and (sought or attribute):
                yield home, sought or attribute, attribute if sought else ""
                return

    def _mentions(self, module: Module, section: Section, waiting: list[tuple[Module, str, str]]) -> bool:
        """Whether what a section binds a name to is made of one of the words; else the names that it is made of."""
        text = self._text(module, section)
        if self._word.search(text):
            return True
        renamed = _RENAMED.match(text.strip())
        if renamed:
            waiting.append((module, renamed[1], renamed[2] or ""))
        elif section.kind != "class":
            aliases = module.outline.aliases
            for name in _NAME.findall(text)[:MOST_NAMES]:
                if not aliases.get(name, set()).isdisjoint(self._words):
                    return True
                if any(part.kind == "other" for part in module.binders(name)):
                    waiting.append((module, name, ""))
        return False
