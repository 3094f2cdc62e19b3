"""What changes a number from a distance, or gives a bare one a unit. ``@`` stands for ``{{claim:0}}``."""

from __future__ import annotations

import pytest

from gllint_runtime import Session, scan_naked_numbers
from gllint_runtime.policy.numbers import unsafe_characters


def scan(message: str, unit: str = "kWh") -> list[str]:
    return [number.text for number in scan_naked_numbers(message.replace("@", "{{claim:0}}"), claimed=[unit])]


ACROSS = [
    *("minus about @", "It is minus: @", "The balance is negative by @.", "Minus roughly the @", "−about @"),
    *("It is minus, about @", "negative at around @", "It is × about @", "a ± @", "a ∗ @", "a ÷ @", "a ∕ @"),
    *("Costs in millions: @", "Costs (in millions): @", "**Costs in thousands:** @", "Millions of about @"),
    *(
        "half of @",
        "one and a half times @",
        "the square of @",
        "twice the @",
        "a third of @",
        "two thirds of about @",
        "three times @",
        "a quarter of @",
    ),
    *("@ doubled", "@ or so million", "@ odd thousand", "@ tripled.", "@ in thousands"),
    *(
        "minus etwa @",
        "Kosten in Millionen: @",
        "die Hälfte von @",
        "doppelt @",
        "@ in Tausend",
        "drei mal @",
    ),
    *("Coûts en milliers : @", "la moitié de @", "négatif environ @", "@ en milliers"),
    *(
        "la mitad de @",
        "Costes en millones: @",
        "negativo aproximadamente @",
        "el doble de @",
        "@ en millones",
    ),
    *("la metà di @", "Costi in milioni: @", "il doppio di @", "metade de @", "Custos em milhões: @"),
    *("de helft van @", "Kosten in miljoenen: @", "hälften av @", "halvdelen af @", "połowa @", "polovina @"),
    *("минус около @", "половина @", "Затраты, миллионов: @", "@ в тысячах"),
    *(
        "половину от @",
        "yaklaşık @ milyon",
        "yarısı @",
        "零下约@",
        "零下大约 @",
        "一半的@",
        "百万：@",
        "負の@",
    ),
    *(
        "マイナス約@",
        "半分の@",
        "약 영하 약 @",
        "절반의 @",
        "백만: @",
        "आधा @",
        "ऋण लगभग @",
        "نصف @",
        "مليون: @",
    ),
    *("סך הכל מינוס בערך @", "חצי @", "－about @", "― @", "―@", "a―@"),
]


FURTHER = [
    *(
        "Verbrauch in Mio.: @",
        "Umsatz, Tsd.: @",
        "en miles de: @",
        "zweimal @",
        "le double de @",
        "trois fois @",
    ),
    *(
        "menos cerca de @",
        "moins environ @",
        "meno circa @",
        "eksi yaklaşık @",
        "μείον περίπου @",
        "سالب حوالي @",
    ),
    *(
        "@的一半",
        "@の半分",
        "@의 절반",
        "@翻倍",
        "負の@",
        "ลบประมาณ @",
        "negative: roughly @",
        "@ verdoppelt",
    ),
    *("en miles: @", "em miles: @", "-over @", "Millions for @", "many times @", "no menos cerca de @"),
    *("@ or so about million", "moins environ @", "double @", "in miles: @"),
]


@pytest.mark.parametrize("message", [*ACROSS, *FURTHER])
def test_what_changes_the_value_does_not_hide_behind_words(message: str) -> None:
    assert scan(message)


BESIDE = [
    *(
        "about @",
        "It costs about @ a year.",
        "In the second half, @ was used.",
        "In the last quarter, @ of it",
    ),
    *("The third of them uses @.", "Minus: @", "- Minus: @", "au moins @", "Moins de @", "no menos de @"),
    *(
        "It has doubled to @.",
        "halved from @",
        "cut by half to @",
        "It fell by a third to @.",
        "several times: @",
    ),
    *(
        "The effect is negative in @ of the houses.",
        "A false negative: the meter reads @",
        "A million thanks. It is @",
    ),
    *("Half the houses use @.", "Twice a year it uses @.", "Thousands of homes use @.", "@ of a hundred"),
    *("The heat of @ doubled to {{claim:0}}", "@ halved since then", "See [half](a.md) on @"),
    *("Heat = @ + @", "+ @", "> + @", "E ≈ @", "E ~ @", "E < @", "E = @", "—@"),
    *(
        "Etwa @",
        "Mindestens @",
        "mindestens etwa @",
        "Environ @",
        "unos @",
        "circa @",
        "около @",
        "大约@",
        "約@",
    ),
    *("Die Hälfte der Häuser braucht @.", "La mitad de las casas usa @.", "半数の家は@", "一半的房子用@"),
    *("$E = @$", "so $E_{h} = @$, as told", r"$Q \approx @$"),
    *("miles: @", "en millas: @", "kick-about @", "-per @", "a million houses use about @"),
    *("minus for @", "double for @", "times @", "Moins que @", "meno di circa @", "que menos cerca de @"),
    *("@ or so about some", "@ or so about some million", "the total is minus in @"),
]


