"""Programs of every size that are hard on an inference: written by people rarely, by generators easily."""

from __future__ import annotations

from collections.abc import Callable, Iterable

HEAD = "from agents import function_tool\n\n\n"
Files = dict[str, str]


def _lines(lines: Iterable[str], indent: int = 4) -> str:
    return "".join(" " * indent + line + "\n" for line in lines)


def tool(*body: str, before: str = "", params: str = "x") -> Files:
    """A file with a tool whose body is ``body``, after ``before``."""
    lines = (line for part in body for line in part.splitlines())
    text = f"{HEAD}{before}\n\n@function_tool\ndef report({params}):\n{_lines(lines)}"
    return {"a.py": text}


def maybe_spread(n: int) -> Files:
    adds = (f'if x > {i}:\n    a = {{**a, "k{i}": {i}}}' for i in range(n))
    return tool("a = {}", *adds, "return a")


def maybe_stored(n: int) -> Files:
    return tool("a = {}", *(f'if x > {i}:\n    a["k{i}"] = {i}' for i in range(n)), "return a")


def maybe_updated(n: int) -> Files:
    return tool("a = {}", *(f"if x > {i}:\n    a.update(k{i}={i})" for i in range(n)), "return a")


def spreads_in_a_dict(n: int) -> Files:
    parts = ", ".join(f'**({{"k{i}": {i}}} if x > {i} else {{}})' for i in range(n))
    return tool(f"return {{{parts}}}")


def branches_in_a_row(n: int) -> Files:
    return tool(
        'a = {"k": 0}',
        *(f'if x > {i}:\n    a = {{"x": a, "k": 1}}\nelse:\n    a = {{"y": a, "k": 2}}' for i in range(n)),
        "return a",
    )


def numbers_in_a_row(n: int) -> Files:
    return tool(
        "a = 0",
        *(f"if x > {i}:\n    a = a + 1\nelse:\n    a = a * 2" for i in range(n)),
        'return {"a": a}',
    )


def elifs(n: int) -> Files:
    arms = "\n".join(f"elif x > {i}:\n    a = {i}" for i in range(n))
    return tool(f'if x is None:\n    a = ""\n{arms}\nelse:\n    a = None', 'return {"a": a}')


def dispatch_table(n: int) -> Files:
    helpers = "".join(f'def f{i}():\n    return {{"k{i}": {i}}}\n\n\n' for i in range(n))
    table = "T = {" + ", ".join(f'"{i}": f{i}' for i in range(n)) + "}\n"
    return tool("return T[x]()", before=helpers + table)


def doubling(n: int) -> Files:
    return tool("a = 1", *('a = {"x": a, "y": a}' for _ in range(n)), "return a")


def doubling_lists(n: int) -> Files:
    return tool("a = [1]", *("a = a + a" for _ in range(n)), "return a")


def doubling_helpers(n: int) -> Files:
    helpers = 'def f0():\n    return {"n": 1}\n\n\n' + "".join(
        f'def f{i}():\n    return {{"x": f{i - 1}(), "y": f{i - 1}()}}\n\n\n' for i in range(1, n)
    )
    return tool(f"return f{n - 1}()", before=helpers)


def doubling_arguments(n: int) -> Files:
    helpers = 'def f0(q):\n    return {"n": q}\n\n\n' + "".join(
        f"def f{i}(q):\n    if q:\n        return f{i - 1}(q)\n    return f{i - 1}({{'a': q}})\n\n\n"
        for i in range(1, n)
    )
    return tool(f"return f{n - 1}(x)", before=helpers)


def chain_of_arguments(n: int) -> Files:
    """The number goes through ``n`` helpers, none of which says what it takes."""
    helpers = "def f0(q):\n    return {'n': q}\n\n\n" + "".join(
        f"def f{i}(q):\n    return f{i - 1}(q)\n\n\n" for i in range(1, n)
    )
    return tool(f"return f{n - 1}(2 * len(x))", before=helpers)


