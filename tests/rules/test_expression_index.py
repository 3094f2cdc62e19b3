"""The expression of each number: that which bears it, for whatever stands in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import gllint_rules
from gllint_rules.reading.expression_index import expression
from gllint_rules.reading.modules import read_module

FILES = sorted(Path(gllint_rules.__file__).parent.glob("**/*.py"))[::9]
SOURCE = """
@mark(a, key=len(b))
class Row(Base[int, str], of=make(1)):
    size: int = len(field(default=3)[0, 1])

    @deco(x)
    def m(self, n: list[int] = [f(2)], *, k=len("a")) -> dict[str, int]:
        del n[g(0)]
        for i, j in h(n):
            n[i] += len(j) if (y := k) else -later(j)
        else:
            self.total += sum(1 for c in k if c(3))
        with open(n) as file:
            yield {**n, f"{len(n):>4}": lambda q=p(4): r(q)}
        match s(n):
            case {"a": v}:
                return [u(v)[1:w(2)], *v, x.y(z) < a.b(c)]
"""


@pytest.mark.parametrize("path", ["made", *FILES], ids=str)
def test_calls_displays_and_subscripts_are_under_their_numbers(path: str | Path) -> None:
    source = SOURCE if path == "made" else Path(path).read_text("utf-8")
    module = read_module("/project/a.py", source)
    for part in module.sections():
        for records in (part.calls, part.dicts, part.subscripts):
            for record, _ in records:
                facts_of_it = expression(module, record.at)
                # No facts are kept of guards, patterns and the format of a hole.
                assert facts_of_it is record or (path != "made" and facts_of_it is None)


def test_a_number_that_is_no_expression_s_has_none() -> None:
    module = read_module("/project/a.py", "def f():\n    return 1\n")
    [function] = module.functions
    assert expression(module, function.at) is None
    assert expression(module, -1) is None
    assert expression(module, function.at + 10_000) is None
