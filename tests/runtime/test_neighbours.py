"""What may stand beside a macro, clause by clause of the policy's table. ``@`` stands for ``{{claim:0}}``."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gllint_runtime import GLRuntimeError, scan_naked_numbers
from gllint_runtime.policy.numbers import unsafe_characters
from gllint_runtime.policy.rendered_text import View, is_numeral
from gllint_runtime.policy.surroundings import MASK, Plain, fault_at_start

REFUSED = [
    "@ per year m2",
    "−🔥@",
    "It is −🔥🔥@",
    "@ \u041cJ",
    '@<a b="c>@',
    "@/m2",
    "@ / m2",
    "@ CO2e",
    "@·h",
    "@ · h",
    "@ ╱ m2",
    "@ ⊗ two",
    "It is ー@",
    "@ cents",
    "negatief @",
    "négative @",
    "@ × two",
    "@ ^n",
    "@ million",
    "@ cr",
    "@ doz.",
    "@ **million**",
    "@ <b>million</b>",
    "@&nbsp;million",
    "@ kWh",
    "@ (kWh)",
    "@ m²",
    "@ ㎡",
    "@ ｋＷｈ",
    "@ per m2",
    "@ per square metre",
    "@ per kWh",
    "@ a kilometre",
    "@ thousand euros",
    "@ €",
    "$ @",
    "− @",
    "- it is - @",
    "minus @",
    "negative @",
    "moins @",
    "minus **@**",
    "&minus; @",
    "-&nbsp;@",
    "-<!-- x -->@",
    "<!-- -->-<!-- -->@",
    "─@",
    "─ @",
    "━ @",
    "➖ @",
    "⊖@",
    "∓ @",
    "\\-@",
    "a -(@)",
    "a (-) @",
    "a $-$ @",
    "ㅡ@",
    "一@",
    "ー @",
    "负@",
    "零下@",
    "マイナス@",
    "마이너스 @",
    "@万",
    "@ 万",
    "@亿元",
    "@千克",
    "@公斤",
    "@평방미터",
    "@킬로그램",
    "@톤",
    "@ล้าน",
    "@กิโลกรัม",
    "@'million",
    "@'kWh",
    "@k",
    "@°C",
    "@ %",
    "@‰",
    "@∕h",
    "@⁄h",
    "√@",
    "√ @",
    ":five: rooms",
    "⚅ rooms",
    "🀙",
    "🂢",
    "🈔",
    "🔢",
    "\U0001ccf5",
    "\U00011de0",
    "@-h",
    "– @",
    "‒ @",
    "― ok - @",
    '<span style="unicode-bidi: bidi-override; direction: rtl">@</span>',
    "<span style='display:none'>x</span>@",
    "-<span hidden>x</span>@",
    "-<wbr>@",
    "-\u200b@",
    "-\u2060\xad@",
    "@[k](http://x)",
    "@[](http://x)k",
    "-</ x>@",
    "-<?x?>@",
    "@<sup>n</sup>",
    "<b>-</b>@",
    "<b>-</b> @",
    "<p>- @</p>",
    "| - @ |",
    "Heat -\n@",
    "@ squared",
    "@ тысяч",
    "@ млн",
    "@ 百万",
    "x/@",
    "+@",
    "= -@",
    ">-@",
    "#@",
    "@#",
    "@@",
    "x=@%",
    "@ \\cdot h",
    "@\\,k",
    "~-@",
    "@*k",
    "@ * h",
    "@_h_",
    "@ tCO2e",
    "@ g",
    "@ t.",
    "@ USD",
    "negative: -@",
]
DELIVERED = [
    '"@" is more or -',
    "It is an xminus @",
    "@ m-a, b",
    "@\n* h",
    "\u202e☑",  # turns no number around
    '"@" costs a lot in €',
    "Un clima ameno @",
    "@ L-S, a shop",
    "<bdo dir=rtl>none</bdo>",
    "A table\n---\n@",
    "@",
    "It uses @ a year.",
    "@ per year",
    "**@**",
    "_@_",
    "`@`",
    '"@"',
    "«@»",
    "»@«",
    "“@”",
    "‘@’",
    "(@)",
    "[@]",
    "- @",
    "* @",
    "+ @",
    "  - @",
    "> - @",
    "1. @",
    "- **Heat**: @",
    "| @ |",
    "| heat | @ | low |",
    "Heat: @.",
    "Heat:@",
    "约@",
    "消费量是@。",
    "消费量为@，较低",
    "总量（@）",
    "面积是@的房子",
    "@左右",
    "@以上",
    "消費量は@です。",
    "約@になります",
    "メーター @",
    "データー@",
    "소비량은 @입니다.",
    "@만큼",
    "@ 줄었습니다",
    "@이상",
    "ใช้@ต่อปี",
    "ใช้@",
    "@'dir.",
    "@’tür",
    "@'s share",
    "הצריכה היא כ-@ בשנה",
    "ב־@",
    "Потребление — @",
    "Потребление составляет @ в год.",
    "Le logement consomme @.",
    "au moins @",
    "al menos @",
    "— @",
    "heat—@—low",
    "¿Es @?",
    "¡@!",
    "…@…",
    "• @",
    "→ @",
    "✅ @",
    "<b>@</b>",
    "<li>@</li>",
    "<td>@</td><td>kWh</td>",
    "<p>@</p>",
    "~~@~~",
    "***@***",
    "[@](https://x.y)",
    "Heat=@",
    "Heat <@",
    "Title\n---\n@",
    "---\n@",
    "\n---\n@",
    "a | b\n--- | ---\n@ | x",
    "@\n- item",
    "@\n\nMillion reasons",
    "@, and t is time",
    "@ and more",
    "@ of heat",
    "@ - low",
    "@: ok",
    "@; ok",
    "_2024-10-02_",
    "**v1.2**",
    "`ID-123`",
    "_CO2_",
    "CO₂e",
    "**1.** Insulate",
    "*1. Insulate*",
    "__v1.2.3__",
    "*14:30*",
    "The roof 🔥 leaks.",
    "@ 🔥",
    "@\u200e.",
    "\u2068@\u2069",
    "@\xa0a year",
    "El consumo es @.",
    "La casa usa @ al año.",
    "O consumo é de @ por ano.",
    "استهلاك @ في السنة",
    "استهلاك: @.",
    "मकान @ खर्च करता है।",
    "Zużycie wynosi @ rocznie.",
    "Spotřeba je @ ročně.",
    "Eviniz @ tüketir.",
    "Die Wohnung braucht @ im Jahr.",
    "„@“",
    "‚@‘",
    "@!",
    "@?",
    "@…",
    "@。",
    "@、@",
    "@, @",
    "@–@",
    "@ a day",
    "@ each month",
    "> @",
    "# @",
    "### Heat: @",
    "@ CO2 savings",
    "@ per person",
    "@ for two people",
    "- [ ] @",
    "- [x] @",
    "* * *\n@",
    " @ holds; a dash −",
    "@ ™",
    "@\nkWh: warm",
    "<bdo>warm</bdo>",
    "\u202ewarm",
    "@ per the team m",
    "@ por persona mi casa",
    "at 23:59:59",
]


def scan(message: str, **options: Any) -> list[str]:
    return [number.text for number in scan_naked_numbers(message.replace("@", "{{claim:0}}"), **options)]


@pytest.mark.parametrize("message", REFUSED)
def test_what_changes_the_quantity_is_refused(message: str) -> None:
    found = scan_naked_numbers(message.replace("@", "{{claim:0}}"))
    assert found and all(number.text and "''" not in (number.hint or "") for number in found)


@pytest.mark.parametrize("message", DELIVERED)
def test_what_leaves_it_alone_is_not(message: str) -> None:
    assert scan(message) == []


def test_the_hint_says_what_to_leave_out() -> None:
    (number,) = scan_naked_numbers("It uses {{claim:0}} kWh.")
    assert number.text == "kWh" and "Leave out 'kWh'" in str(number.hint)


@pytest.mark.parametrize(
    ("message", "found", "hint"),
    [
        ("@5", "5", "Delete '5'"),
        ("@ \t²", "²", "Leave out '²'"),
        ("@ ㎡ a", "㎡", "Leave out '㎡'"),
        ("@'million a", "million", "Leave out 'million'"),
        ("@百万a", "百", "Leave out '百'"),
        ("$ @", "$", "write no sign"),
        ("a − @", "−", "the tool's own sign"),
        ("@ k€ a", "k€", "Leave out 'k€'"),
        ("@ per m2 a", "per m2", "Leave out 'per m2'"),
        ("a (−) @", "−", "A sign before"),
        ("a &#53; b", "&#53;", None),
        ("It is 1234567890.", "1234567890", None),
        ("<!-- a --><!-- -@ -->", "-", "Delete '-'"),
        ("<!-- a --><!-- − @ -->", "−", "the tool's own sign"),
        ("minus @", "minus", "the tool's own sign"),
        ("It is Meno @", "Meno", "the tool's own sign"),
        ("It is √ @", "√", "write no sign"),
        ("x5@", "x5", "Delete 'x5'"),
        ("½@", "½", "Delete '½'"),
        ("@ ㎾ each", "㎾", "Leave out '㎾'"),
        ("@円です", "円", "Leave out '円'"),
        ("@'t", "t", "Leave out 't'"),
        ("&half; @", "&half;", None),
        ("Là âm @", "âm", "the tool's own sign"),
        ("It is EUR @", "EUR", "the tool's own sign"),
        ("@ below zero!", "below zero", "Leave out 'below zero'"),
        ("a <img alt='-'>@", "<img alt='-'>", "the tool's own sign"),
        ("@ ⁿ a", "ⁿ", "Leave out 'ⁿ'"),
        ("@ kUSD", "kUSD", "Leave out 'kUSD'"),
        ("@\nmillion: a", "million", "Leave out 'million'"),
        ("@\n> million", "million", "Leave out 'million'"),
        ("Heat −\n> @", "−", "the tool's own sign"),
        ("\u202e2024-10-02", "\u202e", None),
        ("<bdo>2024-10-02</bdo>", "<bdo", None),
    ],
)
def test_what_is_found_and_what_is_said_of_it(message: str, found: str, hint: str | None) -> None:
    (number,) = scan_naked_numbers(message.replace("@", "{{claim:0}}"))
    assert number.text == found and (hint or "") in (number.hint or "")
    assert (number.hint is None) == (hint is None)


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("a − @", "A sign before a macro would change the value: the tool's own sign is shown."),
        ("minus @", "A sign or a currency in words would change it: the tool's own sign and unit are shown."),
        ("half of @", "Leave out what would change the value: the tool's own sign and magnitude are shown."),
        ("$ @", "The macro shows its value and its unit: write no sign before it."),
    ],
)
def test_the_whole_hint(message: str, hint: str) -> None:
    (number,) = scan_naked_numbers(message.replace("@", "{{claim:0}}"))
    assert number.hint == hint


def test_each_macro_has_the_unit_of_its_claim() -> None:
    for claimed, found in ((("kW", "kWh"), []), (("kWh", "kW"), ["per year"])):
        assert scan("It is {{claim:1}} per year.", claimed=claimed) == found


def test_the_place_is_that_of_the_word_that_counts() -> None:
    fault = fault_at_start(Plain.of(f"有百{MASK}"), 2, 3)
    assert fault is not None and fault[:2] == (1, 2)


def test_text_that_is_safe_has_no_unsafe_characters() -> None:
    assert unsafe_characters("It is\n12.5 °C") == []


def test_what_is_not_shown_is_nowhere_in_the_view() -> None:
    view = View("a**b**")
    assert view.text == "ab"
    assert [view.find(position) for position in range(6)] == [0, None, None, 1, None, None]


TIMES = ["per year", "a day", "pro Jahr", "par an", "annually", "(per month)", "**per hour**"]


# What the unit is divided by already may be said once more.
OWN_TIMES = {("kWh/m2/year", "per year"), ("kWh/m2/year", "pro Jahr"), ("kWh/h", "**per hour**")}


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize(
    ("unit", "holds_time"),
    [("kWh", False), ("m2", False), ("kWh/m2/year", True), ("kW", True), ("kWh/h", True)],
)
def test_a_time_behind_a_rate_makes_another_rate(time: str, unit: str, holds_time: bool) -> None:
    message = f"It uses @ {time}."
    assert scan(message) == []
    is_own = (unit, time) in OWN_TIMES
    assert bool(scan(message, claimed=[unit])) is (holds_time and not is_own)


@pytest.mark.parametrize("message", ["@ rows", "@ times", "@ of them", "@ rooms per house"])
def test_a_count_is_followed_by_what_is_counted(message: str) -> None:
    assert scan(message, claimed=["count"]) == []


@pytest.mark.parametrize(
    "message", ["@ kilowatt-hours", "@ metres", "@ dollars", "@ tonnes", "@ degrees", "@ kWh", "@ M rows"]
)
def test_but_not_by_a_measure(message: str) -> None:
    assert scan(message, claimed=["count"])


@pytest.mark.parametrize("joint", [".", ",", "’", "\u00a0", "\u202f"])
def test_two_counts_are_not_joined_to_one_number(joint: str) -> None:
    message = f"There are @{joint}@ rows."
    assert scan(message, claimed=["count"]) == [joint]
    assert scan(message, claimed=["kWh"]) == scan(message) == []
    assert scan(f"There are @{joint} @ rows.", claimed=["count"]) == []


def test_symbols_of_packs_count_only_where_they_are_glued() -> None:
    assert scan("@ items", glued=["item", "items"]) == []
    assert scan("@ tree", units=["tree"]) == ["tree"]
    assert scan("@items", glued=["items"]) == ["items"]
    assert scan("in cm2", glued=["cm2"]) == []
    assert scan("in cm2") == ["2"]


@pytest.mark.parametrize(
    ("text", "unsafe"),
    [
        ("a\nb", 0),
        ("a\nb\r\nc\td", 0),
        ("\u2068a\u2069 \u2066b \u2067c\u2069\u2069", 0),
        ("\u200e\u200f\u061c", 0),
        ("a\rb", 1),
        ("\x1b[K", 1),
        ("a\bb\x00\x7f\x9b", 4),
        ("\u202a\u202b\u202c\u202d\u202e", 5),
        ("\u2066open", 1),
        ("\u2069closed", 1),
        ("\u2069\u2068", 2),
        ("\x0b\x0c\x85", 3),
    ],
)
def test_control_characters(text: str, unsafe: int) -> None:
    found = unsafe_characters(text)
    assert len(found) == unsafe and all(end == start + 1 for start, end in found)


@pytest.mark.parametrize("text", ["\x1b[2K{{claim:0}}", "Heat\rCold", "\u202e2024-10-02", "It is \u2066warm"])
def test_a_message_that_a_terminal_would_rewrite_is_unsafe(text: str, run: Any, step: Any) -> None:
    with pytest.raises(GLRuntimeError) as caught:
        run(step.final(text))
    assert caught.value.code == "UNSAFE_TEXT"


def test_the_table_of_numerals_knows_what_python_knows() -> None:
    known = [chr(i) for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i)) in {"Nd", "No", "Nl"}]
    assert all(map(is_numeral, known))
    assert not any(map(is_numeral, "aé字🔥🕐⠿㎡"))


ALPHABETS = [
    "aZ m2CO2_k",
    "0٣½Ⅻ💯⚅",
    "-−–—+/·×^",
    "  \n\t\u00a0\u2029",
    "<b></b><!-- --><br>\"'=",
    "&#53;&minus;&amp;",
]
ALPHABETS += ["*_`~[]()|\\{}", "\u200b\u0301\u2066\u2069\u00ad", "万千克약ひらลב־'", MASK, "$€%‰"]
mixed = st.lists(
    st.sampled_from(
        [*"".join(ALPHABETS), "{{claim:0}}", "{{claim:", "per ", "million", "<!--", "<b x='", "CO2"]
    ),
    max_size=60,
).map("".join)


def steps(text: str, **options: Any) -> int:
    """How many lines of our own the scan runs through; fails where it seems to have no end."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        assert count < 3000 + 400 * len(text), "no end in sight"
        return trace

    scan_naked_numbers(
        ": <b> {{claim:0}} per x y {{claim:0}} — x. {{claim:", words=True
    )  # so that all expressions are compiled
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        scan_naked_numbers(text, **options)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.usefixtures("unmeasured")
@settings(max_examples=300)
@given(mixed)
def test_a_scan_ends(text: str) -> None:
    steps(text, words=True)


