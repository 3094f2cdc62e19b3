"""Messages that try to bring a number past the runtime, and messages that must get through.

In each, ``{{claim:0}}`` is backed by a tool's 12.5 kWh/m2. A blocked message names the text that gives it away.
"""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime import GLRuntimeError
from gllint_runtime.policy.numbers import scan_naked_numbers

# id, message, the naked texts in order
BLOCKED: list[tuple[str, str, list[str]]] = [
    # plain
    ("integer", "The roof loses 42 units of heat.", ["42"]),
    ("decimal", "It uses 12.5 in total.", ["12.5"]),
    ("grouped", "It uses 2,500 in total.", ["2,500"]),
    ("grouped twice", "It uses 1,234,567 in total.", ["1,234,567"]),
    ("continental", "It uses 1.234,56 in total.", ["1.234,56"]),
    ("apostrophe groups", "It uses 12'500 in total.", ["12'500"]),
    ("underscore groups", "It uses 12_500 in total.", ["12_500"]),
    ("narrow space groups", "It uses 12\u202f500 in total.", ["12\u202f500"]),
    ("space groups", "It uses 12 500 in total.", ["12", "500"]),
    ("with a unit", "It uses 500 kWh.", ["500"]),
    ("negative", "It saves -5 kWh.", ["5"]),
    ("parenthesised", "The saving (about 30) is good.", ["30"]),
    ("fraction", "It is 1/2 of that.", ["1", "2"]),
    ("range", "Between 10-20 kWh.", ["10", "20"]),
    ("percent", "It is 15% better.", ["15"]),
    ("single digit", "There are 3 boilers.", ["3"]),
    ("zero", "It uses 0 kWh.", ["0"]),
    ("year alone", "Since 2024 it uses less.", ["2024"]),
    ("only a number", "7", ["7"]),
    ("at the end", "The answer is 42", ["42"]),
    ("leading point", "It is .5 of it.", ["5"]),
    ("trailing point", "It is 5.", ["5"]),
    ("phone", "Call 030-123456.", ["030", "123456"]),
    ("currency before", "It costs $2,500.", ["2,500"]),
    ("currency after", "It costs 2500€.", ["2500"]),
    # glued to letters
    ("unit glued", "It uses 500kWh.", ["500"]),
    ("unit with digit glued", "It covers 500m2.", ["500"]),
    ("exponent", "It uses 1e6 of it.", ["1e6"]),
    ("negative exponent", "It uses 2.5E-3 of it.", ["2.5E-3"]),
    ("quarter", "In Q3 it rose.", ["3"]),
    ("prefix letter", "It is x500 now.", ["500"]),
    ("ordinal", "The 3rd floor is warm.", ["3"]),
    ("suffix k", "It uses 5k of it.", ["5"]),
    ("hexadecimal", "It is 0x1F4.", ["0", "1", "4"]),
    ("letter on both sides", "It uses a500b of it.", ["500"]),
    ("underscore before", "It uses total_500 of it.", ["500"]),
    ("other molecule", "It emits CH4 and H2O.", ["4", "2"]),
    ("unit symbol misspelt", "It emits co2 and M2.", ["2", "2"]),
    ("unit symbol with more", "It emits CO2x.", ["2"]),
    ("particulates", "PM2.5 is low.", ["2.5"]),
    ("heading", "<h1>Report</h1>", ["1", "1"]),
    ("variable", "Set MAX_500 to it.", ["500"]),
    # beside a whitelisted context
    ("date then number", "On 2024-10-02 use 500 kWh.", ["500"]),
    ("list then number", "1. Use 500 kWh", ["500"]),
    ("version then number", "With v1.2.3 use 500 kWh.", ["500"]),
    ("id then number", "See ID-7: 500 kWh.", ["500"]),
    ("time then number", "At 14:30 use 500 kWh.", ["500"]),
    ("number then date", "Use 500 on 2024-10-02.", ["500"]),
    ("number then time", "Use 500 at 14:30.", ["500"]),
    ("date and number within twenty characters", "2024-10-02: 9", ["9"]),
    # dates that are none
    ("thirteenth month", "On 2024-13-01 it broke.", ["2024", "13", "01"]),
    ("thirtieth of February", "On 2024-02-30 it broke.", ["2024", "02", "30"]),
    ("no leap year", "On 2023-02-29 it broke.", ["2023", "02", "29"]),
    ("all nines", "On 9999-99-99 it broke.", ["9999", "99", "99"]),
    ("year zero", "On 0000-01-01 it broke.", ["0000", "01", "01"]),
    ("short month", "On 2024-1-02 it broke.", ["2024", "1", "02"]),
    ("longer year", "On 12024-10-02 it broke.", ["12024", "10", "02"]),
    ("date with a unit glued", "On 2024-10-02kWh it broke.", ["2024", "10", "02"]),
    ("date glued to letters", "On x2024-10-02 it broke.", ["2024", "10", "02"]),
    ("slashes", "On 2024/10/02 it broke.", ["2024", "10", "02"]),
    ("points", "On 02.10.2024 it broke.", ["02.10.2024"]),
    ("timestamp with T", "At 2024-10-02T14:30 it broke.", ["2024", "10", "02", "14", "30"]),
    ("date with more", "On 2024-10-02-500 it broke.", ["500"]),
    ("decimal date", "On 2024-10-02.5 it broke.", ["02.5"]),
    ("other hyphens", "On 2024‑10‑02 it broke.", ["2024", "10", "02"]),
    # times that are none
    ("hour 25", "At 25:10 it broke.", ["25", "10"]),
    ("minute 61", "At 12:61 it broke.", ["12", "61"]),
    ("second 99", "At 12:30:99 it broke.", ["12", "30", "99"]),
    ("hour 24", "At 24:00 it broke.", ["24", "00"]),
    ("one digit hour", "At 9:30 it broke.", ["9", "30"]),
    ("ratio", "A ratio of 3:1.", ["3", "1"]),
    ("time with a unit glued", "At 14:30kWh it broke.", ["14", "30"]),
    ("fraction of a second", "At 14:30:00.123 it broke.", ["00.123"]),
    ("too many parts", "At 14:30:15:20 it broke.", ["20"]),
    ("digit before", "At 1:14:30 it broke.", ["1"]),
    # versions that are none
    ("no v", "With 0.4.0 of it.", ["0.4.0"]),
    ("capital V", "With V0.4.0 of it.", ["0.4.0"]),
    ("one part", "With v500 of it.", ["500"]),
    ("four parts", "With v1.2.3.4 of it.", ["1.2.3.4"]),
    ("suffix", "With v1.2beta of it.", ["1.2"]),
    ("v inside a word", "With dev1.2 of it.", ["1.2"]),
    ("fenced version without v", "```\nversion = 0.4.0\n```", ["0.4.0"]),
    # identifiers that are none
    ("lower case id", "See id-123.", ["123"]),
    ("longer prefix", "See GRID-123.", ["123"]),
    ("two separators", "See ID--123.", ["123"]),
    ("space", "See ID 123.", ["123"]),
    ("letters after", "See ID-123kWh.", ["123"]),
    ("decimal id", "See ID-123.5.", ["123.5"]),
    ("number sign", "See #123.", ["123"]),
    # list markers that are none
    ("inside a line", "First 1. insulate", ["1"]),
    ("indented", "  1. insulate", ["1"]),
    ("no blank", "1.insulate", ["1"]),
    ("parenthesis", "1) insulate", ["1"]),
    ("two numbers", "1. 2. insulate", ["2"]),
    ("decimal in place of a marker", "1.5 insulate", ["1.5"]),
    ("marker at the very end", "insulate\n1.", ["1"]),
    ("bullet", "- 5 windows", ["5"]),
    # code fences excuse nothing
    ("fence", "```\n500 kWh\n```", ["500"]),
    ("fence with language", "```text\nuse: 500\n```", ["500"]),
    ("inline code", "It uses `500` of it.", ["500"]),
    ("tilde fence", "~~~\n500\n~~~", ["500"]),
    ("quote", "> 500 kWh", ["500"]),
    ("table", "| heat | 500 |", ["500"]),
    ("link", "[report](https://example.org/500)", ["500"]),
    ("hidden in a comment", "<!-- 500 -->", ["500"]),
    ("attribute", '<b data-x="500">much</b>', ["500"]),
    # digits of other scripts, and other numerals
    ("arabic-indic", "It uses ٥٠٠ of it.", ["٥٠٠"]),
    ("persian", "It uses ۵۰۰ of it.", ["۵۰۰"]),
    ("devanagari", "It uses ५०० of it.", ["५००"]),
    ("bengali", "It uses ৫০০ of it.", ["৫০০"]),
    ("thai", "It uses ๕๐๐ of it.", ["๕๐๐"]),
    ("tibetan half", "It uses ༪ of it.", ["༪"]),
    ("fullwidth", "It uses ５００ of it.", ["５００"]),
    ("mathematical bold", "It uses 𝟓𝟎𝟎 of it.", ["𝟓𝟎𝟎"]),
    ("mathematical monospace", "It uses 𝟻𝟶𝟶 of it.", ["𝟻𝟶𝟶"]),
    ("superscript", "It uses ⁵⁰⁰ of it.", ["⁵⁰⁰"]),
    ("subscript", "It uses ₅₀₀ of it.", ["₅₀₀"]),
    ("squared letter", "It uses x² of it.", ["²"]),
    ("vulgar fraction", "It uses ½ of it.", ["½"]),
    ("glued fraction", "It uses 2½ of it.", ["2½"]),
    ("roman numeral sign", "It uses Ⅻ of it.", ["Ⅻ"]),
    ("circled", "It uses ⑤ of it.", ["⑤"]),
    ("parenthesised digit", "It uses ⑸ of it.", ["⑸"]),
    ("negative circled", "It uses ❺ of it.", ["❺"]),
    ("full stop digit", "It uses ⒌ of it.", ["⒌"]),
    ("keycap", "It uses 5️⃣ of it.", ["5"]),
    ("hangzhou", "It uses 〥 of it.", ["〥"]),
    ("arabic decimal separator", "It uses ٥٫٥ of it.", ["٥٫٥"]),
    ("mixed scripts", "It uses 5٠0 of it.", ["5٠0"]),
    ("other digits in a date", "On ٢٠٢٤-١٠-٠٢ it broke.", ["٢٠٢٤", "١٠", "٠٢"]),
    ("other digits in a list", "٥٠٠. kWh", ["٥٠٠"]),
    ("aegean number", "It uses 𐄡 of it.", ["𐄡"]),
    ("segmented digit", "It uses 🯵 of it.", ["🯵"]),
    # split digits
    ("bold inside", "It uses 5**0**0 of it.", ["5", "0", "0"]),
    ("tag inside", "It uses 5<b>0</b>0 of it.", ["5", "0", "0"]),
    ("zero width space", "It uses 5\u200b0\u200b0 of it.", ["5", "0", "0"]),
    ("soft hyphen", "It uses 5\u00ad00 of it.", ["5", "00"]),
    ("word joiner", "It uses 5\u206000 of it.", ["5", "00"]),
    ("decimal entity", "It uses &#53;&#48;&#48; of it.", ["&#53;&#48;&#48;"]),
    ("hexadecimal entity", "It uses &#x35; of it.", ["&#x35;"]),
    ("hexadecimal entity without digits", "It uses &#xBD; of it.", ["&#xBD;"]),
    ("named entity", "It uses &half; of it.", ["&half;"]),
    ("named entity with digits", "It uses &frac12; of it.", ["&frac12;"]),
    ("entity without semicolon", "It uses &#53 of it.", ["&#53"]),
    ("entity beside a digit", "It uses 5&#48;0 of it.", ["5&#48;0"]),
    ("very long entity", "It uses &#" + "9" * 5000 + "; of it.", ["9" * 5000]),
    ("entity of no digit", "It&#39;s warm.", ["39"]),
    ("url escape", "It uses %35%30 of it.", ["35", "30"]),
    ("backslash escape", r"It uses \u0035 of it.", ["0035"]),
    # beside a macro
    ("digits after", "It uses {{claim:0}}000.", ["000"]),
    ("digits before", "It uses 5{{claim:0}}.", ["5"]),
    ("minus before", "It uses -{{claim:0}}.", ["-"]),
    ("plus before", "It uses +{{claim:0}}.", ["+"]),
    ("true minus before", "It uses −{{claim:0}}.", ["−"]),
    ("en dash before", "It uses –{{claim:0}}.", ["–"]),
    ("plus-minus before", "It uses ±{{claim:0}}.", ["±"]),
    ("letter after", "It uses {{claim:0}}k.", ["k"]),
    ("letters after", "It uses {{claim:0}}illion.", ["illion"]),
    ("letter before", "It uses x{{claim:0}}.", ["x"]),
    ("exponent after", "It uses {{claim:0}}e6.", ["e6"]),
    ("percent after", "It uses {{claim:0}}%.", ["%"]),
    ("dollar before", "It costs ${{claim:0}}.", ["$"]),
    ("minus and bold", "It uses -**{{claim:0}}**.", ["-"]),
    ("minus and tag", "It uses -<b>{{claim:0}}</b>.", ["-"]),
    ("minus and zero width space", "It uses -\u200b{{claim:0}}.", ["-"]),
    ("letters and bold", "It uses **{{claim:0}}**k.", ["k"]),
    ("id before", "See ID-1{{claim:0}}.", ["1"]),
    ("version before", "See v1.{{claim:0}}.", ["1"]),
    ("date after", "It uses {{claim:0}}2024-10-02.", ["2024", "10", "02"]),
    ("digits after two macros", "It uses {{claim:0}} {{claim:0}}5.", ["5"]),
    ("macro upon macro", "It uses {{claim:0}}{{claim:0}}.", ["{{claim:0}}"]),
    ("macro upon bold macro", "It uses {{claim:0}}**{{claim:0}}**.", ["{{claim:0}}"]),
    ("unit word before", "It uses m2{{claim:0}}.", ["m2"]),
    # beside a macro on the screen, if not in the text
    ("minus entity", "It uses &minus;{{claim:0}}.", ["&minus;"]),
    ("plus entity", "It uses &plus;{{claim:0}}.", ["&plus;"]),
    ("currency entity", "It costs &euro;{{claim:0}}.", ["&euro;"]),
    ("percent entity", "It uses {{claim:0}}&percnt;.", ["&percnt;"]),
    ("letter entity", "It uses {{claim:0}}&Mopf;.", ["&Mopf;"]),
    ("minus and soft hyphen entity", "It uses -&shy;{{claim:0}}.", ["-"]),
    ("minus and invisible entity", "It uses -&ZeroWidthSpace;{{claim:0}}.", ["-"]),
    ("macro upon macro, invisible entity", "{{claim:0}}&NoBreak;{{claim:0}}", ["{{claim:0}}"]),
    ("minus and a link", "It uses -[{{claim:0}}](https://example.org).", ["-"]),
    ("minus and parenthesis", "It uses -({{claim:0}}).", ["-"]),
    ("minus and unknown tag", "It uses -<warm>{{claim:0}}</warm>.", ["-"]),
    ("minus and label", "It uses -<label>{{claim:0}}</label>.", ["-"]),
    ("minus and tag with a quoted bracket", """-<b title=">">{{claim:0}}</b>""", ["-"]),
    ("minus and very long tag", f"""-<b title="{"x" * 300}">{{{{claim:0}}}}</b>""", ["-"]),
    ("minus and very long comment", f"-<!--{'x' * 300}-->{{{{claim:0}}}}", ["-"]),
    ("minus and many invisible characters", "-" + "\u200b" * 300 + "{{claim:0}}", ["-"]),
    ("minus inside a comment", "<!-- -{{claim:0}} -->", ["-"]),
    ("minus after an unclosed comment", "<!-- -{{claim:0}}", ["-"]),
    ("minus with an accent", "It uses -\u0301{{claim:0}}.", ["-"]),
    ("minus and tag character", "It uses -\U000e0020{{claim:0}}.", ["-"]),
    ("minus and hangul filler", "It uses -\u3164{{claim:0}}.", ["-"]),
    ("minus and thin space", "It uses −\u2009{{claim:0}}.", ["−"]),
    ("minus and narrow space", "It uses -\u202f{{claim:0}}.", ["-"]),
    ("minus and formula space", "It uses -\\,{{claim:0}}.", ["-"]),
    ("minus and formula braces", "It uses -{}{{claim:0}}.", ["-"]),
    ("minus in a formula", "It uses $-${{claim:0}}.", ["$"]),
    ("heavy minus", "It uses ➖{{claim:0}}.", ["➖"]),
    ("superscript minus", "It uses ⁻{{claim:0}}.", ["⁻"]),
    ("modifier minus", "It uses ˗{{claim:0}}.", ["˗"]),
    ("fullwidth minus", "It uses －{{claim:0}}.", ["－"]),
    ("minus and a blank", "Heat = {{claim:0}} - {{claim:0}}", ["-"]),
    ("root", "It uses √{{claim:0}}.", ["√"]),
    ("superscript after", "It uses {{claim:0}}².", ["²"]),
    ("superscript letter after", "It uses {{claim:0}}ⁿ.", ["ⁿ"]),
    ("reversed by a tag", '<BDO dir="rtl">{{claim:0}}</BDO>', ['<BDO dir="rtl">']),
    # numerals that are filed elsewhere
    ("keycap ten", "There are 🔟 boilers.", ["🔟"]),
    ("hundred points", "It is 💯 percent better.", ["💯"]),
    ("telegraph day", "It takes ㏾ of them.", ["㏾"]),
    ("telegraph hour", "It takes ㍪ of them.", ["㍪"]),
    ("telegraph month", "It takes ㋋ of them.", ["㋋"]),
    ("turned digit", "It takes ↊ of them.", ["↊"]),
    ("combining digits", "It takes a\ua8e5 of them.", ["\ua8e5"]),
    ("ideographic zero", "It takes 五〇 of them.", ["〇"]),
    ("struck out", "It takes 5\u03360\u0336 of them.", ["5", "0"]),
    ("telegraph day beside a date", "㏾ 2024-10-02", ["㏾"]),
    # typed copies of what is claimed
    ("typed copy", "It uses {{claim:0}}, that is 12.50 kWh/m2.", ["12.50"]),
    ("typed copy first", "With 12.50 kWh/m2, it uses {{claim:0}}.", ["12.50"]),
    ("typed copy of the short form", "It uses {{claim:0}} (12.5).", ["12.5"]),
    ("sum", "It uses {{claim:0}} and so 25 for two.", ["25"]),
    # prose
    ("many sentences", "It is warm. It is cold. It uses 500. It is warm.", ["500"]),
    ("new lines", "Warm\nor\n500\ncold", ["500"]),
    ("tab", "heat\t500", ["500"]),
    ("emoji beside", "🔥500🔥", ["500"]),
    ("json", '{"heat": 500}', ["500"]),
    ("e-mail", "Write to flat5@example.org.", ["5"]),
    ("long digit string", "It uses " + "1" * 4000 + ".", ["1" * 4000]),
]

