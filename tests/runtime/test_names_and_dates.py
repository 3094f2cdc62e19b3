"""Dates, and the words for moving them, whatever their form; identifiers, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from gllint_runtime.execution import names
from gllint_runtime.execution.dates import Day, dates, months, moved, shifts, weekday, weekdays
from gllint_runtime.execution.names import Names


def time(hour: int, minute: int = 0) -> Day:
    return None, -1 - hour, minute


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("2024-05-20", [(2024, 5, 20)]),
        ("2024/5/6", [(2024, 5, 6)]),
        ("2024-12-31", [(2024, 12, 31)]),
        ("2024-01-01", [(2024, 1, 1)]),
        ("2024-13-01", []),
        ("2024-00-01", []),
        ("2024-04-30", [(2024, 4, 30)]),
        ("2024-04-31", []),
        ("2024-05-00", []),
        ("2024-01-32", []),
        ("2024-02-29", [(2024, 2, 29)]),
        ("2023-02-29", []),
        ("1900-02-29", []),
        ("2000-02-29", [(2000, 2, 29)]),
        ("29 February", [(None, 2, 29)]),
        ("30 February", []),
        ("5/6/2024", [(2024, 5, 6), (2024, 6, 5)]),
        ("5/5/2024", [(2024, 5, 5)]),
        ("20/5/2024", [(2024, 5, 20)]),
        ("5/6", [(None, 5, 6), (None, 6, 5)]),
        ("May 20", [(None, 5, 20)]),
        ("Sept. 1st, 2024", [(2024, 9, 1)]),
        ("the 20th of December 2024", [(2024, 12, 20)]),
        ("3 pm", [time(15)]),
        ("3:30 am", [time(3, 30)]),
        ("12 am", [time(0)]),
        ("12 p.m", [time(12)]),
        ("1 pm", [time(13)]),
        ("13 pm", []),
        ("0 am", []),
        ("3 in the afternoon", [time(15)]),
        ("12 in the afternoon", [time(12)]),
        ("11 in the evening", [time(23)]),
        ("9 o'clock in the morning", [time(9)]),
        ("14:05", [time(14, 5)]),
        ("00:00:59", [time(0)]),
        ("23:59", [time(23, 59)]),
        ("24:00", []),
        ("12:60", []),
    ],
)
def test_a_date_or_a_time_in_all_its_readings(text: str, readings: list[Day]) -> None:
    ((start, end, actual),) = dates(text)
    assert list(actual) == readings
    assert text[start:end].lstrip("the ") == text.lstrip("the ")


def test_dates_stand_in_order_and_none_in_another() -> None:
    text = "On 2024-05-20T15:00 and 3 pm, by 20 Sep.May 5"
    places = dates(text)
    assert [text[place.start : place.end] for place in places] == [
        "2024-05-20",
        "15:00",
        "3 pm",
        "20 Sep.",
        "May 5",
    ]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("the next day", {1}),
        ("the previous day", {-1}),
        ("tomorrow", {1}),
        ("yesterday", {-1}),
        ("the day after", {1}),
        ("the day before", {-1}),
        ("the day after tomorrow", {1, 2}),
        ("the day before yesterday", {-1, -2}),
        ("two days later", {2}),
        ("12 days ago", {-12}),
        ("a week later", {7}),
        ("three weeks earlier", {-21}),
        ("for three nights", {3}),
        ("for a week", {7}),
        ("in 5 days", {5}),
        ("back two days", {2, -2}),
        ("up by one day", {1, -1}),
        ("a meeting", set()),
    ],
)
def test_words_move_a_date_by_days(text: str, days: set[int]) -> None:
    assert shifts(text) == days


@pytest.mark.parametrize(
    ("day", "shift", "result"),
    [
        ((2024, 2, 28), 2, (2024, 3, 1)),
        ((2024, 1, 1), -1, (2023, 12, 31)),
        ((None, 5, 20), 1, None),
        (time(15), 1, None),
        ((9999, 12, 31), 1, None),
        ((0, 5, 20), 1, None),
    ],
)
def test_a_day_of_a_known_year_is_moved(day: Day, shift: int, result: Day | None) -> None:
    assert moved(day, shift) == result


def test_days_of_the_week() -> None:
    assert weekdays("On Monday, sunday or wednesday; a sunday-school") == {0, 2, 6}
    assert [weekday(day) for day in ((2023, 4, 29), (None, 4, 29), time(3), (0, 4, 29))] == [5] + [None] * 3


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("since July 2022", [(2022, 7, 1), (2022, 7, 31)]),
        ("Feb. of 2023", [(2023, 2, 1), (2023, 2, 28)]),
        ("February 2024", [(2024, 2, 1), (2024, 2, 29)]),
        ("2023-01", [(2023, 1, 1), (2023, 1, 31)]),
        ("2023-12", [(2023, 12, 1), (2023, 12, 31)]),
        ("2023-13", []),
        ("2023-00", []),
        ("2023-04-05", []),
        ("May 20, 2024", []),
    ],
)
def test_a_month_with_its_year_begins_and_ends(text: str, ends: list[Day]) -> None:
    assert [*months(text)] == ends


# ---------------------------------------------------------------------------------------------- identifiers


@pytest.mark.parametrize(
    ("kinds", "user", "text", "expected"),
    [
        # Dates: without their year they are of any that was spoken of.
        ("dates", "On 2024-05-20", "May 20", {"May 20": "user"}),
        ("dates", "On 2024-05-20", "May 21", {"May 21": None}),
        ("dates", "On May 20", "2024-05-20", {"2024-05-20": "user"}),
        ("dates", "On May 20. It is 2023-01-02 now", "2023-05-20", {"2023-05-20": "user"}),
        ("dates", "On May 20. It is 2023-01-02 now", "2024-05-20", {"2024-05-20": None}),
        ("dates", "On 3/4/2024", "3 April 2024", {"3 April 2024": "user"}),
        ("dates", "On 3/4/2024", "4 March 2024", {"4 March 2024": "user"}),
        ("dates", "On 3/4/2024", "4 April 2024", {"4 April 2024": None}),
        ("dates", "In ٢٠٢٤-٠٥-٢٠", "2024-05-20", {"2024-05-20": "user"}),
        # Moved dates.
        ("dates", "On May 20, or the next day", "May 21", {"May 21": None}),
        ("dates", "On 2024-05-20, or the next day", "2024-05-21", {"2024-05-21": "user"}),
        ("dates", "On 2024-05-20, or the next day", "2024-05-19", {"2024-05-19": None}),
        ("dates", "2023-04-28, on Saturday", "2023-04-29", {"2023-04-29": "user"}),
        ("dates", "2023-04-29, on Saturday", "2023-05-06", {"2023-05-06": "user"}),
        ("dates", "2023-04-29, on Saturday", "2023-05-13", {"2023-05-13": None}),
        ("dates", "2023-04-25, on Saturday", "2023-04-28", {"2023-04-28": None}),
        ("dates", "On Saturday, at 3 pm", "0000-05-20", {"0000-05-20": None}),
        ("dates", "Since July 2022", "2022-07-31", {"2022-07-31": "user"}),
        # Identifiers: as they stand, but for case and signs; a number in one that is long enough.
        ("identifiers", "Fly HAT136", "hat-136 or HAT137", {"hat-136": "user", "HAT137": None}),
        ("identifiers", "My card_9725", "9725", {"9725": "user"}),
        ("identifiers", "My card_972", "972", {}),
        ("identifiers", "My 9725", "9725", {"9725": "user"}),
        ("identifiers", "My card_9725", "card", {}),
        ("identifiers", "My gift card 6276", "card_6276", {"card_6276": "user"}),
        ("identifiers", "My gift card 627", "card_627", {"card_627": None}),
        ("identifiers", "It has no number", "A7", {"A7": None}),
        ("identifiers", "", "HAT136 500kWh 3rd 12AB 12ABC 12abc 7", {"HAT136": None, "12ABC": None}),
        # Both: a date in an identifier is one.
        ("dates identifiers", "", "2024-05-20 HAT136", {"2024-05-20": None, "HAT136": None}),
        ("dates identifiers", "", "HAT136 2024-05-20", {"HAT136": None, "2024-05-20": None}),
        ("dates identifiers", "", "ID-2024-05-20", {"2024-05-20": None}),
        ("dates identifiers", "", "2024/5/6abc", {"2024/5/6": None}),
        ("dates identifiers", "", "A7 or 3 pm, B8", {"A7": None, "3 pm": None, "B8": None}),
        # What nobody asked for is none.
        ("dates", "HAT136", "HAT136", {}),
        ("identifiers", "2024-05-20", "May 20", {}),
    ],
)
def test_the_names_of_a_text_and_where_they_came_from(
    kinds: str, user: str, text: str, expected: dict[str, str | None]
) -> None:
    heard: Names[str] = Names(kinds.split())
    heard.learn(user, "user", is_user=True)
    actual = [*heard.names(text)]
    assert {name.text: name.origin for name in actual} == expected
    assert [text[name.start : name.end] for name in actual] == [*expected]


def test_who_is_no_user_moves_no_date_and_names_no_whole_month() -> None:
    heard: Names[str] = Names(["dates"])
    heard.learn("On 2024-05-20, or the next day; since July 2022", "tool")
    assert {name.text: name.origin for name in heard.names("2024-05-20 2024-05-21 2022-07-01")} == {
        "2024-05-20": "tool",
        "2024-05-21": None,
        "2022-07-01": None,
    }


def test_words_are_remembered_where_identifiers_are_asked_for() -> None:
    for kinds, expected in ((["dates"], None), (["identifiers"], "user")):
        heard: Names[str] = Names(kinds)
        heard.learn("Fly HAT136", "user", is_user=True)
        assert heard.knows("HAT136") == expected


def test_a_part_of_a_word_is_known_where_it_is_a_long_number() -> None:
    heard: Names[str] = Names(["identifiers"])
    heard.learn("Use card_972 and card_9725", "user")
    assert {text: heard.knows(text) for text in ("9725", "972", "card")} == {
        "9725": "user",
        "972": None,
        "card": None,
    }


def test_of_a_name_whoever_said_it_first_is_the_origin_and_six_words_are_read_with_a_number() -> None:
    heard: Names[str] = Names(["identifiers"])
    heard.learn("a b c d e f g 6276644", "user")
    heard.learn("g 6276644", "tool")
    known: dict[str, Any] = {text: heard.knows(text) for text in ("g6276644", "bcdefg6276644")}
    assert known == {"g6276644": "user", "bcdefg6276644": "user"}
    assert heard.knows("abcdefg6276644") is None


def test_only_so_many_names_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_MOST", 2)
    heard: Names[str] = Names(["identifiers"])
    for text in ("A1", "B2", "C3"):
        heard.learn(text, "user")
    assert [heard.knows(text) for text in ("A1", "B2", "C3")] == ["user", "user", None]
