"""What the adapters share: steps under a session, and what belongs to an object."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise

import pytest

from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit


def test_steps_run_and_end_under_their_session_which_no_reader_sees() -> None:
    session, ends = Session(), []

    def events() -> Iterator[Session | None]:
        try:
            yield kit.current_session()
            yield kit.current_session()
        finally:
            ends.append(kit.current_session())

    steps = kit.stepwise(lambda: kit.using(session), events())
    assert next(steps) is session and kit.current_session() is None
    steps.close()  # type: ignore[attr-defined]
    assert ends == [session] and kit.current_session() is None
    assert [*kit.stepwise(lambda: kit.using(session), events())] == [session] * 2
    assert [*kit.stepwise(lambda: kit.using(session), [1, 2])] == [1, 2]


def test_what_an_agent_is_asked_within_another_run_is_no_user_s_word() -> None:
    outer, inner = Session(), Session()
    kit.hear(outer, ["I have 400 m2."])
    with kit.using(outer):
        kit.hear(outer, ["For 500 m2?"])
        kit.hear(inner, ["For 500 m2?"])
    assert outer.user_texts == inner.user_texts == ["I have 400 m2."]


def test_the_same_of_async_steps() -> None:
    session, ends = Session(), []

    async def events() -> AsyncIterator[Session | None]:
        try:
            yield kit.current_session()
            await asyncio.sleep(60)
            yield None
        finally:
            ends.append(kit.current_session())

    async def read() -> None:
        steps = kit.session_steps(session, events())
        assert await anext(steps) is session and kit.current_session() is None
        await steps.aclose()  # type: ignore[attr-defined]
        assert ends == [session] and kit.current_session() is None
        steps = kit.session_steps(session, events())
        await anext(steps)
        task = asyncio.ensure_future(anext(steps))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() and ends == [session] * 2 and kit.current_session() is None

    asyncio.run(read())


def test_a_value_goes_with_its_object() -> None:
    class Owner:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            return True

    values: kit.WeakIdentityMap[int] = kit.WeakIdentityMap()
    one, other = Owner(), Owner()
    values.put(one, 1)
    values.put(one, 2)
    assert values.get(one) == 2 and values.get(other) is None
    for _ in range(100):  # objects that stand where another one stood
        owner = Owner()
        assert values.get(owner) is None
        values.put(owner, 3)
        del owner
    gc.collect()
    assert values.get(one) == 2 and len(values) == 1


def test_a_checked_answer_is_its_reader_s_own_and_goes_with_its_session() -> None:
    answers, session, other = kit.Answers(), Session(), Session()
    answers.put(session, ["a", "b"], {"heat": 1})
    answers.get("a")["heat"] = 2
    assert (
        answers.get("a") == answers.get("b") == {"heat": 1} and answers.get("c") is answers.get(None) is None
    )
    for number in range(2000):  # however many others there are at once
        answers.put(other if number % 2 else Session(), [str(number)], number)
    assert answers.get("a") == {"heat": 1} and answers.get("0") is None and answers.get("1999") == 1999
    del session
    assert answers.get("a") is None and len(answers._answers) == 20


def test_a_conversation_whose_history_was_cut_keeps_its_session() -> None:
    session = Session()
    assert kit.session_for(session, None, conversation="ada", begins=True) is session
    session.record("meter", {}, {"heat": {"value": 1, "unit": "kWh"}})
    assert kit.session_for(session, None, conversation="ada", begins=True) is session
    with pytest.raises(GLError, match="SESSION_SHARED"):
        kit.session_for(session, None, conversation="bob", begins=True)


def test_blanks_before_an_answer_are_shown_with_it() -> None:
    """They came in a piece of their own and were left out, so that all that was shown was shown again at the end."""
    stream = kit.FinalStream(Session())
    shown = [stream.feed(piece) for piece in ("\t", " ", "It is warm.", " It is dry.")]
    assert "".join(shown) == "\t It is warm. "
    verified, rest = stream.close()
    assert "".join(shown) + rest == verified.message == "\t It is warm. It is dry."


@pytest.mark.parametrize("size", [1, 2, 3, 40])
@pytest.mark.parametrize("begin", ["```json\n", "{", "{{claim:0}} {"])
def test_what_may_begin_the_answer_proper_holds_back_all_that_follows(begin: str, size: int) -> None:
    text = f"It is warm. {begin} It is dry. It is late. "
    stream = kit.FinalStream(Session())
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))
    assert shown in ("", "It is warm. ")


def test_what_the_model_cannot_mend_is_logged_for_the_developer(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(GLError), caplog.at_level("WARNING", logger="gllint_runtime"):
        kit.recorded(Session(), "search", {}, {"hits": {"value": 3, "unit": "row"}})
    [record] = caplog.records
    assert record.getMessage().startswith("The result of tool search was rejected: [UNIT_UNKNOWN] Unit 'row'")
    assert "counts" in record.getMessage()


SOURCED = ["It is warm.", "It uses 12.5 kWh.", "“Yes.”", "See:\n\n- heat: 12.5 kWh\n- site: north\n"]
UNSOURCED = ["It uses 14 kWh.", "You owe 999 EUR.", "- cold: 77 kWh\n"]


@pytest.mark.parametrize("seed", range(20))
def test_attempts_in_chunks_of_any_size_show_no_sentence_twice_and_no_unsourced_number(seed: int) -> None:
    pick = random.Random(seed)
    for _ in range(5):
        session = Session(mode="sourced")
        session.record("meter", {}, {"heat_kwh": 12.5})
        turn, shown, text = kit.Turn(kit.Gate(), session), "", None
        while text is None:
            parts = pick.sample(SOURCED, pick.randint(1, 4))
            parts[pick.randint(0, len(parts)) :] += pick.sample(UNSOURCED, pick.randint(0, 1))
            between = pick.choice([" ", "\n"])
            draft = "".join(part if part.endswith("\n") else part + between for part in parts)
            ends = sorted(pick.sample(range(len(draft)), len(draft) // 5))
            shown += "".join(turn.feed(draft[i:j]) for i, j in pairwise([0, *ends, len(draft)]))
            text = turn.text(draft)
        shown += turn.rest(text)
        assert not [part for part in UNSOURCED if part.strip() in shown]
        assert not [line for part in SOURCED for line in part.split("\n") if line and shown.count(line) > 1]