DELIVERED: list[tuple[str, str]] = [
    ("claim", "It uses {{claim:0}} a year."),
    ("claim at the ends", "{{claim:0}}"),
    ("claim twice", "{{claim:0}} here and {{claim:0}} there"),
    ("claim in bold", "It uses **{{claim:0}}**."),
    ("claim in a tag", "It uses <b>{{claim:0}}</b>."),
    ("claim in a table", "| heat | {{claim:0}} |"),
    ("claim in parentheses", "The heat ({{claim:0}}) is low."),
    ("claim in quotes", 'It uses "{{claim:0}}".'),
    ("claim and punctuation", "It uses {{claim:0}}, {{claim:0}}; {{claim:0}}!"),
    ("claim in a list", "- {{claim:0}}\n- {{claim:0}}"),
    ("claim in a numbered list", "1. {{claim:0}}\n2. {{claim:0}}"),
    ("claim after an em dash", "The heat—{{claim:0}}—is low."),
    ("claim beside a date", "On 2024-10-02 {{claim:0}} was used."),
    ("no number", "The roof leaks heat."),
    ("empty", ""),
    ("list", "Do this:\n1. Insulate\n2. Ventilate\n10. Rest"),
    ("list at the start", "1. Insulate"),
    ("list with windows line ends", "Do:\r\n1. Insulate\r\n2. Rest"),
    ("list marker with a tab", "1.\tInsulate"),
    ("date", "Measured on 2024-02-29."),
    ("two dates", "From 2023-12-31 to 2024-01-15."),
    ("dates with a comma", "On 2023-12-31,2024-01-15."),
    ("version", "Since v0.4.0 it is better."),
    ("version of two parts", "Since v12.5 it is better."),
    ("version in a fence", "```\npip install tool@v1.2.3\n```"),
    ("version and full stop", "It runs v1.2.3."),
    ("identifier", "See ID-123, ID_456 and ID789."),
    ("time", "Between 09:15 and 17:45:59."),
    ("midnight", "At 00:00."),
    ("carbon dioxide", "It emits CO2 and CO2e."),
    ("carbon dioxide, set", "It emits CO₂ and CO₂e."),
    ("hyphenated", "A CO2-neutral house."),
    ("unit symbols", "Given in m2, m3, km2, ft2, kgCO2e and tCO2e."),
    ("compound unit", "Given in kWh/m2 and kgCO2e/m2."),
    ("set unit", "Given in kWh/m²."),
    ("number word", "It has two floors."),
    ("other scripts' letters", "Das Gebäude verbraucht 很多 энергии."),
    ("ideograph for a number", "五百"),
    ("ampersand", "Heat & light &amp; air &nbsp; more"),
    ("braces", "Use {name} and {{name}}."),
    ("claim after a line", "Heat:\n{{claim:0}}\nis low"),
    ("claim in a link", "See [{{claim:0}}](https://example.org/heat)."),
    ("claim in a tag with attributes", 'It uses <span class="a > b">{{claim:0}}</span>.'),
    ("claim after another sign and a blank", "Heat = {{claim:0}} + {{claim:0}}"),
    ("claim in a comment", "<!-- {{claim:0}} --> It is warm."),
    ("claim after an equals sign", "Heat={{claim:0}}"),
    ("claim after a less-than sign", "Heat <{{claim:0}}, more than {{claim:0}}>"),
    ("claim beside entities", "Heat&nbsp;{{claim:0}}&nbsp;&amp; more, &lt;{{claim:0}}&gt;"),
    ("claim after a bullet", "• {{claim:0}}"),
    ("claim in a task list", "- [x] {{claim:0}}"),
    ("claim with guillemets", "«{{claim:0}}»"),
    ("claim with an ellipsis", "…{{claim:0}}…"),
    ("claim on the other side of a block", "-<div>{{claim:0}}</div>"),
    ("accents", "Le ba\u0302timent consomme {{claim:0}}."),
    ("right to left text", "הבניין צורך {{claim:0}} בשנה."),
    ("isolated", "\u2068{{claim:0}}\u2069"),
    ("letters on the other side of a break", "heat<br>{{claim:0}}<br>low"),
]


