"""What the numbers of a text say: ``5 = 5±0.5 kWh`` is a number, the values that it stands for, and its unit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from gllint_runtime.policy.figures import Reading, figures


def told(text: str, **options: Any) -> list[str]:
    """Each number; a sign that many currencies share has dots behind the first of them."""
    lines = []
    for figure in figures(text, **options):
        assert text[figure.start : figure.end] == figure.text
        values = " or ".join(f"{float(value):.12g}±{float(half):.12g}" for value, half in figure.readings)
        units = figure.units[0] + "…" * (len(figure.units) > 1) if figure.units else ""
        flags = ["excused"] * figure.is_excused + ["in words"] * figure.is_spelled
        word = [f"in {figure.word}" + " (a name)" * figure.is_name] if figure.word else []
        line = f"{figure.text} = {values} {units}" if values else figure.text
        lines.append(" ".join([line.strip(), *flags, *word]))
    return lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Whole numbers, decimals, groups; where separators can be read in two ways, the likelier first.
        ("It is 5.", "5 = 5±0.5"),
        ("It is 12.50.", "12.50 = 12.5±0.005"),
        ("It is 1,234.", "1,234 = 1234±0.5"),
        ("It is 1.234.", "1.234 = 1.234±0.0005 or 1234±0.5"),
        ("It is 0.234.", "0.234 = 0.234±0.0005"),
        ("It is 0,234.", "0,234 = 0.234±0.0005"),
        ("It is 1234.567.", "1234.567 = 1234.567±0.0005"),
        ("It is 1234,567.", "1234,567 = 1234.567±0.0005"),
        ("It is 1.234.567.", "1.234.567 = 1234567±0.5"),
        ("It is 1,234,567.", "1,234,567 = 1234567±0.5"),
        ("It is 1,23,456.", "1,23,456 = 123456±0.5"),
        ("It is 1,23.", "1,23 = 1.23±0.005"),
        ("It is 1,2345.", "1,2345 = 1.2345±5e-05"),
        ("It is 12.345,67.", "12.345,67 = 12345.67±0.005"),
        ("It is 12.345,678.", "12.345,678 = 12345.678±0.0005"),
        ("It is 12,345.67.", "12,345.67 = 12345.67±0.005"),
        ("It is 12'345.67.", "12'345.67 = 12345.67±0.005"),
        ("It is 1.2.3.", "1.2.3"),
        ("It is 12,34,5.", "12,34,5"),
        ("It is 1\u00a0234,5.", "1\u00a0234,5 = 1234.5±0.05"),
        ("It is 1\u202f234.", "1\u202f234 = 1234±0.5"),
        ("It is ١٢٣٫٤.", "١٢٣٫٤ = 123.4±0.05"),
        ("It is ٠,٢٣٤.", "٠,٢٣٤ = 0.234±0.0005"),
        # With exponents, as far as a float may go and a little further.
        ("It is 1e3 m.", "1e3 = 1000±500 m"),
        ("It is 1.5E-3 m.", "1.5E-3 = 0.0015±5e-05 m"),
        ("It is 1e300 m.", "1e300 = 1e+300±5e+299 m"),
        ("It is 1e401 m.", "1e401"),
        ("It is 1e-401 m.", "1e-401"),
        ("It is 1e-0400 m.", "1e-0400"),
        ("It is 1e12345 m.", "1e12345"),
        # In several parts.
        ("It is 1 234 kWh.", "1 234 = 1234±0.5 kWh"),
        ("It is 1 234 567,8 kWh.", "1 234 567,8 = 1234567.8±0.05 kWh"),
        ("It is 5 1 234 kWh.", "5 = 5±0.5; 1 = 1±0.5; 234 = 234±0.5 kWh"),
        ("Call +1 234 567 8900.", "1 = 1±0.5; 234 = 234±0.5; 567 = 567±0.5; 8900 = 8900±0.5"),
        ("+1 234 kWh", "1 = 1±0.5; 234 = 234±0.5 kWh"),
        ("It is #1 234 kWh.", "1 = 1±0.5; 234 = 234±0.5 kWh"),
        ("It is a/1 234 kWh.", "1 = 1±0.5; 234 = 234±0.5 kWh"),
        ("It is 1 234 5.", "1 = 1±0.5; 234 = 234±0.5; 5 = 5±0.5"),
        ("It is 1.2×10^6 kWh.", "1.2×10^6 = 1200000±50000 kWh"),
        ("It is 1.2 x 10⁶ kWh.", "1.2 x 10⁶ = 1200000±50000 kWh"),
        ("It is 3·10**-3 m.", "3·10**-3 = 0.003±0.0005 m"),
        ("It is 3*10^{-2} kg.", "3*10^{-2} = 0.03±0.005 kg"),
        ("It is 3×10⁻² kg.", "3×10⁻² = 0.03±0.005 kg"),
        ("It is 3 × 10^6.5 kg.", "3 = 3±0.5; 10 = 10±0.5; 6.5 = 6.5±0.05 kg"),
        ("It took 2 1/2 hours.", "2 1/2 = 2.5±0 h"),
        ("It took 2-1/2 hours.", "2-1/2 = 2.5±0 h"),
        ("It took 2 5/4 hours.", "2 = 2±0.5; 5 = 5±0.5; 4 = 4±0.5 h"),
        ("It took 2 4/4 hours.", "2 = 2±0.5; 4 = 4±0.5; 4 = 4±0.5 h"),
        ("It took 2½ hours.", "2½ = 2.5±0 h"),
        ("It took ½ hour.", "½ = 0.5±0 h"),
        ("It took ⅔ hour.", "⅔ = 0.666666666667±0 h"),
        # About what is shown: zeros at its end may be rounded, two digits stand.
        ("About 1,200 kWh.", "1,200 = 1200±50 kWh"),
        ("About the 1000 kWh.", "1000 = 1000±50 kWh"),
        ("It is roughly 50 kWh.", "50 = 50±0.5 kWh"),
        ("It is ~100 kWh.", "100 = 100±5 kWh"),
        ("It is about $4500.", "4500 = 4500±50 USD…"),
        ("It is about 4510 kWh.", "4510 = 4510±5 kWh"),
        ("It is about 1234 kWh.", "1234 = 1234±0.5 kWh"),
        ("It is about 12.5 kWh.", "12.5 = 12.5±0.05 kWh"),
        ("It is about 0 kWh.", "0 = 0±0.5 kWh"),
        # Above or below zero. A minus that stands apart takes away, or opens an item.
        ("It is -5 kWh.", "5 = -5±0.5 kWh"),
        ("It is −5 kWh.", "5 = -5±0.5 kWh"),
        ("It is - 5 kWh.", "5 = 5±0.5 or -5±0.5 kWh"),
        ("- 5 kWh", "5 = 5±0.5 kWh"),
        ("It is:\n  - 5 kWh", "5 = 5±0.5 kWh"),
        ("− 5 kWh", "5 = 5±0.5 or -5±0.5 kWh"),
        ("It is 3-5 kWh.", "3 = 3±0.5; 5 = 5±0.5 kWh"),
        ("It is a--19.", "19 = -19±0.5"),
        # With what multiplies it; a small m or b does so for money alone.
        ("It has 5k rows.", "5 = 5000±500"),
        ("It has 5M rows.", "5 = 5000000±500000"),
        ("It has 5 million rows.", "5 = 5000000±500000"),
        ("It has 5 millions of rows.", "5 = 5000000±500000"),
        ("It has 5-million rows.", "5 = 5000000±500000"),
        ("It has 5.5 lakh rows.", "5.5 = 550000±5000"),
        ("It has 5 mil rows.", "5 = 5000±500 or 5000000±500000"),
        ("It has 5 rows.", "5 = 5±0.5"),
        ("It is 5m.", "5 = 5±0.5 m"),
        ("It is $5m.", "5 = 5000000±500000 USD…"),
        ("It is $5 m.", "5 = 5±0.5 USD…"),
        ("It is $5b.", "5 = 5000000000±500000000 USD…"),
        ("It is 5b.", "5 = 5±0.5 in 5b"),
        ("It is 5bn USD.", "5 = 5000000000±500000000 USD"),
        ("It is $5mm.", "5 = 5000000±500000 USD…"),
        ("It is 5mm.", "5 = 5±0.5 mm"),
        # Currencies.
        ("It is $-5.", "5 = -5±0.5 USD…"),
        ("It is -$5.", "5 = -5±0.5 USD…"),
        ("It is US$5.", "5 = 5±0.5 USD"),
        ("It is $ 5.", "5 = 5±0.5 USD…"),
        ("It is USD 5.", "5 = 5±0.5 USD"),
        ("It is USD5.", "5 = 5±0.5 USD"),
        ("It is USD -5.", "5 = -5±0.5 USD"),
        ("It is XYZ 5.", "5 = 5±0.5"),
        ("It is aUSD 5.", "5 = 5±0.5"),
        ("It is $5 USD.", "5 = 5±0.5 USD"),
        ("It is $5 AUD.", "5 = 5±0.5 AUD"),
        ("It is $5 EUR.", "5 = 5±0.5 USD…"),
        ("It is $5 kWh.", "5 = 5±0.5 USD…"),
        ("It is $5 per kWh.", "5 = 5±0.5 USD/kWh…"),
        ("It is €5 per kWh per year.", "5 = 5±0.5 EUR/kWh/year"),
        ("It is €5 a day.", "5 = 5±0.5 EUR/day"),
        ("It is €5 a kWh.", "5 = 5±0.5 EUR"),
        ("It is €5 per m^2.", "5 = 5±0.5 EUR/m2"),
        ("It is 5€/kWh.", "5 = 5±0.5 EUR/kWh"),
        ("It is 5 €.", "5 = 5±0.5 EUR"),
        ("It is 5 $6.", "5 = 5±0.5; 6 = 6±0.5 USD…"),
        ("It is 5 euros per kWh.", "5 = 5±0.5 EUR/kWh"),
        ("It is 5 Pounds Sterling.", "5 = 5±0.5 GBP…"),
        ("It is 5 pounds sterling in all.", "5 = 5±0.5 GBP…"),
        ("It is 5 bucks a year.", "5 = 5±0.5 USD/year…"),
        ("It is 50 cents.", "50 = 0.5±0.005 USD…"),
        ("It is 50 Cents per kWh.", "50 = 0.5±0.005 USD/kWh…"),
        ("It is 20 pence.", "20 = 0.2±0.005 GBP…"),
        ("It is 20¢.", "20 = 0.2±0.005 USD…"),
        ("It is 20 centimes.", "20 = 20±0.5"),
        # The unit, with what it is divided by.
        ("It is 5% of it.", "5 = 5±0.5 %"),
        ("It is 5%p.a.", "5 = 5±0.5 %"),
        ("It is 5 percent of it.", "5 = 5±0.5 %"),
        ("It is 5 kilowatt hours of it.", "5 = 5±0.5 kWh"),
        ("It is 5 square metres.", "5 = 5±0.5 m2"),
        ("It is 5 kg CO2e per year.", "5 = 5±0.5 kgCO2e/year"),
        ("It is 5 kWh/m²/year.", "5 = 5±0.5 kWh/m2/year"),
        ("It is 5 kWh / m2 per year.", "5 = 5±0.5 kWh/m2/year"),
        ("It is 5 kWh per m2 per year per h per s.", "5 = 5±0.5 kWh/m2/year/h"),
        ("It is 5 kWh a year.", "5 = 5±0.5 kWh/year"),
        ("It is 5 kWh an hour.", "5 = 5±0.5 kWh/h"),
        ("It is 5 kWh per the year.", "5 = 5±0.5 kWh/year"),
        ("It is 5 kWh per the m2.", "5 = 5±0.5 kWh/m2"),
        ("It is 5 kWh a kg.", "5 = 5±0.5 kWh"),
        ("It is 5 kWh per item.", "5 = 5±0.5 kWh"),
        ("It is 5 kWh per house.", "5 = 5±0.5 kWh"),
        ("It is 5 mm/d.", "5 = 5±0.5 mm/day"),
        ("It is 5 mm/x.", "5 = 5±0.5 mm"),
        ("It is 5 l/s.", "5 = 5±0.5 L/s"),
        ("It is 5 1/min.", "5 = 5±0.5 1/min"),
        ("It is 5** kWh.", "5 = 5±0.5 kWh"),
        ("It is 5  kWh.", "5 = 5±0.5 kWh"),
        ("It is 5   kWh.", "5 = 5±0.5"),
        ("It is 5 (kWh).", "5 = 5±0.5"),
        ("It is 5 kWh...", "5 = 5±0.5 kWh"),
        ("It is 5 kWh/.", "5 = 5±0.5 kWh"),
        ("It is 5 °C.", "5 = 5±0.5 degC"),
        ("It is 5 a year.", "5 = 5±0.5"),
        ("It is 5 in all.", "5 = 5±0.5"),
        # A power belongs to the unit, and what stands behind it is the next number.
        ("It is 5 m^2.", "5 = 5±0.5 m2"),
        ("It is 5 kg/m^3 in 3 rooms.", "5 = 5±0.5 kg/m3; 3 = 3±0.5"),
        ("It is 5 million m^2.", "5 = 5000000±500000 m2"),
        ("It is five m^2.", "five = 5±0.5 m2 in words"),
        ("It had 14 1 bed flats.", "14 = 14±0.5; 1 = 1±0.5"),
        # Words of letters and digits; what is a name is no number.
        ("It is HAT136.", "136 = 136±0.5 in HAT136 (a name)"),
        ("A5kWh", "5 = 5±0.5 kWh in A5kWh (a name)"),
        ("It is 5kilometre3.", "5 = 5±0.5 km in 5kilometre3 (a name); 3 = 3±0.5 in 5kilometre3 (a name)"),
        ("It is WUNA2K.", "2 = 2±0.5 in WUNA2K (a name)"),
        ("It is A5kWh.", "5 = 5±0.5 kWh in A5kWh (a name)"),
        ("It is 4OG6.", "4 = 4±0.5 in 4OG6 (a name); 6 = 6±0.5 in 4OG6 (a name)"),
        ("It is 7ABCDE.", "7 = 7±0.5 in 7ABCDE (a name)"),
        ("It is 7ABCD.", "7 = 7±0.5 in 7ABCD"),
        ("It is 500kWh.", "500 = 500±0.5 kWh"),
        ("It is 500kWhx.", "500 = 500±0.5 in 500kWhx"),
        ("It is 12-month.", "12 = 12±0.5 month"),
        ("It is COVID-19.", "19 = 19±0.5 in COVID-19 (a name)"),
        ("It is x-y-19.", "19 = 19±0.5 in y-19 (a name)"),
        ("It is the 3rd.", "3 = 3±0.5"),
        ("It is 3x that.", "3 = 3±0.5"),
        ("It is A3rd.", "3 = 3±0.5 in A3rd (a name)"),
        # What the policy lets stand.
        ("On 2024-10-02 v1.2.3 ran at 10:30.", "2024-10-02 excused; v1.2.3 excused; 10:30 excused"),
        ("1. It is 5.", "1. excused; 5 = 5±0.5"),
        # In words: to the last one, to a thousand or a million where one is said.
        ("It is zero kWh.", "zero = 0±0.5 kWh in words"),
        ("It is fifty kWh.", "fifty = 50±0.5 kWh in words"),
        ("It is twenty-one kWh.", "twenty-one = 21±0.5 kWh in words"),
        ("It is five hundred kWh.", "five hundred = 500±0.5 kWh in words"),
        ("It is a hundred kWh.", "a hundred = 100±0.5 kWh in words"),
        ("It is three thousand kWh.", "three thousand = 3000±500 kWh in words"),
        ("It is a thousand kWh.", "a thousand = 1000±500 kWh in words"),
        ("It is zero point five kWh.", "zero point five = 0.5±0.05 kWh in words"),
        ("It is two million kWh.", "two million = 2000000±500000 kWh in words"),
        ("It is two point five kWh.", "two point five = 2.5±0.05 kWh in words"),
        ("It is two point five million kWh.", "two point five million = 2500000±50000 kWh in words"),
        ("It is two point five hundred.", "two point five hundred = 250±5 in words"),
        (
            "It is one hundred and twenty three.",
            "one hundred and twenty three = 123±0.5 in words",
        ),
        (
            "It is two million five hundred thousand.",
            "two million five hundred thousand = 2500000±500 in words",
        ),
        ("It is dozens of items.", "dozens = 12±0.5 in words"),
        ("It is quarante.", "quarante in words"),
    ],
)
def test_what_a_number_says(text: str, expected: str) -> None:
    assert "; ".join(told(text)) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("It is 1 234.", {"is_parted": False}, "1 = 1±0.5; 234 = 234±0.5"),
        ("It is fifty kWh.", {"words": False}, ""),
        ("Room 5 has 6.", {"whitelist": [r"Room \d+"]}, "Room 5 excused; 6 = 6±0.5"),
        ("It is 12 345.", {"whitelist": [r"\b12\b"]}, "12 345 = 12345±0.5"),
        ("It is 6 x3.", {"units": ["x3"]}, "6 = 6±0.5"),
        ("It is 6 x3.", {"glued": ["x3"]}, "6 = 6±0.5"),
        ("It is 6 x3.", {}, "6 = 6±0.5; 3 = 3±0.5 in x3 (a name)"),
    ],
)
def test_the_settings_are_those_of_the_scanner(text: str, options: dict[str, Any], expected: str) -> None:
    assert "; ".join(told(text, **options)) == expected


@pytest.mark.parametrize(
    ("text", "number", "units"),
    [
        ("9" * 320, 1, 0),
        ("9" * 321, 0, 0),
        ("1e400", 1, 0),
        ("1e401", 0, 0),
        (f"5 {'m*' * 19}kg", 1, 1),
        (f"5 {'m*' * 20}kg", 1, 0),
    ],
)
def test_how_much_of_a_number_and_a_unit_is_read(text: str, number: int, units: int) -> None:
    [figure] = figures(text)
    assert (len(figure.readings), len(figure.units)) == (number, units)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It is 5 dollars.", "dollars"),
        ("It is **5** dollars.", "dollars"),
        ("It is 5-dollars.", "dollars"),
        ("It is 5$ a year.", "$ a year"),
        ("It is 5 million dollars.", "dollars"),
        ("It is 5 cents.", "cents"),
        ("It is $5 per year.", "$"),
        ("It is $5 AUD.", "AUD"),
        ("It is five dollars.", "dollars"),
        ("It is five.", ""),
        ("It is 5 .", ""),
        ("It is A5k dollars.", ""),
    ],
)
def test_how_a_unit_is_typed(text: str, written: str) -> None:
    [figure] = figures(text)
    assert figure.written == written


@pytest.mark.parametrize(
    ("reading", "number", "fits"),
    [
        ((5, "0.5"), "4.5", True),
        ((5, "0.5"), "5.5", True),
        ((5, "0.5"), "5.51", False),
        ((-5, "0.5"), "-4.5", True),
        ((0, "0.5"), "0", True),
        ((0, "0.5"), "0.1", False),
    ],
)
def test_what_would_be_shown_so(reading: tuple[int, str], number: str, fits: bool) -> None:
    value, half = reading
    assert Reading(Fraction(value), Fraction(half)).fits(Fraction(number)) is fits
