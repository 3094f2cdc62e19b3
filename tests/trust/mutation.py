"""Mutants: one small change to a module at a time, which its tests are to notice.

The runtime, but for the scanner and the units, is left out: its own tests take it further.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from trust import Budget, Row

_TOP = Path(__file__).parents[2]
_PARTS = ("gllint", "rules", "runtime", "tests", "examples", "docs", "pyproject.toml", "README.md")
_POLICY, _VERDICT = "runtime/gllint_runtime/policy", "gllint/verdict"
_TESTS = {  # the quickest first: most mutants meet their end there
    f"{_POLICY}/numbers.py": ["runtime/test_messages.py", "runtime/test_agreement.py", "runtime/test_properties.py"],
    f"{_POLICY}/units.py": ["runtime/test_units.py", "runtime/test_packs.py", "runtime/test_agreement.py"],
    f"{_VERDICT}/suppress.py": ["program/test_suppress.py"],
    f"{_VERDICT}/baseline.py": ["program/test_baseline.py"],
    f"{_VERDICT}/fingerprint.py": ["program/test_baseline.py"],
}  # fmt: skip
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip


def suite(budget: Budget) -> Iterator[Row]:
    """The suite runs in a process of its own, in which nothing of gllint is loaded yet."""
    command = [sys.executable, __file__, str(budget.seconds), str(budget.seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield Row("mutation", "did not run", [done.stderr[-500:]])
        return
    tried, survivors = json.loads(done.stdout.splitlines()[-1])
    killed = tried - len(survivors)
    # Some of those that live on change nothing that anybody could see: they are for a reader to judge.
    wrong = survivors if killed < 0.9 * tried else []
    shown = "".join(f"\n{'':9}lives: {line}" for line in survivors)
    yield Row("mutation", f"{killed} of {tried} mutants killed{shown}", wrong)


def _mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Each change of one node: its line, what it is, and the module with it."""
    for number, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            mutant = copy.deepcopy(tree)
            # A walk of the copy comes upon its nodes in the same order.
            change(next(n for at, n in enumerate(ast.walk(mutant)) if at == number))
            yield getattr(node, "lineno", 0), what, ast.fix_missing_locations(mutant)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            yield f"{type(op).__name__} turned", lambda n: setattr(n, "ops", [_OTHER[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in _OTHER:
            yield f"{type(op).__name__} turned", lambda n: setattr(n, "op", _OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield (
                "not dropped",
                lambda n: setattr(n, "op", ast.UAdd()) or setattr(n, "operand", _truth(operand)),
            )
        case ast.Constant(value=bool(value)):
            yield f"{value} turned", lambda n: setattr(n, "value", not value)
        case ast.Constant(value=int(value)):
            yield f"{value} + 1", lambda n: setattr(n, "value", value + 1)
        case ast.If() | ast.IfExp() | ast.While(test=ast.Compare()):
            yield "condition never true", lambda n: setattr(n, "test", ast.Constant(False))
        case ast.Return(value=ast.expr()):
            yield "returns None", lambda n: setattr(n, "value", ast.Constant(None))


def _truth(operand: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("bool", ast.Load()), [operand], [])


def _main(seconds: float, seed: int) -> None:
    budget = Budget(seconds, seed)
    draw = random.Random(seed)
    with TemporaryDirectory() as folder:
        top = Path(folder, "checkout")
        for part in _PARTS:
            source = _TOP / part
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(source, top / part, ignore=ignored) if source.is_dir() else shutil.copy(
                source, top
            )
        roots = [str(top), str(top / "rules"), str(top / "runtime")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-m", "compileall", "-q", *roots], check=False, capture_output=True)
        places = {name: list(_places(top / name)) for name in _TESTS}
        tried, survivors, sound = 0, list[str](), set[str]()
        while (budget.left() or not tried) and any(places.values()):
            name = draw.choice([name for name, left in places.items() if left])
            if name not in sound:
                sound.add(name)
                assert _passes(top, name, environment), f"the tests of {name} fail before anything is changed"
            number = places[name].pop(draw.randrange(len(places[name])))
            original = (top / name).read_text("utf-8")
            line, what, mutant = next(m for at, m in enumerate(_mutants(ast.parse(original))) if at == number)
            (top / name).write_text(ast.unparse(mutant), encoding="utf-8")
            shutil.rmtree((top / name).parent / "__pycache__", ignore_errors=True)
            lives = _passes(top, name, environment)
            tried += 1
            survivors += [f"{name}:{line}: {what}"] if lives else []
            (top / name).write_text(original, encoding="utf-8")
    print(json.dumps([tried, survivors]))


def _passes(top: Path, name: str, environment: dict[str, str]) -> bool:
    """Whether the tests of a module notice nothing."""
    tests = [f"tests/{test}" for test in _TESTS[name]]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=top, env=environment, capture_output=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _places(path: Path) -> Iterator[int]:
    """The numbers of the mutants of a module."""
    return iter(
        range(sum(len(list(_changes(node))) for node in ast.walk(ast.parse(path.read_text("utf-8")))))
    )


if __name__ == "__main__":
    _main(float(sys.argv[1]), int(sys.argv[2]))