def doubling_constants(n: int) -> Files:
    constants = "C0 = 1\n" + "".join(f'C{i} = {{"x": C{i - 1}, "y": C{i - 1}}}\n' for i in range(1, n))
    return tool(f"return C{n - 1}", before=constants)


def doubling_texts(n: int) -> Files:
    return tool("a = str(x)", *('a = f"{a} {a}"' for _ in range(n)), 'return {"a": a}')


def nested_in_itself(n: int) -> Files:
    return tool("a = {}", *('a["a"] = a' for _ in range(n)), "return a")


def circle_of_helpers(n: int) -> Files:
    helpers = "".join(f"def f{i}(q):\n    return {{'k': f{(i + 1) % n}(q), 'n': 1}}\n\n\n" for i in range(n))
    return tool("return f0(x)", before=helpers)


def dense_circle(n: int) -> Files:
    """Each helper calls five others."""
    helpers = "".join(
        f"def f{i}(q):\n"
        + "".join(f"    if q == {k}:\n        return f{(i * 7 + k * 13 + 1) % n}(q)\n" for k in range(5))
        + "    return 1\n\n\n"
        for i in range(n)
    )
    return tool('return {"a": f0(x)}', before=helpers)


def dense_circle_of_changes(n: int) -> Files:
    """Each helper hands on a dict that it changes to eight others, as interpreters do."""
    helpers = "".join(
        f"def f{i}(node, state):\n    total = {{}}\n"
        + "".join(
            f"    state['k{k}'] = f{(i * 7 + k * 13 + 1) % n}(node.left, state)\n"
            f"    if node == {k}:\n        return f{(i * 3 + k * 5 + 2) % n}(node.right, total)\n"
            for k in range(4)
        )
        + "    return total\n\n\n"
        for i in range(n)
    )
    return tool('return {"a": f0(x, {})}', before=helpers)


def every_helper_a_tool(n: int) -> Files:
    helpers = "".join(
        f"@function_tool\ndef f{i}(q):\n    if q:\n        return g{i}(q)\n    return {{'k': {i}}}\n\n\n"
        f"def g{i}(q):\n    return f{(i + 1) % n}(q) if q else f{(i * 3) % n}(q)\n\n\n"
        for i in range(n)
    )
    return {"a.py": HEAD + helpers}


def chain_of_helpers(n: int) -> Files:
    helpers = "def f0(q):\n    return q\n\n\n" + "".join(
        f"def f{i}(q):\n    return f{i - 1}(q)\n\n\n" for i in range(1, n)
    )
    return tool(f'return {{"n": 1, "a": f{n - 1}(x)}}', before=helpers)


def chain_of_keys(n: int) -> Files:
    helpers = 'def f0(x):\n    return {"k0": 0}\n\n\n' + "".join(
        f'def f{i}(x):\n    found = f{i - 1}(x)\n    found["k{i}"] = {i}\n    return found\n\n\n'
        for i in range(1, n)
    )
    return tool(f"return f{n - 1}(x)", before=helpers)


def chain_of_spreads(n: int) -> Files:
    helpers = 'def f0(x):\n    return {"k0": 0}\n\n\n' + "".join(
        f'def f{i}(x):\n    return {{"k{i}": {i}, **f{i - 1}(x)}}\n\n\n' for i in range(1, n)
    )
    return tool(f"return f{n - 1}(x)", before=helpers)


def chain_of_methods(n: int) -> Files:
    methods = "    def f0(self, x):\n        return {'k0': 0}\n\n" + "".join(
        f"    def f{i}(self, x):\n        return {{'in': self.f{i - 1}(x), 'k{i}': {i}}}\n\n"
        for i in range(1, n)
    )
    return tool(f"return C().f{n - 1}(x)", before=f"class C:\n{methods}\n")


def chain_of_lambdas(n: int) -> Files:
    lambdas = "f0 = lambda x: {'k0': 0}\n" + "".join(
        f"f{i} = lambda x: {{**f{i - 1}(x), 'k{i}': {i}}}\n" for i in range(1, n)
    )
    return tool(f"return f{n - 1}(x)", before=lambdas)