@pytest.fixture
def deliver(run: Any, step: Any) -> Any:
    def deliver(message: str) -> str:
        claims = [step.claim("$.intensity", 12.5, "kWh/m2")] if "{{claim:0}}" in message else []
        answer = run(step.call("heating_intensity", heat_kwh=5000, area_m2=400), step.final(message, *claims))
        return str(answer["message"])

    return deliver


def test_the_table_is_large_and_has_no_row_twice() -> None:
    messages = [row[1] for row in BLOCKED] + [row[1] for row in DELIVERED]
    assert len(messages) >= 150
    assert len(messages) == len(set(messages))


@pytest.mark.parametrize(("message", "naked"), [row[1:] for row in BLOCKED], ids=[row[0] for row in BLOCKED])
def test_blocked(message: str, naked: list[str], deliver: Any) -> None:
    with pytest.raises(GLRuntimeError) as caught:
        deliver(message)
    assert caught.value.code == "NO_NAKED_NUMBERS"
    assert [number.text for number in scan_naked_numbers(message)] == naked


@pytest.mark.parametrize("message", [row[1] for row in DELIVERED], ids=[row[0] for row in DELIVERED])
def test_delivered(message: str, deliver: Any) -> None:
    assert deliver(message) == message.replace("{{claim:0}}", "12.50 kWh/m2")


