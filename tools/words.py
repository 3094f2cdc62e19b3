"""How many names of each floor are a participle or a preposition: ``python tools/words.py``.

Counts names, attributes, arguments and definitions of the syntax tree, whole identifiers alone, against the closed list
in ``words.txt``. An attribute that nothing in the project defines is a foreign library's and is left out. Exits with 1
where a floor has more than ``LIMIT``. ``--list`` prints each such name with its places.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {"gllint": ROOT / "gllint", "rules": ROOT / "rules", "runtime": ROOT / "runtime"}
LIMIT = 0.007
"""The share of names that may be one of the words."""


def words() -> frozenset[str]:
    lines = (ROOT / "tools" / "words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def names(tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Each identifier with its line, and whether it is an attribute, which may be a foreign library's."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                yield name, node.lineno, False
            case ast.Attribute(attr=name):
                yield name, node.end_lineno or node.lineno, True
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name, node.lineno, isinstance(node, ast.keyword)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno, False
            case ast.alias(name=name, asname=alias):
                yield alias or name.rpartition(".")[2], node.lineno, False
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno, False
            case ast.MatchClass(kwd_attrs=attributes):
                for name in attributes:
                    yield name, node.lineno, True
            case _:
                pass


def definitions(tree: ast.AST) -> Iterator[str]:
    """What the project itself calls so: functions, classes, arguments, fields, attributes that it assigns."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def main() -> int:
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for folder in FLOORS.values()
        for path in sorted(folder.rglob("*.py"))
    }
    listed = words()
    own = {name for tree in trees.values() for name in definitions(tree)}
    is_over = False
    for floor, folder in FLOORS.items():
        total, places = 0, defaultdict[str, list[str]](list)
        for path, tree in trees.items():
            if not path.is_relative_to(folder):
                continue
            for name, line, is_attribute in names(tree):
                if is_attribute and name not in own:
                    continue
                total += 1
                if name.strip("_") in listed:
                    places[name.strip("_")].append(f"{path.relative_to(ROOT)}:{line}")
        count = sum(map(len, places.values()))
        is_over |= count > LIMIT * total
        print(f"{floor}: {count} of {total} names ({100 * count / total:.2f} %)")
        if "--list" in sys.argv[1:]:
            for name, number in Counter({name: len(lines) for name, lines in places.items()}).most_common():
                print(f"  {name} ({number}): {' '.join(places[name])}")
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
