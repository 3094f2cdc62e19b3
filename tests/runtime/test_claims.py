"""The macro syntax, and the way from a claim to a Quantity."""

from __future__ import annotations

import time

import pytest

from gllint_runtime.policy.claims import (
    HOLE,
    ClaimPathError,
    claimable_paths,
    find_macros,
    in_place,
    macro_problems,
    parse_claim_path,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("{{claim:0}}", [0]),
        ("{{claim:0}}{{claim:12}} {{claim:0}}", [0, 12, 0]),
        ("{ {{claim:3}} }", [3]),
        ("a claim: the roof leaks", []),
        ("{claimant} {claim_text} {claim} {claims}", []),
        ('{"claim": 1}', []),
        ("{{disclaimer:0}}", []),
        ("reclaim:0}}", []),
        ("{{user:0}}", []),
    ],
)
def test_well_formed(text: str, found: list[int]) -> None:
    macros = find_macros(text)
    assert [macro.index for macro in macros] == found
    assert all(macro.problem is None and text[macro.start : macro.end] == macro.text for macro in macros)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{claim:a}}", "whole number"),
        ("{{claim:-1}}", "whole number"),
        ("{{claim:1.5}}", "whole number"),
        ("{{claim:}}", "whole number"),
        ("{{claim:٣}}", "whole number"),
        ("{{claim:1e3}}", "whole number"),
        ("{{claim:0|round}}", "whole number"),
        ("{{claim:9999999999999999999}}", "whole number"),
        ("{{claim:00}}", "leading zero"),
        ("{{claim:01}}", "leading zero"),
        ("{{ claim:0 }}", "spaces"),
        ("{{claim: 0}}", "spaces"),
        ("{{claim :0}}", "spaces"),
        ("{claim:0}", "two braces"),
        ("{{claim:0}", "two braces"),
        ("{claim:0}}", "two braces"),
        ("{{{claim:0}}}", "two braces"),
        ("{{{claim:0}}", "two braces"),
        ("{{claim:0}}}", "two braces"),
        ("{{claim:0", "two braces"),
        ("claim:0}}", "two braces"),
        ("[[claim:0]]", "two braces"),
        ("{{Claim:0}}", "begin with"),
        ("{{CLAIM:0}}", "begin with"),
        ("{{claims:0}}", "begin with"),
        ("{{claim}}", "begin with"),
        ("{{claim0}}", "begin with"),
        ("{{claim[0]}}", "begin with"),
        ("{{claim.0}}", "begin with"),
        ("{{claim-0}}", "begin with"),
        ("{{claim=0}}", "begin with"),
        ("{{claim：0}}", "begin with"),
        (f"{{{{claim:{HOLE}}}}}", "not written out"),
    ],
)
def test_malformed(text: str, problem: str) -> None:
    (macro,) = find_macros(f"It uses {text} a year")
    assert macro.text == text
    assert macro.index is None
    assert macro.problem is not None
    assert problem in macro.problem


def test_what_is_wrong_between_macros_and_claims() -> None:
    macros = find_macros("{{claim:0}} {{claim:4}} {{claim:x}}")
    assert [(getattr(where, "text", where), why.split()[0]) for where, why in macro_problems(macros, 2)] == [
        ("{{claim:4}}", "Macro"),
        ("{{claim:x}}", "Macro"),
        (1, "`claims[1]`"),
    ]
    assert macro_problems(find_macros("{{claim:1}}{{claim:0}}"), 2) == []


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "{ " * 50_000, "[[" * 50_000, "{{claim:" * 10_000, "claim:0" * 20_000]
)
def test_the_search_costs_no_more_than_linear(text: str) -> None:
    text += "claim"
    started = time.perf_counter()
    find_macros(text)
    assert time.perf_counter() - started < 5  # a quadratic search takes minutes


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("$.heat", ("heat",)),
        ("$.roof.area_m2", ("roof", "area_m2")),
        ("$._a.b1", ("_a", "b1")),
        ("$.wärme", ("wärme",)),
        ("$.कि", ("कि",)),
        ("$.a²", ("a²",)),
    ],
)
def test_paths(path: str, names: tuple[str, ...]) -> None:
    assert parse_claim_path(path) == names


def test_how_long_a_path_may_be() -> None:
    assert parse_claim_path("$." + "a" * 998) == ("a" * 998,)
    with pytest.raises(ClaimPathError, match="at most 1000"):
        parse_claim_path("$." + "a" * 999)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("", "Name the field"),
        ("$", "Name the field"),
        ("$.", "Name the field"),
        ("heat", "'$.heat'"),
        (".heat", "'$.heat'"),
        ("$heat", "Write a dot after the root"),
        ("$.a-b", "Write the path"),
        ("$.a b", "Write the path"),
        ("$.heat\n", "white space: '$.heat'"),
        ("$.roofs[0]", "list elements"),
        ("$.roofs[0].area", "list elements"),
        ("$['roof']", "'$.roof'"),
        ('$.site["heat"]', "'$.site.heat'"),
        ("$['roofs'][0]", "list elements"),
        ("$.roofs.0", "list elements"),
        ("$..area", "every step"),
        ("$.*", "every step"),
    ],
)
def test_bad_paths(path: str, hint: str) -> None:
    with pytest.raises(ClaimPathError) as caught:
        parse_claim_path(path)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.heat.area", ("heat", "area")),
        ("$.rows[0].energy", ("rows", 0, "energy")),
        ("$.rows[10][2]", ("rows", 10, 2)),
        ("$.wärme[3]", ("wärme", 3)),
    ],
)
def test_paths_to_elements(path: str, steps: tuple[str | int, ...]) -> None:
    assert parse_claim_path(path, arrays=True) == steps


@pytest.mark.parametrize(
    "path", ["$[0]", "$.rows[00]", "$.rows[-1]", "$.rows[0]x", "$.rows[0].1", "$.rows.0"]
)
def test_what_is_no_path_to_an_element(path: str) -> None:
    with pytest.raises(ClaimPathError, match="or \\$\\.rows") as caught:
        parse_claim_path(path, arrays=True)
    assert "'$.rows[0].energy'" in caught.value.hint


def test_for_what_stands_in_the_place_of_a_macro() -> None:
    text = "Heat {{claim:0}}, cold {{claim:1}}."
    pieces = in_place(text, find_macros(text), lambda macro: f"<{macro.index}>")
    assert pieces == ["Heat ", "<0>", ", cold ", "<1>", "."]


@pytest.mark.parametrize(
    ("paths", "claimable"),
    [
        ([("heat",), ("roof", "area_m2"), ("कि",), ("a²",)], {}),
        ([()], {("result",): ()}),
        ([("heat-total",)], {("heat_total",): ("heat-total",)}),
        ([("roof", "net area")], {("roof", "net_area"): ("roof", "net area")}),
        ([("a.b",)], {("a_b",): ("a.b",)}),
        ([("2nd",)], {("_2nd",): ("2nd",)}),
        ([("",)], {("_",): ("",)}),
        # Where two would be one, or one is another's own, neither can be claimed so.
        ([("p q",), ("p-q",), ("r-s",)], {("r_s",): ("r-s",)}),
        ([("x-y",), ("x_y",)], {}),
        # Elements have no path here; the others have theirs all the same.
        ([("rows", 0, "net area"), ("net area",)], {("net_area",): ("net area",)}),
    ],
)
def test_by_which_path_a_quantity_can_be_claimed(
    paths: list[tuple[str | int, ...]], claimable: dict[tuple[str, ...], tuple[str | int, ...]]
) -> None:
    assert claimable_paths(paths) == claimable