@pytest.mark.parametrize(
    ("text", "naked"),
    [
        ("five hundred kWh", ["five hundred"]),
        ("twenty-five boilers", ["twenty-five"]),
        ("a hundred and a thousand", ["a hundred", "a thousand"]),
        ("one hundred and two point five", ["one hundred and two point five"]),
        ("Two Million euros", ["Two Million"]),
        ("dozens of windows, three doors", ["dozens", "three"]),
        ("one of the roofs, no one else, someone", []),
        ("the tenant often attends", []),
        ("twentyfive or fivehundred", ["twentyfive", "fivehundred"]),
        ("one kWh, one percent, one day", ["one", "one"]),
        ("two lakh and three crores", ["two lakh and three crores"]),
        ("fi\u200bve hun<b>dred</b> kWh", ["fi\u200bve hun<b>dred"]),
        ("**five** hundred kWh", ["five** hundred"]),
        ("ｆｉｖｅ and 𝐬𝐢𝐱 kWh", ["ｆｉｖｅ and 𝐬𝐢𝐱"]),
        ("<!-- five --> kWh", ["five"]),
        ("se&shy;ven kWh", ["se&shy;ven"]),
    ],
)
def test_number_words_on_request(text: str, naked: list[str]) -> None:
    assert scan_naked_numbers(text) == []
    assert [number.text for number in scan_naked_numbers(text, words=True)] == naked


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("It uses {{claim: 500", "NO_NAKED_NUMBERS"),
        ("It uses {{claim:0 or 500", "NO_NAKED_NUMBERS"),
        ("It uses {{claim:0 is 500}}", "MISSING_CLAIM"),
        ("It uses {{claim:" + "x" * 50 + " 500}}", "NO_NAKED_NUMBERS"),
        ("It uses [[claim: 500", "NO_NAKED_NUMBERS"),
        ("It uses {{claim:a}}", "MISSING_CLAIM"),
        ("It uses {claim:0}", "MISSING_CLAIM"),
        ("It uses {{ claim:0 }}", "MISSING_CLAIM"),
        ("It uses {{claim:00}}", "MISSING_CLAIM"),
        ("It uses {{Claim:0}}", "MISSING_CLAIM"),
        ("It uses {{claim:7}}", "MISSING_CLAIM"),
        ("It uses {{{claim:0}}}", "MISSING_CLAIM"),
        ("It uses {{claim}}", "MISSING_CLAIM"),
        ("It uses {{сlaim:0}}", "NO_NAKED_NUMBERS"),
    ],
)
def test_what_only_looks_like_a_macro_hides_nothing(message: str, code: str, run: Any, step: Any) -> None:
    with pytest.raises(GLRuntimeError) as caught:
        run(step.final(message))
    assert caught.value.code == code


def test_project_whitelist_and_units() -> None:
    text = "Room 101 of ISO 50001, 3 trees in t2k"
    assert [n.text for n in scan_naked_numbers(text)] == ["101", "50001", "3", "2"]
    excused = scan_naked_numbers(text, whitelist=[r"Room \d+", r"ISO \d+"], units=["t2k"])
    assert [n.text for n in excused] == ["3"]


def test_offsets_count_code_points() -> None:
    (number,) = scan_naked_numbers("🔥 é 42")
    assert (number.start, number.end, number.text) == (4, 6, "42")


def test_holes_of_unknown_content_are_no_numbers() -> None:
    assert scan_naked_numbers("uses \ufffc kWh, {{claim:\ufffc}}, v1.2\ufffc") == []


@pytest.mark.parametrize(
    ("text", "naked"),
    [
        ("one per cent", ["one"]),
        ("one percent", ["one"]),
        ("one kWh", ["one"]),
        ("one m", []),
        ("one K", []),
        ("one g of", []),
    ],
)
def test_one_is_a_number_before_a_unit_of_several_letters(text: str, naked: list[str]) -> None:
    assert [number.text for number in scan_naked_numbers(text, words=True)] == naked
