"""What a reader sees of a message, and where in the message it stands."""

from __future__ import annotations

import pytest

from gllint_runtime.policy.rendered_text import View

SHOWN = [
    ("`<b>` `<i>` <u>`<s>`", "<b> <i> <s>"),
    ("**warm** and _cold_", "warm and cold"),
    ("a*b*c", "abc"),
    ("2 * 3", "2 * 3"),
    ("\\* a \\_", "* a _"),
    ("\\times \\pm \\minus", "× ± −"),
    ("\\timesx", "\\timesx"),
    ("a ~ b", "a  b"),
    ("~~a~~", "a"),
    ("`a`", "a"),
    ("``a ` b``", "a  b"),
    ("[text](http://x)", "text"),
    ("[text][ref]", "text"),
    ("![pic](x.png)", "pic"),
    ("note[^1] a", "note a"),
    ("[^1]: a", "[^1]: a"),
    ("a <!-- b --> c", "a  c"),
    ("a <!-- b", "a "),
    ("a <!--> b", "a  b"),
    ("a <!-- b -- c --> d", "a  d"),
    ("a <!--- b --!> c", "a  c"),
    ("a <? b > c", "a  c"),
    ("a </ b> c", "a  c"),
    ("a<br>b", "a\nb"),
    ("a<BR/>b", "a\nb"),
    ("<p>a</p>b", "\u2029a\u2029b"),
    ("x<sup>2</sup>", "x^2"),
    ("x<sup>[1]</sup>", "x[1]"),
    ("x<sup></sup>", "x"),
    ("<b>a</b>", "a"),
    ('<b title="x > y">a</b>', "a"),
    ("<b title='x > y'>a</b>", "a"),
    ('<b x="a', '<b x="a'),
    ('<b x="y > a', " a"),
    ("a < b", "a < b"),
    ("a <b", "a <b"),
    ("<img alt='pic' src=x>b", " pic b"),
    ("<img src=x>b", "b"),
    ("&minus; &amp; &#53; &#x35; &nope;", "− & 5 5 &nope;"),
    ("&half;", "½"),
    ("&amp", "&"),
    ("a\u200bb", "ab"),
    ("a\xadb", "ab"),
    ("−", "−"),
    ("a\\\nb", "a\nb"),
    ("a\\ b", "a b"),
    ("a\\,b", "ab"),
    ("$x$", "$x$"),
    ("$a \ue000$", "a \ue000"),
    ("$a \ue000$ and $5", "a \ue000 and $5"),
    ("`<b>` c", "<b> c"),
    ("`a &minus; b`", "a &minus; b"),
    ("```\n<b>\n\n</b>\n```", "\n<b>\n\n</b>\n"),
    ("`<b>\n\n</b>`", "\n\n"),
    ("`\ue000<b>`", "\ue000"),
    ("`a` <b>`<i>`</b>", "a <i>"),
    ("``<b>` <i>`` x", "<b> <i> x"),
    ("<details>a</details>b", "b"),
    ("<details open>a</details>b", "\u2029a\u2029b"),
    ("<details>\ue000</details>b", "\u2029\ue000\u2029b"),
    ("<details>a", "\u2029a"),
    ("{}a", "a"),
    ("$$a$$", "a"),
    ("<a:b>c", "c"),
    ('<b style="color:red">x</b>', "x"),
    ("<img style='width:5px'>x", "x"),
    ("`<b hidden>`", "<b hidden>"),
    ("<!-- <b hidden> -->", ""),
]


@pytest.mark.parametrize(("message", "shown"), SHOWN)
def test_what_a_reader_sees(message: str, shown: str) -> None:
    view = View(message)
    assert view.text == shown
    for place, char in enumerate(message):
        if (seen := view.find(place)) is not None:
            assert view.text[seen] == char and view.span(seen, seen + 1) == (place, place + 1)


@pytest.mark.parametrize(
    ("message", "numerals"),
    [
        ("&minus; &amp; &#53; &#x35; &nope;", ["&#53;", "&#x35;"]),
        ("&half; a", ["&half;"]),
        ("5 a", []),
        ("`<b> &#53;`", []),
    ],
)
def test_entities_that_show_a_number(message: str, numerals: list[str]) -> None:
    assert [message[start:end] for start, end in View(message).numerals] == numerals


@pytest.mark.parametrize(
    ("message", "hiding"),
    [
        ("a <script>b</script>", ["<script>"]),
        ('a <b style="display:none">b</b>', ['<b style="display:none">']),
        ('a <b style="color:red">b</b>', []),
        ("a <b hidden>b</b>", ["<b hidden>"]),
        ("a <b title='hidden'>b</b>", []),
        ("a <img style='width:5px'>b", []),
        ("a `<b hidden>`", []),
        ("a <!-- <b hidden> -->", []),
    ],
)
def test_tags_that_hide(message: str, hiding: list[str]) -> None:
    assert [message[start:end] for start, end in View(message).hiding] == hiding


def test_where_what_is_seen_stands() -> None:
    message = "a <b>c</b> &minus; d"
    view = View(message)
    assert view.text == "a c − d"
    assert [view.find(message.index(part)) for part in ("a", "<b>", "c", "&minus;", "d")] == [
        0,
        None,
        2,
        None,
        6,
    ]
    start, end = view.span(2, 5)
    assert message[start:end] == "c</b> &minus;"
    assert View("<b>a</b>").find(0) is None
