"""A file of twice the size takes twice the calls, in whatever room they are: the steps of the inference are a part of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from counting import growth
from gllint_rules.catalogue import gl104_number_in_result_text as rule
from gllint_rules.project.text_numbers import holes_of_names
from gllint_rules.reading.stack import on_large_stack
from test_budgets import checked

# The latter where each line makes something of all that came before: a dict, or a text that has as many alternatives.
LINEAR, COPIED = 2.4, 2.9

SCHEMA = "from gllint_runtime import Tool\nSCHEMA = {{'type': 'object', 'properties': {{{properties}}}}}\n{function}"
TOOL = "from agents import function_tool\n@function_tool\ndef f(x: float) -> dict:\n    out = {}\n"


def keys_of_a_schema(n: int) -> str:
    stores = "".join(f"    out['k{i}'] = float(x)\n" for i in range(n))
    function = f"def f(x):\n    out = {{}}\n{stores}    return out\nt = Tool(name='t', args_schema={{}}, result_schema=SCHEMA, fn=f)\n"
    return SCHEMA.format(
        properties=", ".join(f"'k{i}': {{'type': 'number'}}" for i in range(n)), function=function
    )


def keys_of_a_schema_in_a_lambda(n: int) -> str:
    values = ", ".join(f"'k{i}': float(x)" for i in range(n))
    function = f"t = Tool(name='t', args_schema={{}}, result_schema=SCHEMA, fn=lambda x: {{{values}}})\n"
    return SCHEMA.format(
        properties=", ".join(f"'k{i}': {{'type': 'number'}}" for i in range(n)), function=function
    )


def a_message_in_pieces(n: int) -> str:
    return 'FINAL_MESSAGE = ""\n' + "".join(f'FINAL_MESSAGE += "It uses {i} kWh. "\n' for i in range(n))


def a_message_in_pieces_of_a_function(n: int) -> str:
    lines = "".join(f'    final_message += f"It uses {{x}} kWh in {i} rooms. "\n' for i in range(n))
    return f'def g(x: float):\n    final_message = ""\n{lines}    return final_message\n'


def fields_of_a_model(n: int) -> str:
    fields, values = "".join(f"    k{i}: float\n" for i in range(n)), ", ".join(f"k{i}=x" for i in range(n))
    head = "from pydantic import BaseModel\nfrom agents import function_tool\n"
    return f"{head}class M(BaseModel):\n{fields}\n@function_tool\ndef f(x: float) -> M:\n    return M({values})\n"


def suppressions(n: int) -> str:
    return (
        TOOL + "".join(f'    out["k{i}"] = x * {i}.5  # noqa: GL101\n' for i in range(n)) + "    return out\n"
    )


def names_with_units(n: int) -> str:
    lines = (f'    heat_{i}_kwh = x * 2.0\n    out["k{i}"] = heat_{i}_kwh + x\n' for i in range(n))
    return TOOL + "".join(lines) + "    return out\n"


def stores_under_a_condition(n: int) -> str:
    lines = (f'    if x > {i}:\n        out["k{i}"] = x * {i}.5\n' for i in range(n))
    return TOOL + "".join(lines) + "    return out\n"


def dicts_of_dicts(n: int) -> str:
    return TOOL + "".join(f'    out = {{**out, "k{i}": x * {i}.5}}\n' for i in range(n)) + "    return out\n"


@pytest.mark.parametrize(
    ("most", "source"),
    [
        *((LINEAR, source) for source in (
            keys_of_a_schema, keys_of_a_schema_in_a_lambda, fields_of_a_model, suppressions, names_with_units,
        )),
        *((COPIED, source) for source in (
            a_message_in_pieces, a_message_in_pieces_of_a_function, stores_under_a_condition, dicts_of_dicts,
        )),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_twice_the_file_takes_twice_the_calls(most: float, source: Callable[[int], str]) -> None:
    # Counted within the thread that has the large stack: a profile is that of one thread.
    found = on_large_stack(growth, lambda n: checked({"a.py": source(n)}), 20)
    assert max(found) < most, found


def test_a_text_in_many_others_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(
        rule,
        "holes_of_names",
        lambda template, policy: (seen.append(template.text), holes_of_names(template, policy))[1],
    )
    lines = "".join(f'    if x > {i}:\n        text += f"{{note}} in {i}. "\n' for i in range(6))
    note = 'note = f"{x * 2.5} kWh" if x > 3 else f"{x * 2.5} MWh"'
    head = TOOL.replace("-> dict", "-> str").replace("out = {}", f'{note}\n    text = ""')
    checked({"a.py": f"{head}{lines}    return text\n"})
    assert len(seen) > 20  # texts of which each ends otherwise
    assert sum(text.endswith(" kWh") for text in seen) == 1
