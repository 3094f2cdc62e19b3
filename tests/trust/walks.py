"""Everything in gllint that walks an input which somebody else may have made: how to make a large one, and walk it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))

import shapes
from gllint.cli.commands import cli
from gllint.cli.server_tools import offered_tool
from gllint.cli.servers import judged
from gllint.errors import UsageError
from gllint.run.cache import decode as decode_entry
from gllint.run.cache import encode
from gllint.run.engine import Engine, Options
from gllint.run.results import Result
from gllint.server.session import Session
from gllint.server.texts import Snapshot
from gllint.verdict.since import _changed_lines
from gllint_runtime import GLError, UnitRegistry
from gllint_runtime import Session as Gate
from gllint_runtime.policy.claims import parse_claim_path
from gllint_runtime.policy.names import is_plain, read_name
from gllint_runtime.policy.settings import Policy

Steps = Callable[[], int]
"""What is timed. It returns how much came of it: a walk of which nothing comes has walked nothing."""


class Walk(NamedTuple):
    """``begin`` makes an input of about ``n`` parts in an empty folder, and returns what walks it.

    ``n`` is the smallest of the three sizes. What no file holds is written into the folder, too: how much there is to
    walk is told by its size.
    """

    begin: Callable[[Path, int], Steps]
    n: int


class Ran(NamedTuple):
    """What a command said, and its exit status."""

    output: str
    exit_code: int


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def ran(folder: Path, *arguments: str) -> Ran:
    """Run a command in this process."""
    with chdir(folder):
        try:
            done = CliRunner().invoke(cli, [*arguments], catch_exceptions=False)
        except UsageError as error:
            return Ran(str(error), 2)
    return Ran(done.output, done.exit_code)


def program(*files_of: Callable[[int], dict[str, str]]) -> Callable[[Path, int], Steps]:
    """Check a program by all rules; the rules' findings count, and what they say that they gave up."""

    def begin(folder: Path, n: int) -> Steps:
        for make in files_of:
            write(folder, make(n))
        return lambda: checked(folder)

    return begin


def checked(folder: Path) -> int:
    """How many findings and notices there are in a folder."""
    outcome = Engine(Options(cache=False, jobs=1)).check([str(folder)])
    return len(outcome.findings) + len(outcome.failures) + len(outcome.notices) + len(outcome.left_out) + 1


def source(make: Callable[[int], str]) -> Callable[[Path, int], Steps]:
    return program(lambda n: {"a.py": make(n)})


def tool(value: str, before: str = "") -> str:
    return f"from agents import function_tool\n{before}\n@function_tool\ndef f(x):\n    return {{'a': {value}}}\n"


def tools(value: str, n: int, name: str = "f") -> str:
    """So many tools, each of which returns the value; ``%d`` in it stands for the number of the tool."""
    texts = (
        f"\n\n@function_tool\ndef {name}{i}(x):\n    return {{'a': {value.replace('%d', str(i))}}}\n"
        for i in range(n)
    )
    return "from agents import function_tool\n" + "".join(texts)


def chain(line: str) -> Callable[[Path, int], Steps]:
    """Each line makes a value twice out of that of the line before."""

    def make(n: int) -> str:
        lines = (line.format(n=i, p=i - 1) for i in range(1, n))
        return (
            "import agents\nS0 = '{} 5 kWh '\n"
            + "\n".join(lines)
            + f"\nfinal_message = S{n - 1}\n"
            + tool(f"S{n - 1}")
        )

    return source(make)


# --- patterns ----------------------------------------------------------------------------------------------------


def patterned(place: Callable[[Path, int], Sequence[str]]) -> Callable[[Path, int], Steps]:
    """Files whose names nearly match what ``place`` puts into the folder; it returns arguments."""

    def begin(folder: Path, n: int) -> Steps:
        write(folder, {f"{i}{'a' * 200}/{i}{'a' * 200}.py": "x = 1\n" for i in range(8)})
        write(folder, {"pyproject.toml": "[project]\nname='a'\n"})
        arguments = place(folder, n)
        write(folder, {"arguments": "\n".join(arguments)})

        def steps() -> int:
            done = ran(folder, "check", "--show-files", "--no-cache", *arguments, ".")
            return len(done.output.splitlines())

        return steps

    return begin


