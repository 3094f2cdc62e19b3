"""Values that only name something: a class, a module, a name from outside the project, a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gllint_rules.inference.values.base import Site, Value

if TYPE_CHECKING:
    from gllint_rules.reading.facts import Class, Module


class ClassOf(Value, frozen=True):
    """A class of the project."""

    module: Module
    cls: Class

    @property
    def identity(self) -> object:
        return ClassOf, self.cls


class ModuleOf(Value, frozen=True):
    """A module of the project."""

    module: Module

    @property
    def identity(self) -> object:
        return ModuleOf, self.module.path


class External(Value, frozen=True):
    """A name from outside the project (``numpy.mean``) or a builtin (``builtins.len``)."""

    name: str

    @property
    def identity(self) -> object:
        return External, self.name


class ExternalInstance(Value, frozen=True):
    """An instance of a class from outside the project; ``arguments`` are the types of its type variables."""

    name: str
    arguments: tuple[Value, ...] = ()

    @property
    def identity(self) -> object:
        return self if self.arguments else (ExternalInstance, self.name)


class Method(Value, frozen=True):
    """A method of a value of a known kind: ``text.format``, ``record.get``."""

    of: Value
    name: str
    site: Site