@pytest.mark.parametrize("message", BESIDE)
def test_what_leaves_the_value_alone_may_stand_there(message: str) -> None:
    assert scan(message) == []


BARE = [
    *("@ US dollars", "@ dollars", "in percent: @", "The share in percent is @.", "The share (%) is @."),
    *(
        "In US dollars, it is @.",
        "It is @ in euros.",
        "It is @, in euros.",
        "Cost ($): @",
        "@ of the heat in KWH",
    ),
    *("| Heat (kWh) |\n|---|\n| @ |", "| a | °C |\n|:--|--:|\n| x | y |\n| b | @ |", "| Mass (kg) | @ |"),
    *(
        "| Cost (EUR) | plan | @ |",
        "| a | b (EUR) | c |\n|---|---|---|\n| x | @ | y |",
        "@-million more homes use it",
    ),
    *("| a | " + "x " * 1_200 + "| Cost (EUR) | @ |", "| Cost (EUR) | " + "x " * 1_200 + "| @ |"),
    *("## Costs in EUR\n\n@", "Heat (m):\n\n- a: x\n- b: @", "Mass, kg: @", "Mass [t]: @", "@ million users"),
    *("@ kilowatt-hours", "@ in the millions", "It weighs @ in kilograms."),
    *("Das sind @ in Euro.", "Kosten (€): @", "Anteil in Prozent: @", "Wärme in Kilowattstunden: @"),
    *("Prix en euros : @", "Part en pourcentage : @", "El coste es @ en dólares.", "Porcentaje: @"),
    *(
        "Costo in euro: @",
        "Percentuale: @",
        "Custo em dólares: @",
        "Kosten in euro: @",
        "Aandeel in procent: @",
    ),
    *("Стоимость в рублях: @", "Доля в процентах: @", "Toplam (TL): @", "Yüzde: @", "Koszt w złotych: @"),
    *(
        "価格（円）：@",
        "费用（元）：@",
        "费用（美元）：@",
        "소비량(kWh): @",
        "العدد بالدولار: @",
        "लागत रुपये में: @",
    ),
]


IN_WORDS = [
    *(
        "Kosten in Franken: @",
        "The temperature in degrees is @.",
        "The cost: @ — in euros.",
        "Peso en kilos: @",
    ),
    *(
        "Вес в килограммах: @",
        "@ bucks",
        "Distance, in miles: @",
        "- Heat: @ (all in MWh)",
        "Power in watts: @",
    ),
    *("温度（℃）：@", "Size (GB): @", "masse en kilogrammes : @", "Das Gewicht beträgt @ Kilogramm"),
]


@pytest.mark.parametrize("message", [*BARE, *IN_WORDS])
@pytest.mark.parametrize("unit", ["count", "1"])
def test_no_unit_may_be_said_of_a_bare_number(message: str, unit: str) -> None:
    assert scan(message, unit)


COUNTED = [
    *("We found @ rows.", "@ of @ tests pass", "There are @ sites, and they use kWh meters.", "@ people"),
    *(
        "In the last hour, @ requests failed.",
        "@ users paid; the total in EUR is unknown.",
        "@ requests per second",
    ),
    *("@ files were read in Germany.", "- Tests: @\n- Errors: @", "We tested @ houses in the United States."),
    *(
        "Il y a @ maisons en France.",
        "Es gibt @ Tests.",
        "共有@行。",
        "Set $HOME for @ users",
        "@ times",
        "@ hours",
    ),
    *("Costs are in EUR. We have @ of them.", "| Rows | Heat (kWh) |\n|---|---|\n| @ | x |", "@ tokens"),
    *(
        "Ci sono @ case.",
        "We asked @ people about power and heat.",
        "Найдено @ домов.",
        "共找到@个文件",
        "@件のファイル",
    ),
    *(
        "Hay @ casas en la calle.",
        "@ घर मिले।",
        "هناك @ منازل",
        "Of the @ houses, most are warm.",
        "Page @ of @",
    ),
    *("@ | sites\n\nThe total (EUR) is unknown.", "@ | sites | The total in EUR is unknown."),
    *("Heat in kWh:\n\nThere are @ rows.", "# Heat (kWh)\n\nThe table has rows. It has @ of them."),
]


@pytest.mark.parametrize("message", COUNTED)
def test_words_for_what_is_counted_are_no_units(message: str) -> None:
    assert scan(message, "count") == []


