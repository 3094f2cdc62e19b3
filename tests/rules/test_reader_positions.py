"""Places: section by section they are what LibCST's PositionProvider says of the whole file, and lead to its nodes."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libcst.metadata import MetadataWrapper, PositionProvider

from gllint_rules.finding import Span
from gllint_rules.fixes.syntax import SyntaxPlace
from gllint_rules.reading.modules import read_module
from gllint_rules.reading.positions import Positions

SOURCES = {
    "texts right behind a keyword in a hole": """
        def brace(left, right):
            return f"{left if'{'else right} and {left or'}'}".strip()
    """,
    "a comment with a quote at its end, within a tuple": """
        table.add(
            (
                name,
                rows["load"],
                parts[0],  # 'top', 'heart', 'base'
            ),
            key[(a, b)  # "a" and "b"
            ],
        )
        """,
    "decorators": """
        @first
        @second(1, key="two")  # why
        # between

        @third[0].attribute
        def heat(a, /, b: int = 3, *args: str, c=4, **kwargs: "float") -> dict[str, float]:
            return {"a": a, "b": b}


        class Meter(Base, metaclass=Meta, **options):
            @property
            @cached(
                size=10,
            )
            async def value(self) -> float: return 1.5

            @staticmethod
            def unit(): return "kWh"
        """,
    "async": """
        async def read(site):
            async with open(site) as file, lock:
                async for line in file:
                    yield await parse(line)
                else:
                    await done(1)
            return [x async for x in rows(site) if await ok(x)]
        """,
    "match": """
        def tell(step):
            match step, other:
                case {"kind": "final", "n": 3 | 4 as n, **rest} if n > 2:
                    return rest
                case Point(x=0, y=-1.5) | [1, *_, "two"]:
                    return 1
                case (a.b.C, None): return 2
                case _:
                    pass
            match = case = 3
            match[0] = case
            match (step):
                case 1: pass
        """,
    "try": """
        try:
            first(1)
        except (KeyError, ValueError) as error:
            second(error)
        except OSError: third()
        else:
            fourth(4)
        finally:
            fifth(5)

        try: a = 1
        finally: b = 2

        try:
            pass
        except* (TypeError, LookupError) as group:
            raise Sixth(group) from group.exceptions[0]
        except* Seventh: pass
        """,
    "elif chain": """
        if a:
            b = 1
        elif c == 2:  # comment
            d = 3
        elif (e
              and f): g = 4
        else:
            h = 5

        def inner():
            if a: b
            elif c:
                if d: e
                elif f: g
                else: h
            else: i
        """,
    "one-line suites": """
        if a: b = 1; c = 2
        else: d = 3
        while a > 1: a -= 1
        else: e(4)
        for x, *y in z: f(x); g(y)
        with h() as i, j(): k(5)
        class L: m: int = 6; n = 7
        def o(p=8): q = 9; return p + q
        try: r(10)
        except S: t(11)
        else: u(12)
        finally: v(13)
        """,
    "semicolons": """
        a = 1; b = 2;
        c(3); d[4]; e.f
        def g():
            h = 5; return h + 6;
        """,
    "formatted strings": '''
        name = f"{a!r:>{width}} and {b.c[0]:.2f} {{no}} {d()}"
        both = "one" f"{two}" 'three' rf"\\d{four}"
        nested = f"{f'{x + 1}'}{'y'}"
        long = f"""
        {first(1)}
            {second["key"]:
            }
        """ % (third, 4)
        ''',
    "continuation lines": """
        total = 1 + \\
            2 * heat(3,
            4)
        assert total == \\
            15, \\
            "no"
        if a and \\
                b:
            c = [
          1,
              2,  # comment with ) and "quote
            ]
        with (
            first(1) as a,
            second(2),
        ):
            d = (
                yield
            )
        x = \\
        \\
          3
        """,
    "tabs": (
        "def heat():\n\tif a:\n\t\treturn {\t'x':\t1 }\n\telse:\n\t\treturn\t2\n\n"
        "class A:\n\t@dec\n\tdef b(self): return\t3\n"
    ),
    "mixed indentation": "if a:\n  b = 1\nelse:\n        if c:\n         d = 2\n        e = 3\nf = 4\n",
    "windows line ends": (
        "@tool\r\ndef heat(a,\r\n         b=1):\r\n    x = 2\r\n    return {\r\n        'x': x,\r\n    }\r\n"
    ),
    "mixed line ends": "a = 1\r\nb = '''\r\nx\n'''; c = 2\nd = (3,\r\n 4)\n",
    "old macintosh line ends": "a = 1\rdef b():\r    return 2\rc = 3\r",
    "form feeds": "a = 1\n\x0c\nclass B:\n\x0c\n    c = 2\n\x0c\ndef e(): return 4\n",
    "unicode": """
        größe = "größer"; name = 1
        π, ﬁ = 3.14, "𝟙𝟚 👩‍👩‍👧"; after = 2
        def 名前(引数="値"): return {"ключ": 引数, "e\u0301": 4}
        x = "\u2028 \x85 \x1c", 5
        """,
    "strings with traps": '''
        """A docstring with 'quotes' and \\""" inside."""
        a = "# no comment"; b = '\\'' + "\\\\"; c = 1
        d = """(
        [ { " '
        """; e = 2
        f = r"\\\\"; g = b"\\x00" rb'\\\''; h = 3
        i = 'one\\
        two'; j = 4
        k = """"quoted" text"""; l = ''; m = ""; n = """""" ; o = 5
        ''',
    "comments and blank lines": """
        # first

        a = 1  # trailing (
        # def b(): [

        def c():
            # inside
            d = 2

            # after

            e = 3
        # out
            # strange
        f = 4
        """,
    "comprehensions and lambdas": """
        a = [x * 2 for x, y in z if x if y]
        b = {k: v for k, v in items() for _ in v}
        c = sum(n for n in (1, 2))
        d = {*e, *f}, {**g, "h": 1}
        i = lambda j, *k, l=1, **m: (j, l)
        n = o if p else q
        if (r := s(1)) > 2: t = [u := 3]
        """,
    "slices and operators": """
        a[1:2, ::3, ...] = b @ c ** -d
        e = not f in g is not h <= i < 1_000.5e3 + 2j
        j += k // 2; l <<= 3
        del m[0], n.o
        global p
        print(*q, r, *s, t=1, **u)
        v: "Annotated[int, 3]" = 4
        w: int
        """,
    "types": """
        type Pair[T: (int, str) = int] = tuple[T, T]
        type Plain = list[float]
        def first[T](x: T, *xs: T) -> T: return x
        class Box[T]: item: T
        """,
    "parentheses": """
        (((a))) = ((1) + (2))
        b = ( (yield), )
        (c) = (d)(e)[(f)]
        return_ = ("one"
                   "two" f"{(g)}")
        """,
    "empty": "",
    "only a comment": "# nothing",
    "no final newline": "a = 1\nif b: c = 2",
    "nothing but a docstring": '"""x"""',
    "strings and odd syntax": Path(__file__).with_name("readers.txt").read_text("utf-8"),
}


def read(name: str) -> str:
    return textwrap.dedent(SOURCES[name]).lstrip("\n") if "\r" not in SOURCES[name] else SOURCES[name]


# What LibCST has as an expression and is none, or says nothing of a value.
_NO_EXPRESSIONS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Attribute: ("attr",),
    cst.Arg: ("keyword",),
    cst.NamedExpr: ("target",),
    cst.NameItem: ("name",),
    cst.TypeAlias: ("name", "type_parameters"),
    cst.FunctionDef: ("type_parameters",),
    cst.ClassDef: ("type_parameters",),
    cst.ExceptHandler: ("name",),
    cst.ExceptStarHandler: ("name",),
    cst.MatchClass: ("cls",),
    cst.MatchKeywordElement: ("key",),
    cst.MatchMapping: ("rest",),
    cst.MatchMappingElement: ("key",),
    cst.MatchSingleton: ("value",),
    cst.MatchAs: ("name",),
    cst.MatchStar: ("name",),
}
_TEXTS = (cst.FormattedStringText, cst.TemplatedStringText)


def numbered(tree: cst.Module) -> Iterator[cst.CSTNode]:
    """The nodes of a tree that stand for an expression, a part of a string, or the name of what is defined."""
    waiting: list[cst.CSTNode] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            continue
        is_star = getattr(node, "star", "") == "*" and isinstance(node, cst.Arg)
        if isinstance(node, (cst.BaseExpression, cst.Slice, *_TEXTS)) or is_star:
            yield node
        left_out = [getattr(node, name) for name in _NO_EXPRESSIONS.get(type(node), ())]
        for child in node.children:
            if isinstance(node, cst.ClassDef) and isinstance(child, cst.Arg):
                child = child.value  # `class A(*bases, metaclass=M)`
            if not any(child is other for other in left_out):
                waiting.append(child)


def nodes_and_places(source: str) -> list[tuple[str, Span]]:
    """The kinds of the numbered nodes of a source, each with the place that LibCST gives it."""
    tree = cst.parse_module(source)
    places = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)
    found = ((node, places[node]) for node in numbered(tree))
    return sorted(
        (type(node).__name__, Span(at.start.line, at.start.column + 1, at.end.line, at.end.column + 1))
        for node, at in found
    )


def numbers(positions: Positions) -> Iterator[int]:
    """The numbers of all expressions of a file, but for the `type` of `type X = …` where that is put otherwise."""
    module = positions.module
    for known in module.sections():
        for at in range(known.first, known.first + len(positions.places(known).begins)):
            _, end = positions.offsets(at)
            if not (module.code.startswith(";", end) and not module.source.startswith(";", end)):
                yield at


def nodes(positions: Positions) -> Iterator[tuple[cst.CSTNode, int]]:
    """The nodes in simple statements on lines of their own, found statement by statement, each with its number."""
    for at in numbers(positions):
        stretch = positions.stretch(at)
        if stretch is not None:
            yield SyntaxPlace(positions, at, stretch).node, at


def assert_places_are_those_of_libcst(source: str) -> None:
    positions = Positions(read_module("/a.py", source))
    expected = nodes_and_places(source)
    assert sorted(map(positions.span, numbers(positions))) == sorted(span for _, span in expected)
    found = Counter((type(node).__name__, positions.span(at)) for node, at in nodes(positions))
    assert not found - Counter(expected)


@pytest.mark.parametrize("name", SOURCES)
def test_places_are_those_of_libcst(name: str) -> None:
    assert_places_are_those_of_libcst(read(name))


@pytest.mark.parametrize("name", SOURCES)
def test_places_hold_the_text_of_their_expression(name: str) -> None:
    positions = Positions(read_module("/a.py", read(name)))
    for node, at in nodes(positions):
        if isinstance(node, (cst.Name, cst.SimpleString, cst.Integer, cst.Float)):
            assert positions.text(at) == node.value


def test_form_feed_before_an_indentation() -> None:
    """A form feed takes a column, as it does for Python; LibCST's own places leave it out."""
    source = "class A:\n    b = 1\n\x0c    c = 22\n"
    positions = Positions(read_module("/a.py", source))
    assert [positions.span(at) for at in (3, 4)] == [Span(3, 6, 3, 7), Span(3, 10, 3, 12)]


_PLAIN = [name for name in SOURCES if SOURCES[name].count("\n") > 2 and "\r" not in SOURCES[name]]
_HEADERS = [
    "if a:",
    "for b in c[0]:",
    "@d(1)\ndef e(f=2):",
    "class G(h.i):",
    "with j() as k:",
    "while l > 3:",
]


def indented(source: str, header: str, indent: str) -> str:
    """``source`` as the suite of ``header``; lines inside strings move too, which makes another program."""
    return header + "\n" + textwrap.indent(source, indent) + "\n"


@given(
    st.lists(
        st.tuples(st.sampled_from(_PLAIN), st.sampled_from(_HEADERS), st.sampled_from([" ", "\t", "   "]))
    ),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=40)
def test_places_in_composed_programs(parts: list[tuple[str, str, str]], newline: str) -> None:
    source = "".join(indented(read(name), header, indent) for name, header, indent in parts[:3])
    assert_places_are_those_of_libcst(source.replace("\n", newline))