@pytest.mark.parametrize("text", ["CO2💯", "m2💯m2", "CO2⚅", "_💯_", "ID_💯", "a" * 200 + "💯"])
def test_a_picture_glued_to_a_unit_symbol(text: str) -> None:
    steps(text)
    assert scan_naked_numbers(text)


@pytest.mark.parametrize(
    "unit",
    [
        "CO2💯",
        "<b",
        "<b x='",
        "<!--",
        "[a](",
        "[",
        "&#",
        "-{{claim:0}} ",
        "{{claim:0}} per ",
        "<!-- {{claim:0}} -->",
        "\u2066",
        "{{claim:0}}\n",
        "- {{claim:0}}\n",
        "{{claim:0}}" + " " * 50,
        "_a_",
        "5 ",
        "{{claim:",
        "万",
        "\\",
        "**",
        "<a style=",
        "<a =",
        "<img alt='-' ",
        "<img alt='-'>{{claim:0}}~",
        "\n>",
        "🔥",
        "{{claim:0}} — x",
        "<details>",
        "<details></details>{{claim:0}}",
        "`<",
        "` ``<",
        "`<{{claim:0}}`",
        "$a {{claim:0}}$ ",
        "$a ",
        "minus about {{claim:0}} ",
        "|{{claim:0}}",
        "| a |\n",
        "| {{claim:0}} |\n",
        "- {{claim:0}}: a\n",
        "in {{claim:0}}, in ",
    ],
)
def test_the_cost_is_linear(unit: str) -> None:
    bare = ["count"]
    steps(unit * 50, claimed=bare)  # reads and compiles what is kept, whichever test came before
    once, twice, four = (steps(unit * n, claimed=bare) for n in (50, 100, 200))
    assert four - twice < 2.5 * (twice - once) + 200


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("at 24:00", ["24", "00"]),
        ("at 23:60", ["23", "60"]),
        ("at 23:59:60", ["23", "59", "60"]),
        ("on 2024-02-30", ["2024", "02", "30"]),
        ("on 2023-02-29", ["2023", "02", "29"]),
        ("on 2024-02-29", []),
    ],
)
def test_dates_and_times_are_those_of_the_calendar_and_the_clock(text: str, numbers: list[str]) -> None:
    assert scan(text) == numbers


def test_a_word_in_letters_of_another_style_says_a_number() -> None:
    assert scan("½ ㎏ 𝐟𝐢𝐯𝐞 rooms", words=True) == ["½", "𝐟𝐢𝐯𝐞"]
    assert scan("𝐟𝐢𝐯𝐞 rooms") == []