def chain_of_coroutines(n: int) -> Files:
    helpers = "async def f0(x):\n    return {'k0': 0}\n\n\n" + "".join(
        f"async def f{i}(x):\n    found = await f{i - 1}(x)\n    if x > {i}:\n        found.update(k{i}={i})\n"
        "    return found\n\n\n"
        for i in range(1, n)
    )
    files = tool(f"return await f{n - 1}(x)", before=helpers)
    return {"a.py": files["a.py"].replace("def report", "async def report")}


def circle_of_keys(n: int) -> Files:
    helpers = "".join(
        f"def f{i}(q):\n    if q:\n        return f{(i + 1) % n}(q)\n    return {{'k{i}': {i}}}\n\n\n"
        for i in range(n)
    )
    return tool("return f0(x)", before=helpers)


def table_of_constants(n: int) -> Files:
    table = "T = {" + ", ".join(f'"k{i}": {i}' for i in range(n)) + "}\n"
    return tool('return {"a": T[x]}', before=table)


def result_of_many_keys(n: int) -> Files:
    return tool("return {" + ", ".join(f'"k{i}": {i}' for i in range(n)) + "}")


def many_stores(n: int) -> Files:
    return tool("a = {}", *(f'a["k{i}"] = {i}' for i in range(n)), "return a")


def many_appends(n: int) -> Files:
    return tool("a = []", *(f"a.append({i})" for i in range(n)), "return a")


def many_assignments(n: int) -> Files:
    return tool(*("y = 1" for _ in range(n)), 'return {"y": y}', before="x = 1\n" * n)


def chain_of_assignments(n: int) -> Files:
    return tool("a0 = 1", *(f"a{i} = a{i - 1}" for i in range(1, n)), f'return {{"a": a{n - 1}}}')


def chain_of_constants(n: int) -> Files:
    constants = "A0 = 1\n" + "".join(f"A{i} = A{i - 1}\n" for i in range(1, n))
    return tool(f'return {{"a": A{n - 1}}}', before=constants)


def many_returns(n: int) -> Files:
    helper = "def f(x):\n" + _lines(f'if x == {i}:\n        return {{"k{i}": {i}}}' for i in range(n))
    return tool("return f(x)", before=helper)


def many_texts(n: int) -> Files:
    helper = "def f(x):\n" + _lines(f'if x == {i}:\n        return f"text {i} {{x}}"' for i in range(n))
    return tool('return {"t": f(x)}', before=helper)


def many_lists(n: int) -> Files:
    helper = "def f(x):\n" + _lines(f"if x == {i}:\n        return [{i}]" for i in range(n))
    return tool("return f(x)", before=helper)


