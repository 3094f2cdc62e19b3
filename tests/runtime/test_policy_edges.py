"""The tables of units, the patterns and the scanner at their edges: what is just within a bound and just beyond it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

from gllint_runtime import Quantity, scan_naked_numbers
from gllint_runtime.policy.annotations import Unit
from gllint_runtime.policy.data import DataProblem, Survey
from gllint_runtime.policy.number_words import spelled_places
from gllint_runtime.policy.quantity_shapes import shaped_unit
from gllint_runtime.policy.regular_files import read_bytes
from gllint_runtime.policy.schema_numbers import declared_unit
from gllint_runtime.policy.schemas import QUANTITY_INLINED, inlined_quantity
from gllint_runtime.policy.toml_lines import line_of
from gllint_runtime.policy.unit_codes import unit_of_code
from gllint_runtime.policy.unit_expressions import factors_of
from gllint_runtime.policy.unit_sizes import (
    converted,
    factors_of_unit,
    is_logarithm,
    is_named,
    is_of_any_currency,
    name_of,
    quotient,
    ratio,
    relation,
    text_of,
)
from gllint_runtime.policy.wording import literal, nearest, shortened, visible


@pytest.mark.parametrize(
    ("unit", "factor", "expected"),
    [
        ("Wh", 0.001, "kWh"),
        ("Wh", 1, "Wh"),
        ("Wh", 0.5, None),
        ("Wh", 2, None),
        ("widget", 1, "widget"),
        ("Wh", 0, None),
        ("Wh", -0.001, None),
        ("km/h", 1 / 3.6, "m/s"),
        ("kW*h", 3.6, "MJ"),
        ("m^3", 10**6, "cm^3"),
        ("m^4", 10**8, None),
        # Of a price what it is for changes, or it is one in hundredths; in thousandths nobody counts unasked.
        ("USD/kWh", 1000, "USD/MWh"),
        ("USD/kWh", 100, "USD_cent/kWh"),
        ("USD", 100, "USD_cent"),
        ("USD", 1000, None),
        ("USD", 1_000_000, None),
        ("USD_cent", 0.01, "USD"),
        ("USD_milli", 0.001, "USD"),
        ("USD_cent", 10, None),
        ("USD/widget", 1000, None),
        ("USD/widget", 100, "USD_cent/widget"),
    ],
)
def test_a_number_times_a_factor_is_in_a_unit_that_people_write(
    unit: str, factor: float, expected: str | None
) -> None:
    result = converted(factors_of_unit(unit), factor)
    assert (None if result is None else text_of(result)) == expected


@pytest.mark.parametrize(
    ("unit", "is_whole"),
    [
        ("kWh/m2", False),
        (" kWh/m2", True),
        ("kWh/m2 ", True),
        ("kWh/\tm2", True),
        ("kWh/\u00a0m2", True),
        ("m*" * 99 + "kg", False),
        ("m*" * 99 + "kWh", True),
    ],
)
def test_what_is_no_expression_of_a_unit_stands_as_it_is(unit: str, is_whole: bool) -> None:
    assert (factors_of(unit) == ((unit, 1),)) is is_whole


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("1", "1"),
        ("{call}", "1"),
        ("kW.h", "kWh"),
        ("kW.h/{call}", "kWh"),
        ("1/s", "1/s"),
        ("/s", "1/s"),
        ("W/1", "W"),
        ("10*3", "10^3"),
        ("kg.m-2", "kg/m2"),
        ("kg/m-2", "kg*m2"),
        ("kJ/(kg.K)", "kJ/kg/K"),
        ("m.m" + ".m" * 10, "m" + "*m" * 11),
        ("m.m" + ".m" * 11, None),
        (f"m{{{'x' * 97}}}", "m"),
        (f"m{{{'x' * 98}}}", None),
        ("h", "h"),
        ("year", None),
    ],
)
def test_a_one_in_a_code_is_no_factor(code: str, expected: str | None) -> None:
    assert unit_of_code(code, "ucum") == expected


def test_words_that_say_one_number_are_one_place() -> None:
    def spelled(text: str) -> list[str]:
        return [text[start:end] for start, end in spelled_places(text)]

    assert spelled("quarante deux") == ["quarante deux"]
    assert spelled("quarante-\u00a0deux fois") == ["quarante-\u00a0deux"]
    assert spelled("quarante, deux fois") == ["quarante", "deux"]
    assert spelled("soit quarante, deux fois") == ["quarante", "deux"] and spelled("rien") == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("heat é", "heat é"),
        ("a\x1bb\u200b\n", r"a\x1bb\u200b\n"),
        # What a runner would take for a command.
        (" ::error", r" \x3a:error"),
        ("a ::error", "a ::error"),
        (":x::", ":x::"),
        ("a ##[error] ##vso[b]", r"a ##\x5berror] ##vso\x5bb]"),
    ],
)
def test_words_of_others_are_harmless_on_one_line(text: str, shown: str) -> None:
    assert visible(text) == shortened(text) == shown


def test_long_words_are_cut() -> None:
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 61) == "a" * 57 + "…"
    assert shortened("a" * 9, most=8) == "aaaaa…"
    assert literal(["é", 1, None, {2}]) == '["é", 1, null, "{2}"]'


@pytest.mark.parametrize(
    ("word", "candidates", "hint"),
    [
        ("GL10X", ["GL106", "GL101"], "GL106"),
        ("GL1O6", ["GL101", "GL160", "GL106"], "GL106"),
        ("Plain_Key", ["plain-keys", "select"], "plain-keys"),
        ("old-name", {"old_names": "new-name"}, "new-name"),
        ("x", ["plain-keys"], None),
        ("x", [], None),
    ],
)
def test_the_nearest_word(word: str, candidates: Any, hint: str | None) -> None:
    assert nearest(word, candidates, "; none") == ("; none" if hint is None else f"; did you mean '{hint}'?")


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("a",), 1),
        (("b", "c"), 3),
        (("b", "c", "1", "x"), 5),
        (("b", "c", "2"), 3),
        (("b",), 3),
        (("d",), None),
    ],
)
def test_the_line_of_a_key_or_of_what_it_is_part_of(key: tuple[str, ...], line: int | None) -> None:
    assert line_of("a = 1 # 2\n# b\nb.c = [ # one\n  -1,\n  [2, 3],\n]", key) == line


def test_a_file_is_read_to_its_bound(tmp_path: Path) -> None:
    def problem(path: Path | str, limit: int = 5) -> tuple[object, str]:
        with pytest.raises(OSError) as caught:
            read_bytes(str(path), limit)
        return caught.value.errno, str(caught.value.strerror)

    file, none = tmp_path / "a", tmp_path / "b"
    file.write_bytes(b"12345")
    none.write_bytes(b"")
    assert (read_bytes(str(file)), read_bytes(str(file), 5), read_bytes(str(none))) == (
        b"12345",
        b"12345",
        b"",
    )
    assert problem(file, 4) == (0, "too large to be read: 5 bytes")
    size, why = problem("a\0b")
    assert size == 0 and "embedded null" in why  # in other words in each Python
    assert problem(tmp_path / "c")[0] == errno.ENOENT
    if os.name == "posix":
        assert problem(tmp_path) == (0, "not a regular file")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="a file whose size is told nowhere")
def test_a_file_whose_size_is_told_nowhere_is_read() -> None:
    assert b"Name:" in read_bytes("/proc/self/status") and read_bytes("/proc/self/status", 4) == b"Name"


@pytest.mark.parametrize(
    ("unit", "value", "number"),
    [
        ("MWh", Quantity(1, "kWh"), 0.001),
        ("MWh", {"value": 1, "unit": "kWh"}, 0.001),
        ("MWh", {"value": 5, "unit": "kilowatt hours"}, 0.005),
        ("kilowatt hours", {"value": 5, "unit": "MWh"}, 5000),
        ("furlong", {"value": 5, "unit": "furlong"}, 5),
        ("MWh", 5, 5),
        ("MWh", "5 kWh", "5 kWh"),
    ],
)
def test_the_number_of_a_quantity_in_the_unit_of_its_parameter(unit: str, value: Any, number: Any) -> None:
    assert Unit(unit).number(value) == number


@pytest.mark.parametrize(
    "value",
    [
        {"value": True, "unit": "kWh"},
        {"value": "5", "unit": "kWh"},
        {"value": 5, "unit": None},
        {"value": 5},
        {"value": 5, "unit": "kWh", "note": ""},
    ],
)
def test_what_is_no_quantity_is_left_to_who_validates_it(value: Any) -> None:
    assert Unit("kWh").number(value) is value


def test_a_unit_declares_itself() -> None:
    assert Unit("kWh").keywords() == {"x-unit": "kWh"}
    assert Unit("kgCO2e", "GWP100").keywords() == {"x-unit": "kgCO2e", "x-basis": "GWP100"}
    with pytest.raises(TypeError, match="Unit: symbol must be a str, got 5"):
        Unit(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Unit: basis must be a str or None, got 7"):
        Unit("kWh", 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'m2' does not convert to 'kWh'"):
        Unit("kWh").number(Quantity(1, "m2"))
    assert TypeAdapter(Annotated[float, Unit("kWh")]).validate_python(Quantity(1, "MWh")) == 1000
    quantity = TypeAdapter(Annotated[Quantity, Unit("kWh")]).validate_python(Quantity(1, "MWh"))
    assert quantity == Quantity(1, "MWh")


def test_an_integer_has_fewer_bits_than_may_be_beyond_all_floats() -> None:
    assert Survey([2**1023 - 1]).raw_numbers
    for value in (2**1023, -(2**1023), 2**1024):
        with pytest.raises(DataProblem, match="an integer is beyond the range of numbers"):
            Survey([value])


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "number", "x-unit": "kW.h", "x-unit-system": "ucum"}, "kWh"),
        ({"type": "number", "x-unit": "kW.h", "x-unit-system": "mine"}, "kW.h"),
        ({"type": "number", "x-unit": "kW.h"}, "kW.h"),
        ({"type": "number", "x-unit": "kW.h", "x-unit-system": 5}, "kW.h"),
        ({"type": "number", "x-unit": "kW.h", "x-unit-system": ["ucum"]}, "kW.h"),
        ({"type": "number", "x-unit": "no such", "x-unit-system": "ucum"}, "ucum:no such"),
        ({"type": "number", "unit": "kW.h", "x-unit-system": "ucum"}, "kW.h"),
        ({"type": "number", "ucumUnit": "kW.h", "x-unit-system": "mine"}, "kWh"),
    ],
)
def test_the_unit_that_a_schema_declares(node: Any, expected: str) -> None:
    unit = declared_unit(node)
    assert unit is not None and unit.unit == expected


def test_a_quantity_is_written_out_with_its_unit_where_that_is_known() -> None:
    assert inlined_quantity(None) == QUANTITY_INLINED
    assert inlined_quantity("kWh")["properties"]["unit"] == {"const": "kWh"}
    assert inlined_quantity("kWh")["properties"].keys() == QUANTITY_INLINED["properties"].keys()


@pytest.mark.parametrize(
    ("data", "shapes", "expected"),
    [
        ({"value": 5, "unit": "kWh"}, ("open-mhealth",), "kWh"),
        ({"amount": 5, "currency": "USD"}, ("open-mhealth", "money"), "USD"),
        ({"amount": 5, "currency": "USD"}, ("money", "open-mhealth"), "USD"),
        ({"amount": 5, "currency": "USD"}, ("open-mhealth",), None),
        ({"amount": 5, "currency": "USD", "unit": "kWh"}, ("open-mhealth",), None),
    ],
)
def test_the_unit_of_a_quantity_in_a_shape_that_is_listed(
    data: dict[str, Any], shapes: tuple[str, ...], expected: str | None
) -> None:
    assert shaped_unit(data, shapes) == expected


def scanned(message: str, unit: str) -> list[str]:
    return [number.text for number in scan_naked_numbers(message.replace("@", "{{claim:0}}"), claimed=[unit])]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        # A unit stands in the clause of a bare number, or in the heading over it, within 200 characters.
        (f"kWh{' la' * 65} @", ["kWh"]),
        (f"kWh{' la' * 66} @", []),
        (f"@{' la' * 65} kWh", ["kWh"]),
        (f"@{' la' * 66} kWh", []),
        (f"# kWh {'la ' * 64}\n@", ["kWh"]),
        (f"# kWh {'la ' * 66}\n@", []),
        (f"# MJ{' la' * 66}\n@", ["MJ"]),
        (f"# MJ{' la' * 66}a\n@", []),
        # In brackets a letter is a unit, where a heading or a label says it.
        ("# Current (A)\n@", ["A"]),
        ("Current (A) was @", []),
        # A heading is that of all lines under it, a label that of its list.
        ("# kWh\n" + "- so\n" * 60 + "- @", ["kWh"]),
        ("# kWh\nso\n- @", ["kWh"]),
        ("Heat in kWh:\n\n- @", ["kWh"]),
        ("Heat in kWh\n\n- @", ["kWh"]),
        ("Heat in kWh:\nso\n- @", []),
        # Two letters are a unit where no word is so short: those of energy, of data, with a small first one.
        ("@ of kW", ["kW"]),
        ("@ of MW", ["MW"]),
        ("@ of GB", ["GB"]),
        ("@ of mA", ["mA"]),
        ("@ of Pa", []),
        ("@ of Gy", []),
        ("@ of A", []),
    ],
)
def test_a_unit_at_the_edge_of_what_speaks_of_a_bare_number(message: str, expected: list[str]) -> None:
    numbers = scan_naked_numbers(message.replace("@", "{{claim:0}}"), claimed=["count"])
    assert len(numbers) == len(expected)
    assert all(
        f"Remove {unit!r}" in (number.hint or "") for number, unit in zip(numbers, expected, strict=True)
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        # A sign before words that hide none, not inside a word, nor as the mark of an item.
        ("It is -about @", ["-"]),
        ("It is –about @", ["–"]),
        ("(-about @", ["-"]),
        (":-about @", ["-"]),
        ("x-about @", []),
        ("It is -etwa @", ["-"]),
        ("It is -the @", []),
        ("- about @", []),
        ("It is + about @", ["+"]),
        ("+ about @", []),
        # A point behind an abbreviation ends no sentence.
        ("minus ca. @", ["minus"]),
        ("It fell minus approx. @", ["minus"]),
        ("minus ca. about @", ["minus"]),
        ("so minus. about @", []),
        ("ca. minus. about @", []),
        ("minus Mio.: @", ["Mio"]),
        ("minus Mio., @", ["Mio"]),
        ("minus x.) @", []),
        ("minus x. @", []),
        # What is glued to a number behind it, and what another dash goes on with.
        ("@-million", ["-"]),
        ("@ - million", ["- million"]),
        ("@ —million", ["—million"]),
        ("@ -million of them", ["-million"]),
        ("@ - million of them", []),
        ("@ —million of them", []),
        ("@万", ["万"]),
        ("@の半分", ["の半分"]),
        ("@人", []),
    ],
)
def test_what_changes_a_number_at_its_edges(message: str, expected: list[str]) -> None:
    assert scanned(message, "kWh") == expected


def test_a_code_is_read_in_its_own_system_alone() -> None:
    assert unit_of_code("KWH", "uncefact") == "kWh" and unit_of_code("kW.h", "ucum") == "kWh"
    assert unit_of_code("kW.h", "uncefact") is None and unit_of_code("kW.h", "mine") is None


@pytest.mark.parametrize(
    ("above", "below", "unit"),
    [
        ("kWh", "m2", "kWh/m2"),
        ("kWh", "kWh", "1"),
        ("kWh/m2", "kWh", "1/m2"),
        ("kWh*m2", "m2", "kWh"),
        ("USD", "kWh/m2", "USD/(kWh/m2)"),
        ("kWh", "h*m2", "kWh/(h*m2)"),
        ("m2", "m", "m2/m"),
        ("kWh/year", "year", "kWh/year/year"),
    ],
)
def test_the_unit_of_a_quotient(above: str, below: str, unit: str) -> None:
    assert quotient(above, below) == unit


@pytest.mark.parametrize(
    ("unit", "written", "is_one"),
    [
        ("1", "1", True),
        ("kW*h", "kWh", True),
        ("kW*h/m2", "kWh/m2", True),
        ("N*m", "N*m", True),
        ("year*kWh", "kWh*year", False),
        ("USD/kWh", "USD/kWh", False),
        ("wibble/m2", "wibble/m2", True),
    ],
)
def test_how_people_write_a_unit(unit: str, written: str, is_one: bool) -> None:
    assert (name_of(factors_of_unit(unit)), is_named(factors_of_unit(unit))) == (written, is_one)


def test_a_unit_with_its_powers() -> None:
    assert text_of((("m", -2), ("m2", 3), ("h", -1))) == "(m2)^3/m^2/h"
    assert text_of((("s", -1),)) == "1/s" and text_of((("m", 1), ("kWh", 1))) == "m*kWh"


@pytest.mark.parametrize(
    ("unit", "other", "answer", "times"),
    [
        ("cent", "USD", "size", 0.01),
        ("cent", "USD_cent", "same", 1),
        ("cent", "milliunit", "size", 10),
        ("cent/kWh", "USD/kWh", "size", 0.01),
        ("cent", "kWh", "dimension", None),
        ("cent/USD", "1", "dimension", None),
        ("USD", "EUR", "dimension", None),
        ("kg", "kgCO2e", "dimension", None),
        ("N*m", "J", "same", 1),
        ("year", "s", "dimension", None),
        ("dB", "dB", "same", None),
        ("dB", "%", None, None),
        ("kWh", "wibble", None, None),
        ("wibble", "kWh", None, None),
        ("m" + "*m" * 11, "m", "dimension", None),
        ("m" + "*m" * 12, "m", None, None),
    ],
)
def test_how_two_units_stand_to_each_other(
    unit: str, other: str, answer: str | None, times: float | None
) -> None:
    first, second = factors_of_unit(unit), factors_of_unit(other)
    assert (relation(first, second), ratio(first, second)) == (answer, times)


def test_what_numbers_in_a_unit_are() -> None:
    assert [unit for unit in ("dB", "pH", "dBm", "px", "kWh") if is_logarithm(unit)] == ["dB", "pH", "dBm"]
    assert [
        unit for unit in ("cent", "USD", "cent/kWh", "USD_cent") if is_of_any_currency(factors_of_unit(unit))
    ] == ["cent", "cent/kWh"]
