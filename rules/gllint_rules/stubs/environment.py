"""The declarations of the packages of an environment, read from their stubs or typed sources on demand.

In: a full name (``pandas.DataFrame.shape``). Out: its declaration in the form of
:mod:`~gllint_rules.stubs.declarations`, or ``None``. It reads stub packages, stubs next to the sources, and the sources
of packages with a ``py.typed``. Nothing is imported, and a module is parsed once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from typeshed_client import ModulePath, get_search_context, get_stub_file
from typeshed_client.parser import (
    NameInfo,
    OverloadedName,
    get_dunder_all_from_info,
    parse_ast,
)

from gllint_rules.reading.syntax import parsed
from gllint_rules.stubs.declarations import NEWEST, Writer, defined, last_of

MOST_MODULES = 1_000  # that are parsed
MOST_BYTES = 4_000_000  # of one of them
# Any other decorator may change the result, so that the annotation of the function does not describe it.
_PLAIN_DECORATORS = frozenset(
    {
        "abstractmethod", "abstractproperty", "cache", "cached_property", "classmethod", "deleter", "deprecated",
        "final", "getter", "lru_cache", "overload", "override", "property", "setter", "staticmethod", "type_check_only",
    }
)  # fmt: skip


class Environment:
    """The packages in ``folders``; ``ran_out`` is set when a module is not parsed because of a limit."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.ran_out = False
        self._folders = [Path(folder) for folder in folders]
        self._context = get_search_context(
            search_path=self._folders, version=NEWEST, platform="linux", allow_py_files=True
        )
        self._names: dict[str, Mapping[str, NameInfo] | None] = {}
        self._writers: dict[str, Writer] = {}
        self._parsed = 0

    def line(self, name: str) -> Any:
        """Return the declaration of a full name: ``pandas.NA`` → ``["a", …]``; ``None`` if no package declares it."""
        place = self._place(name)
        if place is None:
            return None
        module, first = place
        writer = self._writers.setdefault(module, Writer(self, module))
        try:
            if f"{module}.{first}" not in writer.lines:
                writer.declare(first, (self.names(module) or {})[first], "")
        except Exception:  # the source of others may be anything: what cannot be read is not declared
            writer.lines.setdefault(f"{module}.{first}", None)
        return writer.lines.get(name)

    def _place(self, name: str) -> tuple[str, str] | None:
        """Return the module and the top-level name in it that a full name begins with: ``a.b.C.x`` → ``("a.b", "C")``.

        ``None`` if there is no such module.
        """
        module, *parts = name.split(".")
        for part in parts:
            names = self.names(module)
            if names is None:
                return None
            submodule = f"{module}.{part}"
            if part in names and defined(self, module, part) != (submodule, ""):
                return module, part
            module = submodule
        return None

    def names(self, module: str) -> Mapping[str, NameInfo] | None:
        """Return the declarations of a module by name; ``None`` if there is no such module, or it cannot be read."""
        if module not in self._names:
            self._names[module] = None  # while it is read: modules import each other
            with suppress(Exception):  # a module that cannot be read declares nothing
                self._names[module] = self._read(module)
        return self._names[module]

    def _read(self, module: str) -> Mapping[str, NameInfo] | None:
        """Parse the stub or the typed source of a module: its declarations by name, ``None`` without one."""
        if not all(part.isidentifier() for part in module.split(".")):
            return None
        path = get_stub_file(module, search_context=self._context)
        if path is not None and (package := path.with_suffix("") / f"__init__{path.suffix}").is_file():
            path = package  # Python prefers a package to a module of the same name
        if path is None or not path.is_file() or (path.suffix == ".py" and not self._is_typed(module)):
            return None
        if self._parsed >= MOST_MODULES or path.stat().st_size > MOST_BYTES:
            self.ran_out = True
            return None
        self._parsed += 1
        is_package = path.stem == "__init__"
        tree = parsed(path.read_text("utf-8"))
        tree.body = list(self._without_stars(tree.body, module if is_package else module.rpartition(".")[0]))
        if path.suffix == ".py":
            for statement in tree.body:
                if isinstance(statement, ast.ClassDef):
                    statement.body += _set_on_self(statement)
        place = ModulePath(tuple(module.split(".")))
        names = parse_ast(tree, self._context, place, file_path=path, is_init=is_package)
        return {name: info for name, info in names.items() if _is_plain(info)}

    def _is_typed(self, module: str) -> bool:
        parts = module.split(".")
        return any(
            folder.joinpath(*parts[:end], "py.typed").is_file()
            for folder in self._folders
            for end in range(1, len(parts) + 1)
        )

    def _without_stars(self, body: list[ast.stmt], package: str) -> Iterator[ast.stmt]:
        """Yield the statements of a module with the names of ``from x import *``: ``from x import a as a, b as b``."""
        for statement in body:
            match statement:
                case ast.ImportFrom(names=[ast.alias(name="*")], module=source, level=level):
                    parents = package.split(".")[: -(level - 1) or None] if level else []
                    names = self.names(".".join([*parents, *([source] if source else [])])) or {}
                    listed = get_dunder_all_from_info(names["__all__"]) if "__all__" in names else None
                    exports = listed or [name for name in names if not name.startswith("_")]
                    yield ast.ImportFrom(source, [ast.alias(name, name) for name in exports], level)
                case ast.If() | ast.Try():
                    statement.body = list(self._without_stars(statement.body, package))
                    yield statement
                case _:
                    yield statement


def _set_on_self(cls: ast.ClassDef) -> Iterator[ast.stmt]:
    """Yield declarations of the attributes that methods assign: ``self.x = x`` of ``def f(self, x: int)`` → ``x: int``.

    An attribute without an annotation is declared only if a parameter is all that is assigned to it, once.
    """
    declared: dict[str, ast.expr] = {}
    sources: dict[str, list[ast.expr | None]] = {}
    for method in cls.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        nodes = list(ast.walk(method))
        bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        params = [arg for arg in [*method.args.args, *method.args.kwonlyargs] if arg.arg not in bound]
        parameter_annotations = {arg.arg: arg.annotation for arg in params}
        annotations: dict[ast.AST, ast.expr | None] = {}
        for node in nodes:
            match node:
                case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=attr)):
                    declared[attr] = node.annotation
                case ast.Assign(targets=[ast.Attribute() as target], value=ast.Name(id=name)):
                    annotations[target] = parameter_annotations.get(name)
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Store()):
                    sources.setdefault(attr, []).append(annotations.get(node))
    for attr, values in sources.items():
        annotation = declared.get(attr) or (values[0] if len(values) == 1 else None)
        if annotation is not None:
            yield ast.AnnAssign(ast.Name(attr, ast.Store()), annotation, None, 1)


def _is_plain(info: NameInfo) -> bool:
    """Return whether the annotation of a function describes its result: no decorator may change it.

    Removes from a class the members for which this is not so.
    """
    children = info.child_nodes or {}
    for name in [name for name, child in children.items() if not _is_plain(child)]:
        del children[name]
    definitions = info.ast.definitions if isinstance(info.ast, OverloadedName) else [info.ast]
    return all(
        last_of(decorator) in _PLAIN_DECORATORS
        for node in definitions
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for decorator in node.decorator_list
    )