def long_sum(n: int) -> Files:
    return tool('return {"a": ' + " + ".join(["x", "1"] * (n // 2)) + "}")


def long_text_sum(n: int) -> Files:
    return tool('return {"a": ' + " + ".join(['"b"', "x"] * (n // 2)) + "}")


def long_fstring(n: int) -> Files:
    return tool('return {"a": f"' + "{x} and " * n + '"}')


def long_or(n: int) -> Files:
    return tool('return {"a": ' + " or ".join(["x"] * n) + " or 1}")


def comprehension_tower(n: int) -> Files:
    return tool('return {"a": ' + "[" * n + "1" + "".join(f" for v{i} in x]" for i in range(n)) + "}")


def comprehension_of_many(n: int) -> Files:
    return tool('return {"a": [v0' + "".join(f" for v{i} in x" for i in range(n)) + "]}")


def tower_of_loops(n: int) -> Files:
    body = "a = {}\n" + "".join("    " * i + f"for v{i} in x:\n" for i in range(n))
    return tool(body + "    " * n + 'a = {"x": a, "n": 1}\n', "return a")


def tower_of_try(n: int) -> Files:
    text = "a = {}\n"
    for i in range(n):
        text += "    " * i + "try:\n" + "    " * (i + 1) + f'a["k{i}"] = {i}\n'
    for i in reversed(range(n)):
        text += "    " * i + "finally:\n" + "    " * (i + 1) + f'a["f{i}"] = {i}\n'
    return tool(text, "return a")


def tower_of_ifs(n: int) -> Files:
    text = "a = {}\n" + "".join("    " * i + f"if x > {i}:\n" for i in range(n))
    return tool(text + "    " * n + 'a["k"] = 1\n', "return a")


def tower_of_classes(n: int) -> Files:
    classes = "class C0:\n    k: float = 1\n\n\n" + "".join(
        f"class C{i}(C{i - 1}):\n    pass\n\n\n" for i in range(1, n)
    )
    return tool(f'return {{"a": C{n - 1}().k}}', before=classes)


def circle_of_classes(n: int) -> Files:
    classes = "".join(f"class C{i}(C{(i + 1) % n}):\n    pass\n\n\n" for i in range(n))
    return tool('return {"a": C0().k, "b": 1}', before=classes)


def circle_of_attributes(n: int) -> Files:
    sets = "".join(f"        self.a{i} = self.a{(i + 1) % n} or self.a{(i * 3) % n}\n" for i in range(n))
    return tool('return {"a": C().a0, "b": 1}', before=f"class C:\n    def __init__(self):\n{sets}")


def many_tools(n: int) -> Files:
    text = "".join(f'@function_tool\ndef f{i}(x):\n    return {{"a": helper(x)}}\n\n\n' for i in range(n))
    return {"a.py": f"{HEAD}def helper(x):\n    return x + 1\n\n\n{text}"}


def many_callers(n: int) -> Files:
    big = "def helper(x):\n    return {" + ", ".join(f'"k{i}": x' for i in range(50)) + "}\n\n\n"
    calls = "".join(f'def f{i}(x):\n    return {{"a": helper({i})}}\n\n\n' for i in range(n))
    files = tool("return [" + ", ".join(f"f{i}(x)" for i in range(n)) + "]", before=calls)
    return {"a.py": "from b import helper\n" + files["a.py"], "b.py": big}


def many_parameters(n: int) -> Files:
    return tool(
        "return {" + ", ".join(f'"k{i}": p{i}' for i in range(n)) + "}",
        params=", ".join(f"p{i}: float" for i in range(n)),
    )


def doubling_instances(n: int) -> Files:
    """Each of plain objects holds the one before it twice."""
    before = (
        "class Pair:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n\n"
        "    def first(self):\n        return self.a\n"
    )
    made = (f"v{i} = Pair(v{i - 1}, v{i - 1})" for i in range(1, n))
    return tool("v0 = Pair(1.5, 2)", *made, f'return {{"a": v{n - 1}.first()}}', before=before)


def nested_functions(n: int) -> Files:
    text = "".join("    " * i + f"def f{i}(x):\n" for i in range(n)) + "    " * n + "return 1\n"
    text += "".join("    " * (i + 1) + f"return f{i + 1}(x)\n" for i in reversed(range(n - 1)))
    return tool('return {"a": f0(x)}', before=text)


def nested_lambdas(n: int) -> Files:
    return tool(
        "f = " + "".join(f"lambda v{i}: " for i in range(n)) + "1", 'return {"a": f' + "(x)" * n + "}"
    )


def lambdas_calling_two(n: int) -> Files:
    lambdas = "f0 = lambda q: 1\n" + "".join(
        f"f{i} = lambda q: f{i - 1}(q) + f{i - 1}(q + 1)\n" for i in range(1, n)
    )
    return tool(f'return {{"a": f{n - 1}(x)}}', before=lambdas)


def chained_calls(n: int) -> Files:
    return tool('return {"n": 1, "a": x' + ".a().b" * n + "}")


def import_circle(n: int) -> Files:
    files = {
        f"m{i}.py": f"from m{(i + 1) % n} import name{i % 7} as other, f as g\n\n\ndef f(x):\n    return g(x) or 1\n"
        for i in range(n)
    }
    return {**tool('return {"a": f(x)}', before="from m0 import f\n"), **files}


def star_chain(n: int) -> Files:
    files = {f"m{i}.py": f"from m{i + 1} import *\nX{i} = {i}\n" for i in range(n - 1)}
    files[f"m{n - 1}.py"] = "LAST = 1\n"
    return {**tool('return {"a": LAST, "b": X3}', before="from m0 import *\n"), **files}


def star_circle(n: int) -> Files:
    files = {
        f"m{i}.py": f"from m{(i + 1) % n} import *\nfrom m{(i * 3) % n} import *\nX{i} = {i}\n"
        for i in range(n)
    }
    return {**tool('return {"a": LAST, "b": X3}', before="from m0 import *\n"), **files}


def reassigned_path(n: int) -> Files:
    steps = (f'p = p / q\nq = make(p, "{i}")' for i in range(n))
    text = "p = start()\nq = start()\n" + "\n".join(steps) + '\np.write_text("x")'
    return tool(*text.splitlines(), 'return {"a": 1}')


def chain_of_notes(n: int) -> Files:
    return tool("a = x + 1", *("a = a + a" for _ in range(n)), 'return {"a": a}')


def generic_aliases(n: int) -> Files:
    aliases = "A0 = float\n" + "".join(f"A{i} = dict[str, A{i - 1}] | list[A{i - 1}]\n" for i in range(1, n))
    return tool(f"y: A{n - 1} = x", "return y", before=aliases)


def texts_in_annotations(n: int) -> Files:
    aliases = "from typing import TypeAlias\nA0 = float\n" + "".join(
        f'A{i}: TypeAlias = "dict[str, A{i - 1}] | list[A{i - 1}]"\n' for i in range(1, n)
    )
    return tool(f"y: A{n - 1} = x", "return y", before=aliases)


SHAPES: dict[Callable[[int], Files], int] = {
    maybe_spread: 40,
    maybe_stored: 200,
    maybe_updated: 100,
    spreads_in_a_dict: 40,
    branches_in_a_row: 200,
    numbers_in_a_row: 200,
    elifs: 200,
    dispatch_table: 100,
    doubling: 60,
    doubling_lists: 60,
    doubling_helpers: 40,
    doubling_arguments: 72,
    chain_of_arguments: 60,
    doubling_constants: 60,
    doubling_texts: 60,
    nested_in_itself: 60,
    circle_of_helpers: 300,
    dense_circle: 60,
    dense_circle_of_changes: 10,
    every_helper_a_tool: 36,
    chain_of_helpers: 200,
    chain_of_keys: 100,
    chain_of_spreads: 100,
    chain_of_methods: 100,
    chain_of_lambdas: 100,
    chain_of_coroutines: 100,
    circle_of_keys: 100,
    table_of_constants: 1000,
    result_of_many_keys: 500,
    many_stores: 500,
    many_appends: 500,
    many_assignments: 1000,
    chain_of_assignments: 500,
    chain_of_constants: 300,
    many_returns: 300,
    many_texts: 300,
    many_lists: 300,
    long_sum: 400,
    long_text_sum: 400,
    long_fstring: 300,
    long_or: 200,
    comprehension_tower: 30,
    comprehension_of_many: 60,
    tower_of_loops: 18,
    tower_of_try: 18,
    tower_of_ifs: 80,
    tower_of_classes: 600,
    circle_of_classes: 600,
    circle_of_attributes: 100,
    doubling_instances: 100,
    many_tools: 200,
    many_callers: 60,
    many_parameters: 250,
    nested_functions: 60,
    nested_lambdas: 50,
    lambdas_calling_two: 100,
    chained_calls: 100,
    import_circle: 100,
    star_chain: 100,
    star_circle: 400,
    reassigned_path: 30,
    chain_of_notes: 60,
    generic_aliases: 50,
    texts_in_annotations: 30,
}