MARKDOWN = [
    *("@\\", "| @ |\\", "see §@", "(§@)", "from @→@", "@ → @", "(default `@`) **kwargs (Any) and more"),
    *('<img src="a.png" width="@"/>', '<img alt="a" width="@" />', '<img src="a.png" style="width: @;">'),
    *(
        '<span style="display: block; text-align: center;">Figure @</span>',
        '<p style="margin-bottom: @;">x</p>',
    ),
    *(r"$\leq$ @ by @", "a number in $[@]$", "$< @$ is fine", "*both\nplaces*: @ *and\nmore*"),
]


@pytest.mark.parametrize("message", MARKDOWN)
@pytest.mark.parametrize("unit", ["kWh", "count"])
def test_markup_that_real_documents_have_changes_no_number(message: str, unit: str) -> None:
    assert scan(message, unit) == []


@pytest.mark.parametrize(
    "message",
    [
        *(
            "tokens $m$ (default @), with $h = H$ and $n'$",
            "the length for %R (default @)",
            "CVE score of @",
            "SDG @",
        ),
        *("| Volatility % | Deprecated, see the field @ |", "CentOS @ or later", "| `currency` | @ |"),
    ],
)
def test_signs_and_words_that_are_no_unit_may_stand_beside_a_count(message: str) -> None:
    assert scan(message, "count") == []


WORDS = [
    *(
        "fünfhundert",
        "fünfundzwanzig",
        "siebzehn",
        "zwei Millionen",
        "deux mille",
        "quinientos",
        "duecento",
        "ventitré",
    ),
    *(
        "cinquemila",
        "duzentos",
        "vijfhonderd",
        "eenentwintig",
        "millecento",
        "sessantotto",
        "nyolcvanöt",
        "femhundra",
        "halvtreds",
        "viisisataa",
        "pięćset",
        "dvacet",
        "пятьсот",
    ),
    *(
        "п'ятсот",
        "beş yüz",
        "πεντακόσια",
        "douăzeci",
        "ötszáz",
        "dua ratus",
        "mười",
        "पाँच",
        "خمسمائة",
        "חמישים",
    ),
]


@pytest.mark.parametrize("words", WORDS)
def test_numbers_in_words_of_many_languages_are_opt_in(words: str) -> None:
    message = f"It is {words} kWh."
    assert scan_naked_numbers(message) == []
    assert scan_naked_numbers(message, words=True)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "He did it once, due to the elf on duty.",
            "Set the fire to on.",
            "The men in the bin",
            "Dos and don'ts",
        ),
        *(
            "Das Haus und ein Garten",
            "Pass auf, acht!",
            "C'est neuf.",
            "Sei un amico",
            "In Lima in Sept",
            "Elf und ein",
        ),
    ],
)
def test_words_that_say_something_else_as_often_are_no_numbers(message: str) -> None:
    assert scan_naked_numbers(message, words=True) == []


def test_a_style_may_not_hide_a_word() -> None:
    assert scan('<span style="display: none">half</span> @')
    assert scan('<span style="margin-left:-5em">@</span>')


def test_a_number_with_its_unit_may_stand_under_one() -> None:
    assert scan("| Heat (kWh) |\n|---|\n| @ |") == []
    assert scan("Cost in EUR: @", "EUR") == []


@pytest.mark.parametrize(
    "message",
    [
        *("-<dialog>about</dialog>@", "<dialog>x</dialog> @", "-<datalist><option>x</datalist>@"),
        *("-<details>x</details>@", "-<details><summary>x</summary>y</details>@", "<template>x</template>@"),
        *(
            "<noscript>x</noscript>@",
            "<p hidden>x</p>@",
            "`a` <dialog>x</dialog> `b` @",
            "``` <dialog> @ ```",
        ),
    ],
)
def test_an_element_that_is_not_shown_hides_nothing(message: str) -> None:
    assert scan(message)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "Use `<dialog>` for @",
            "```html\n<dialog>\n\n<template>\n```\n@",
            "`` <template> ` `` @",
            "`&minus;` @",
        ),
        *(
            "<dialog open>x</dialog> @",
            "<details><summary>More</summary>\n\n@</details>",
            "<details open>@</details>",
        ),
    ],
)
def test_a_tag_in_code_is_text(message: str) -> None:
    assert scan(message) == []


@pytest.mark.parametrize(
    "mark", ["\ue000", "\uf8ff", "\U000f0000", "\U0010fffd", "\ufffc", "\u2028", "\u2029", "\ud83d"]
)
def test_marks_of_the_implementation_are_unsafe(mark: str) -> None:
    assert len(unsafe_characters(f"It is {mark} warm.")) == 1
    refused = Session().verify(f"It is {mark} {{{{claim:0}}}}", [])
    assert refused.status == "error" and refused.error.code == "UNSAFE_TEXT"