def stars(n: int) -> list[str]:
    """Patterns of many stars, and many patterns."""
    return [
        "*a" * min(n, 2000) + "b",
        "**/a*" * min(n // 4, 800) + "/b",
        *(f"*a*a*a*{i}" for i in range(n)),
    ]


def _toml(key: str, wrap: Callable[[list[str]], str] = json.dumps) -> Callable[[Path, int], Sequence[str]]:
    def place(folder: Path, n: int) -> Sequence[str]:
        write(folder, {"gllint.toml": f"{key} = {wrap(stars(n))}\n"})
        return ()

    return place


def _file(name: str) -> Callable[[Path, int], Sequence[str]]:
    def place(folder: Path, n: int) -> Sequence[str]:
        write(folder, {".git/HEAD": "", name: "\n".join(stars(n))})
        return ()

    return place


def _ignores(folder: Path, n: int) -> Steps:
    table = "\n".join(f"{json.dumps(pattern)} = ['GL1']" for pattern in stars(n))
    write(folder, {"gllint.toml": f"[per-file-ignores]\n{table}\n"})
    write(folder, {f"{i}{'a' * 200}.py": tool("5") for i in range(4)})
    return lambda: checked(folder)


def _whitelist(folder: Path, n: int) -> Steps:
    patterns = ["a?" * min(n, 300) + "a" * min(n, 300), *(rf"REF{i}-\d+" for i in range(n // 4))]
    write(folder, {"gllint.toml": f"whitelist-patterns = {json.dumps(patterns)}\n"})
    write(folder, {"a.py": f"import agents\nfinal_message = '{'a' * 400} 5 kWh'\n"})

    def steps() -> int:
        done = ran(folder, "check", "--no-cache", ".")
        return len(done.output)

    return steps


# --- configuration -----------------------------------------------------------------------------------------------


def configured(make: Callable[[int], str]) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        write(folder, {"gllint.toml": make(n), "a.py": tool("{'value': x, 'unit': 'kWh'}")})

        def steps() -> int:
            done = ran(folder, "check", "--no-cache", ".")
            return len(done.output)

        return steps

    return begin


def rows(n: int) -> str:
    return "".join(
        f"[[frameworks]]\nname = 'a{i}'\nimports = ['acme{i}']\ndecorators = ['acme{i}.tool{i}']\n"
        for i in range(n)
    )


# --- what is written -----------------------------------------------------------------------------------------------


def fixed(make: Callable[[int], str], *arguments: str) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        write(folder, {"a.py": make(n)})
        return lambda: len(ran(folder, "check", "--no-cache", *arguments, ".").output)

    return begin


class Editor:
    """An editor that nobody looks at."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_: None

    def working(self, title: str) -> Callable[[str, int, int], None]:
        return lambda *_: None


def edited(text: str, folder: Path) -> tuple[Session, str]:
    write(folder, {"a.py": text})
    session, path = Session(Editor()), str(folder / "a.py")  # type: ignore[arg-type]
    session.add_folder(str(folder))
    session.put(path, Snapshot(f"file://{path}", text, 1, "utf-16"))
    session.findings(path)
    return session, path


def fix_all(make: Callable[[int], str]) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        session, path = edited(make(n), folder)

        def steps() -> int:
            done = session.fixed(path)
            if done is None:
                return 0
            snapshot, data = done
            return sum(
                len(changes) + bool([document.range(start, end) for start, end, _ in changes])
                for document, changes in snapshot.until(data)
            )

        return steps

    return begin


def keystrokes(make: Callable[[int], str]) -> Callable[[Path, int], Steps]:
    """Twenty of them."""
    from lsprotocol import types

    def begin(folder: Path, n: int) -> Steps:
        session, path = edited(make(n), folder)
        place = types.Position(1, 0)

        def steps() -> int:
            for _ in range(20):
                snapshot = session.buffers[path].snapshot
                change = types.TextDocumentContentChangePartial(types.Range(place, place), "#")
                session.put(path, snapshot.edited([change], 2))
                found = session.findings(path)
            return 1 + len(found.findings if found else ())

        return steps

    return begin


def _noqas(n: int) -> str:
    return "".join(f"x{i} = 1  # noqa: GL101 because\n" for i in range(n))


def command(make: Callable[[int], str], *arguments: str) -> Callable[[Path, int], Steps]:
    """A command over one file, whose output counts."""

    def begin(folder: Path, n: int) -> Steps:
        write(folder, {"a.py": make(n)})

        def steps() -> int:
            done = ran(folder, "check", "--no-cache", *arguments, ".")
            assert done.exit_code in (0, 1), done.output[:300]
            return len(done.output)

        return steps

    return begin


def _baseline(n: int, text: str) -> str:
    entry = {"code": "GL101", "scope": "f", "text": text, "target": "x"}
    entries = [{**entry, "path": f"a{i}.py", "count": 2} for i in range(n)]
    return json.dumps({"version": 1, "findings": entries})


def with_baseline(*arguments: str) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        write(folder, {"a.py": tool("5"), "b.json": _baseline(n, "x")})

        def steps() -> int:
            done = ran(folder, "check", "--no-cache", "--baseline", "b.json", *arguments, ".")
            return len(done.output)

        return steps

    return begin


def notebook(cells: Sequence[str]) -> str:
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "metadata": {}, "outputs": [], "source": text.splitlines(True)}
                for text in cells
            ],
            "nbformat": 4,
        }
    )


def notebook_of(make: Callable[[int], Sequence[str]]) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        write(folder, {"a.ipynb": notebook(make(n))})
        return lambda: checked(folder)

    return begin


# --- the runtime ---------------------------------------------------------------------------------------------------


def message(make: Callable[[int], str], **settings: Any) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        gate, text = Gate(**settings), make(n)
        write(folder, {"input": text})
        call = gate.record("t", {}, {"a": {"value": 5, "unit": "kWh"}})
        claim = {"source_call_id": call, "path": "$.a", "quantity": {"value": 5, "unit": "kWh"}}
        return lambda: len(str(gate.verify(text, [claim])))

    return begin


def stored(make: Callable[[int], Any]) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        gate = Gate()
        make(n)(gate)
        write(folder, {"input": gate.to_json()})
        return lambda: len(Gate.from_json(gate.to_json()).to_json())

    return begin


def output(
    make: Callable[[int], Any], schema: Callable[[int], Any] | None = None
) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        data = make(n)
        rules = None if schema is None else schema(n)
        write(folder, {"input": repr(data) + repr(rules)})

        def steps() -> int:
            try:
                return len(Gate().record("t", {}, data, result_schema=rules))
            except GLError as error:
                return len(str(error))

        return steps

    return begin


def outcome(function: Callable[[Any], object], value: object) -> object:
    """What a function returns or raises."""
    try:
        return function(value)
    except ValueError as error:
        return error


def _traced(values: Sequence[Any]) -> object:
    gate = Gate(argument_origin="record")
    gate.user(" ".join(map(str, values)))
    gate.record("t", {"values": list(values)}, {"a": {"value": 1, "unit": "kWh"}})
    return gate.to_json()


def _echoed(text: str) -> object:
    gate = Gate(argument_origin="record", plain_keys={"size_id"})
    for at in range(0, len(text), 5_000):
        gate.record("write", {"content": text[at : at + 5_000]}, {"size_id": at + 7})
    return gate.tool_arguments("t", {"a": 7}).origins


def _totalled(rows: Sequence[Any]) -> object:
    gate = Gate(argument_origin="record", allow_raw_numbers=True)
    gate.record("rows", {}, list(rows))
    gate.record("pages", {}, " ".join(map(str, range(len(rows)))))
    items = [{"id": f"row-{i}", "pieces": 2} for i in range(9)]
    origins = gate.tool_arguments(
        "t", {"items": items, "amounts": [{"total": 0.5 + row["a"]} for row in rows]}
    )
    return origins.origins


def nested(n: int) -> Any:
    value: Any = {"value": 1, "unit": "kWh"}
    for _ in range(n):
        value = {"a": value}
    return value


# --- the rest ------------------------------------------------------------------------------------------------------


def plainly(make: Callable[[int], Any], walk: Callable[[Any], object]) -> Callable[[Path, int], Steps]:
    def begin(folder: Path, n: int) -> Steps:
        value = make(n)
        write(folder, {"input": str(value)})

        def steps() -> int:
            try:
                return len(str(walk(value)))
            except (GLError, ValueError) as error:
                return len(str(error))

        return steps

    return begin


def _schema(kind: str) -> Callable[[int], Any]:
    def make(n: int) -> Any:
        if kind == "deep":
            schema: Any = {"type": "number"}
            for _ in range(n):
                schema = {"type": "object", "properties": {"a": schema}}
            return schema
        if kind == "wide":
            return {"type": "object", "properties": {f"a{i}": {"type": "number"} for i in range(n)}}
        if kind == "chain":
            definitions = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)}
            definitions[f"d{n}"] = {"type": "number"}
        elif kind == "fan":  # each refers twice to the next
            definitions = {
                f"d{i}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{i + 1}"} for k in "ab"}}
                for i in range(n)
            }
            definitions[f"d{n}"] = {"type": "number"}
        elif kind == "all":
            definitions = {
                f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{j}"} for j in range(n)]} for i in range(n)
            }
        else:
            definitions = {f"d{i}": {"$ref": f"#/$defs/d{(i + 1) % n}"} for i in range(n)}
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}

    return make


def server_tool(schema: Callable[[int], Any]) -> Callable[[Path, int], Steps]:
    return plainly(
        schema,
        lambda value: [
            *judged(
                [offered_tool({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": value}, 1)],
                Policy(),
            )
        ],
    )


def schema_in_source(schema: Callable[[int], Any]) -> Callable[[Path, int], Steps]:
    def make(n: int) -> str:
        return (
            "from gllint_runtime import tool\n"
            f"SCHEMA = {schema(n)!r}\n"
            "@tool(result_schema=SCHEMA)\ndef f(x):\n    return {'a': x}\n"
        )

    return source(make)


_DENSE = (shapes.every_helper_a_tool, shapes.texts_in_annotations)
WALKS: dict[str, Walk] = {
    # Of what is hardest the least size is one at which budgets begin to run out: until then the time may grow faster.
    **{
        f"program: {make.__name__}": Walk(program(make), 2 * n if make in _DENSE else n)
        for make, n in shapes.SHAPES.items()
    },
    "format chain": Walk(chain("S{n} = '{{}}{{}}'.format(S{p}, S{p})"), 250),
    "percent chain": Walk(chain("S{n} = '%s%s' % (S{p}, S{p})"), 250),
    "join chain": Walk(chain("S{n} = '-'.join([S{p}, S{p}])"), 250),
    "f-string chain": Walk(chain("S{n} = f'{{S{p}}}{{S{p}}}'"), 250),
    "format chain, one place": Walk(chain("S{n} = '{{}} {{{{}}}}'.format(S{p})"), 250),
    "replace chain": Walk(chain("S{n} = S{p}.replace('a', 'aa').strip()"), 250),
    "expression": Walk(source(lambda n: tool(" + ".join(["1.5"] * n))), 1000),
    "nested lists": Walk(source(lambda n: tool("[" * n + "1.5" + "]" * n)), 45),
    "nested calls": Walk(source(lambda n: tool("f(" * n + "1.5" + ")" * n)), 45),
    "nested parentheses": Walk(source(lambda n: tool("(" * n + "1.5" + ")" * n)), 45),
    "nested blocks": Walk(
        source(lambda n: "".join("  " * i + "if x:\n" for i in range(n)) + "  " * n + "pass\n" + tool("5")),
        24,
    ),
    "minus": Walk(source(lambda n: tool("-" * n + "1")), 200),
    "attributes": Walk(source(lambda n: tool("x" + ".a" * n)), 300),
    "subscripts": Walk(source(lambda n: tool("x" + "[0]" * n)), 300),
    "constant table": Walk(
        source(lambda n: tool("T[x]", "T = {" + ", ".join(f"'k{i}': {i}.5" for i in range(n)) + "}\n")), 5000
    ),
    "nested constant table": Walk(
        source(lambda n: tool("T['a']", "T = " + "{'a': [" * n + "1" + "]}" * n + "\n")), 20
    ),
    "comprehension": Walk(source(lambda n: tool("[" + "[a for a in " * n + "x" + "]" * n + "]")), 20),
    "comprehension fors": Walk(
        source(lambda n: tool("[i " + "".join(f"for i{k} in range(5) " for k in range(n)) + "]")), 50
    ),
    "loops in a row": Walk(
        source(
            lambda n: (
                "from agents import function_tool\n@function_tool\ndef f(x):\n    a = 0\n"
                + "".join("    for i in x:\n        a += 1\n" for _ in range(n))
                + "    return {'a': a}\n"
            )
        ),
        500,
    ),
    "bases": Walk(
        source(
            lambda n: (
                "from pydantic import BaseModel\n"
                + "".join(f"class A{i}(BaseModel):\n    a{i}: float\n" for i in range(n))
                + f"class B({', '.join(f'A{i}' for i in range(n))}):\n    pass\n"
                + "from agents import function_tool\n@function_tool\ndef f(x) -> B:\n    return B()\n"
            )
        ),
        100,
    ),
    "models in models": Walk(
        source(
            lambda n: (
                "from pydantic import BaseModel\n"
                + "class A0(BaseModel):\n    a: float\n"
                + "".join(f"class A{i}(BaseModel):\n    a: A{i - 1}\n    b: A{i - 1}\n" for i in range(1, n))
                + f"from agents import function_tool\n@function_tool\ndef f(x) -> A{n - 1}:\n    return A{n - 1}()\n"
            )
        ),
        50,
    ),
    "messages": Walk(
        source(
            lambda n: "import agents\n" + "".join(f"final_message = 'It uses {i} kWh'\n" for i in range(n))
        ),
        500,
    ),
    "message of numbers": Walk(source(lambda n: f"import agents\nfinal_message = '{'5 ' * n}'\n"), 2000),
    "message of half macros": Walk(
        source(lambda n: f"import agents\nfinal_message = '{'{{claim:' * n}'\n"), 2000
    ),
    "message of macros": Walk(
        source(
            lambda n: (
                f"import agents\nfinal_message = '{'{{claim:0}} ' * n}'\nclaims = [{{'source_call_id': 'a', 'path': '$.a', 'quantity': {{'value': 1, 'unit': 'kWh'}}}}]\n"
            )
        ),
        2000,
    ),
    "message in lines": Walk(
        source(lambda n: "import agents\nfinal_message = (\n" + "    'it uses 5 kWh'\n" * n + ")\n"), 1000
    ),
    "step of claims": Walk(
        source(
            lambda n: (
                "import agents\nstep = {'final_message': 'a {{claim:0}}', 'claims': ["
                + "{'source_call_id': 'a', 'path': '$.a', 'quantity': {'value': 1, 'unit': 'kWh'}}, " * n
                + "]}\n"
            )
        ),
        1000,
    ),
    "docstring of numbers": Walk(source(lambda n: tool("x") + f"    '''{'5 kWh ' * n}'''\n"), 5000),
    "comment line of 1 MB": Walk(source(lambda n: tool("5") + "# " + "a" * n + "\n"), 250_000),
    "names with underscores": Walk(source(lambda n: tool("{'" + "a_" * n + "': 5}")), 5000),
    "names in camel case": Walk(source(lambda n: tool("{'" + "Ab" * n + "': 5}")), 5000),
    "effects": Walk(
        source(
            lambda n: tool(
                "f0()", "".join(f"def f{i}():\n    return f{i + 1}(), f{i + 2}()\n" for i in range(n))
            )
        ),
        300,
    ),
    "imports": Walk(
        program(
            lambda n: (
                {f"m{i}.py": f"from m{i + 1} import *\n" for i in range(n)}
                | {f"m{n}.py": "v = 5\n", "a.py": tool("v", "from m0 import *\n")}
            )
        ),
        100,
    ),
    "files": Walk(program(lambda n: {f"m{i}.py": tool("5") for i in range(n)}), 100),
    "folders in folders": Walk(program(lambda n: {"/".join(["a"] * n) + "/b.py": tool("5")}), 50),
    "schema in source, deep": Walk(schema_in_source(_schema("deep")), 60),
    "schema in source, wide": Walk(schema_in_source(_schema("wide")), 500),
    "schema in source, chain": Walk(schema_in_source(_schema("chain")), 250),
    "schema in source, fan": Walk(schema_in_source(_schema("fan")), 20),
    "schema in source, circle": Walk(schema_in_source(_schema("circle")), 250),
    "schema in source, all": Walk(schema_in_source(_schema("all")), 20),
    "exclude": Walk(patterned(_toml("exclude")), 250),
    "extend-exclude": Walk(patterned(_toml("extend-exclude")), 250),
    "--exclude": Walk(
        patterned(lambda folder, n: [part for p in stars(n) for part in ("--exclude", p)]), 250
    ),
    ".gitignore": Walk(patterned(_file(".gitignore")), 250),
    ".git/info/exclude": Walk(patterned(_file(".git/info/exclude")), 250),
    "per-file-ignores": Walk(_ignores, 250),
    "whitelist-patterns": Walk(_whitelist, 250),
    "configuration: lists": Walk(
        configured(lambda n: f"plain-keys = {json.dumps([f'k{i}' for i in range(n)])}\n"), 5000
    ),
    "configuration: units": Walk(
        configured(lambda n: f"extend-units = {json.dumps([f'u{i}' for i in range(n)])}\n"), 2500
    ),
    "configuration: deep key": Walk(configured(lambda n: "a" + ".a" * n + " = 1\n"), 250),
    "configuration: nested": Walk(configured(lambda n: "a = " + "[" * n + "]" * n + "\n"), 250),
    "frameworks": Walk(configured(rows), 2500),
    "fix: many": Walk(
        fixed(
            lambda n: tools("{'value': x, 'unit': 'kwh'}", n),
            "--fix",
        ),
        250,
    ),
    "fix: --diff": Walk(
        fixed(
            lambda n: tools("{'value': x, 'unit': 'kwh'}", n),
            "--diff",
        ),
        250,
    ),
    "fix: one line": Walk(
        fixed(lambda n: tool("[" + "{'value': x, 'unit': 'kwh'}, " * n + "]"), "--fix"), 250
    ),
    "fix: blank lines": Walk(fixed(lambda n: tool("{'value': x, 'unit': 'kwh'}") + "\n" * n, "--fix"), 4000),
    "fix: --diff of blank lines": Walk(
        fixed(lambda n: tool("{'value': x, 'unit': 'kwh'}") + "\n" * n, "--diff"), 4000
    ),
    "fix all: blank lines": Walk(fix_all(lambda n: tool("{'value': x, 'unit': 'kwh'}") + "\n" * n), 4000),
    "fix all: equal lines": Walk(
        fix_all(lambda n: tool("{'value': x, 'unit': 'kwh'}") + "x = 1\ny = 2\n" * n), 2000
    ),
    "fix all: many": Walk(
        fix_all(lambda n: tools("{'value': x, 'unit': 'kwh'}", n)),
        500,
    ),
    "fix all: one line": Walk(fix_all(lambda n: tool("[" + "{'value': x, 'unit': 'kwh'}, " * n + "]")), 250),
    "unused suppressions": Walk(fixed(_noqas, "--fix"), 1000),
    "add-noqa": Walk(fixed(lambda n: tools("5", n), "--add-noqa"), 250),
    "keystrokes": Walk(keystrokes(lambda n: tool("5") + "x = 1\n" * n), 2500),
    "keystrokes, too many bytes": Walk(
        keystrokes(lambda n: tool("5") + "# " + "a" * 99 * 41 + "\n" * 1 + ("#" + "a" * 98 + "\n") * n),
        42_000,
    ),
    "keystrokes, too many lines": Walk(keystrokes(lambda n: tool("5") + "#\n" * n), 201_000),
    "suppressions": Walk(command(_noqas), 2500),
    "suppressions in one comment": Walk(command(lambda n: "x = 1  " + "# noqa: GL101 " * n + "\n"), 2000),
    "own suppressions in one comment": Walk(
        command(lambda n: "x = 1  " + "# gllint: ignore[GL101] " * n + "\n"), 2000
    ),
    "broken suppressions in one comment": Walk(
        command(lambda n: "x = 1  " + "# gllint: ignore[GL101 " * n + "\n"), 2000
    ),
    "codes in one suppression": Walk(command(lambda n: "x = 1  # noqa: " + "GL101," * n + "GL102\n"), 2000),
    "own codes in one suppression": Walk(
        command(lambda n: "x = 1  # gllint: ignore[" + "GL101," * n + "GL102]\n"), 2000
    ),
    "unknown codes in one suppression": Walk(
        command(lambda n: "x = 1  # gllint: ignore[" + ",".join(f"what{i}" for i in range(n)) + "]\n"), 500
    ),
    "signs behind a suppression": Walk(
        command(lambda n: "import agents\nx = 1  # noqa: GL101 " + "(" * n + "\n"), 50_000
    ),
    "disables": Walk(
        command(lambda n: "# gllint: disable[GL101]\nx = 1\n# gllint: enable[GL101]\n" * n), 1000
    ),
    "disables within": Walk(command(lambda n: "# gllint: disable[GL101]\nx = 1\n" * n), 1000),
    "statements on one line": Walk(
        command(lambda n: "import agents\n" + "x = 1; " * n + " # noqa: GL101\n"), 2500
    ),
    "suppressions in brackets": Walk(
        command(lambda n: "import agents\nx = [\n" + "    [1, 2],  # noqa: GL101\n" * n + "]\n"), 1000
    ),
    "suppressions in nested brackets": Walk(
        command(lambda n: "import agents\nx = " + "[  # noqa: GL101\n" * n + "]" * n + "\n"), 40
    ),
    "line of 1 MB with a suppression": Walk(
        command(lambda n: "import agents\nx = '" + "a" * n + "'  # noqa: GL101\n"), 250_000
    ),
    "blanks before a suppression": Walk(
        command(lambda n: "import agents\nx = 1" + " " * n + "# noqa: GL101\n"), 250_000
    ),
    "hashes": Walk(command(lambda n: "import agents\nx = 1 " + "#" * n + " noqa: GL101\n"), 100_000),
    "hash and blanks": Walk(command(lambda n: "import agents\nx = 1 #" + " " * n + "noqa: GL101\n"), 100_000),
    "hashes and blanks": Walk(command(lambda n: "import agents\nx = 1 " + "# " * n + "gllint:\n"), 50_000),
    "write-baseline of a long line": Walk(
        command(lambda n: tool("[" + "5, " * n + "]"), "--write-baseline", "b.json"), 1000
    ),
    "write-baseline of long lines": Walk(
        command(lambda n: tool("[" + ("'" + "a" * 1000 + "', 5,\n") * n + "]"), "--write-baseline", "b.json"),
        250,
    ),
    "baseline": Walk(with_baseline(), 5000),
    "prune-baseline": Walk(with_baseline("--prune-baseline"), 5000),
    "notebook: many cells": Walk(notebook_of(lambda n: ["x = 1\n"] * n + [tool("5")]), 1000),
    "notebook: many broken cells": Walk(notebook_of(lambda n: ["%time x\n"] * n + [tool("5")]), 1000),
    "notebook: one cell": Walk(notebook_of(lambda n: ["x = 1\n" * n + tool("5")]), 5000),
    "notebook: magics in one cell": Walk(notebook_of(lambda n: ["!ls\n" * n + tool("5")]), 2500),
    "notebook: quotes": Walk(notebook_of(lambda n: ["!ls\nx = '" + "\\" * n + "\n" + tool("5")]), 2500),
    "notebook: bare magics": Walk(notebook_of(lambda n: ["ls a\n" * n + tool("5")]), 2500),
    "message: numbers": Walk(message(lambda n: "5 " * n), 25_000),
    "message: half macros": Walk(message(lambda n: "{{claim:" * n), 10_000),
    "message: half macros, closed": Walk(message(lambda n: "{{claim: " * n + "}}"), 10_000),
    "message: macros": Walk(message(lambda n: "{{claim:0}} " * n), 5_000),
    "message: macros beside": Walk(message(lambda n: "{{claim:0}}" * n), 5_000),
    "message: digits": Walk(message(lambda n: "5" * n), 50_000),
    "message: digit groups": Walk(message(lambda n: "5,5." * n), 25_000),
    "message: markup": Walk(message(lambda n: "<b>&#53;</b>" * n + "{{claim:0}}"), 5_000),
    "message: open tags": Walk(message(lambda n: "<a " * n + "{{claim:0}}"), 10_000),
    "message: comments": Walk(message(lambda n: "<!--" * n + "{{claim:0}}"), 10_000),
    "message: backticks": Walk(
        message(lambda n: "".join("`" * (i % 50) + " " for i in range(n)) + "{{claim:0}}"), 5_000
    ),
    "message: stars": Walk(message(lambda n: "*_" * n + "{{claim:0}}"), 20_000),
    "message: brackets": Walk(message(lambda n: "[(" * n + "{{claim:0}}"), 20_000),
    "message: links": Walk(message(lambda n: "[a](b) " * n + "{{claim:0}}"), 5_000),
    "message: open links": Walk(message(lambda n: "[a](" * n + "{{claim:0}}"), 10_000),
    "message: dollars": Walk(message(lambda n: "$x" * n + "{{claim:0}}"), 10_000),
    "message: TeX": Walk(message(lambda n: "\\frac{" * n + "{{claim:0}}"), 10_000),
    "message: entities": Walk(message(lambda n: "&amp;" * n + "&#x35;{{claim:0}}"), 10_000),
    "message: underscores": Walk(message(lambda n: "_" * n + "5{{claim:0}}"), 50_000),
    "message: blanks": Walk(message(lambda n: "{{claim:0}}" + " " * n + "{{claim:0}}"), 100_000),
    "message: combining": Walk(message(lambda n: "5\u0301\u20dd" * n + "{{claim:0}}"), 10_000),
    "message: isolates": Walk(message(lambda n: "\u2066" * n), 50_000),
    "message: emphasis lines": Walk(message(lambda n: "***\n" * n + "5"), 10_000),
    "message: number words": Walk(message(lambda n: "one hundred and " * n, number_words=True), 10_000),
    "message: number words, hyphens": Walk(message(lambda n: "two-" * n, number_words=True), 10_000),
    "message: own patterns": Walk(
        message(lambda n: "REF-5 " * n, whitelist=[r"REF-\d+", r"\w+ \d*\w+"]), 10_000
    ),
    "output: wide": Walk(output(lambda n: {f"a{i}": {"value": i, "unit": "kWh"} for i in range(n)}), 10_000),
    "output: deep": Walk(output(nested), 20),
    "output: long text": Walk(output(lambda n: {"a": "5 kWh " * n}), 100_000),
    "output: wide schema": Walk(output(lambda n: {"a": {"value": 1, "unit": "kWh"}}, _schema("wide")), 500),
    "output: schema of a chain": Walk(output(lambda n: {"a": 1}, _schema("chain")), 250),
    "output: schema of a fan": Walk(output(lambda n: {"a": 1}, _schema("fan")), 10),
    "output: schema of a circle": Walk(output(lambda n: {"a": 1}, _schema("circle")), 100),
    "output: schema of all": Walk(output(lambda n: {"a": 1}, _schema("all")), 10),
    "stored session": Walk(
        stored(
            lambda n: (
                lambda gate: [
                    gate.record("t", {"x": i}, {"a": {"value": i, "unit": "kWh"}}) for i in range(n)
                ]
            )
        ),
        500,
    ),
    "stored session: user": Walk(
        stored(lambda n: lambda gate: [gate.user(f"{i} kWh and {i}") for i in range(n)]), 2500
    ),
    "units": Walk(
        plainly(
            lambda n: [
                "kWh" + "*m" * n,
                "/".join(["kWh"] * n),
                "kWh" * n,
                "k" * n,
                "m^" + "1" * n,
                "(" * n + "m" + ")" * n,
            ],
            lambda texts: [UnitRegistry().is_allowed(text) for text in texts],
        ),
        2500,
    ),
    "key names": Walk(
        plainly(
            lambda n: ["a_" * n, "Ab" * n, "kWh" * n, "_" * n, "a" * n, "per_" * n, "energy_kwh_per_m2_" * n],
            lambda names: [(read_name(name), is_plain(name, (), ("count",))) for name in names],
        ),
        2500,
    ),
    "since": Walk(
        plainly(
            lambda n: b"+++ b/a.py\n" + b"".join(b"@@ -%d +%d @@\n-a\n+b\n" % (i, i) for i in range(n)),
            lambda diff: len(_changed_lines(diff)),
        ),
        25_000,
    ),
    "MCP: wide": Walk(server_tool(_schema("wide")), 1000),
    "MCP: deep": Walk(server_tool(_schema("deep")), 100),
    "MCP: chain": Walk(server_tool(_schema("chain")), 500),
    "MCP: fan": Walk(server_tool(_schema("fan")), 20),
    "MCP: circle": Walk(server_tool(_schema("circle")), 500),
    "MCP: all": Walk(server_tool(_schema("all")), 20),
    "cache file": Walk(
        plainly(
            lambda n: encode({f"a{i}": Result() for i in range(n)}),
            lambda data: len(decode_entry(data, dict[str, Result])),
        ),
        5000,
    ),
    "cache file: nested": Walk(
        plainly(lambda n: b"[" * n + b"]" * n, lambda data: decode_entry(data, Any)), 200
    ),
    "units of a stranger": Walk(
        source(lambda n: tools("{'value': x, 'unit': 'u%d'}", n)),
        60,
    ),
    "one name for others from many places": Walk(
        source(
            lambda n: "".join(
                f"from a{i} import function_tool as g\n@g\ndef f{i}(x):\n    return {{'a': 5}}\n"
                for i in range(n)
            )
        ),
        40,
    ),
    "one name from many places": Walk(
        source(
            lambda n: "".join(
                f"from a{i} import function_tool\n@function_tool\ndef f{i}(x):\n    return {{'a': 5}}\n"
                for i in range(n)
            )
        ),
        60,
    ),
    "names of tools that nobody knows": Walk(
        source(
            lambda n: (
                tools("x", n, "tool_number_")
                + "from runtime import ToolAction\n\n\ndef plan():\n    return [\n"
                + "".join(f"        ToolAction(name='tol_number_{i}', args={{'x': 1}}),\n" for i in range(n))
                + "    ]\n"
            )
        ),
        30,
    ),
    "final-message-names": Walk(
        configured(
            lambda n: (
                f"final-message-names = {json.dumps(['*a' * n + 'b', *(f'*a*{i}' for i in range(n))])}\n"
            )
        ),
        250,
    ),
    "claim paths": Walk(
        plainly(
            lambda n: ["$" + ".a" * n, "$.a" + "[0]" * n, "$." + "a" * n, "$" + "[" * n],
            lambda paths: [outcome(parse_claim_path, path) for path in paths],
        ),
        2_000,
    ),
    "MCP: many tools": Walk(
        plainly(
            lambda n: [
                {"name": f"t{i}", "inputSchema": {"type": "object"}, "outputSchema": _schema("wide")(3)}
                for i in range(n)
            ],
            lambda tools: [*judged([offered_tool(entry, i) for i, entry in enumerate(tools)], Policy())],
        ),
        250,
    ),
    "traced arguments": Walk(
        plainly(
            lambda n: [*range(n), *(f"{i} kWh" for i in range(n))],
            lambda values: _traced(values),
        ),
        1_000,
    ),
    "traced arguments of calls that were told much": Walk(
        plainly(lambda n: "5 kWh and 6 m. " * n, _echoed), 1_000
    ),
    "traced totals": Walk(
        plainly(
            lambda n: [
                {"id": f"row-{i % 7}", "a": i, "inner": {"b": i / 4, "c": i + 1}, "x": f"k-{i}"}
                for i in range(n)
            ],
            lambda rows: _totalled(rows),
        ),
        1_000,
    ),
}
