"""A loop of your own. Needs the package gllint_runtime."""

import json
from typing import Any

from adoption import Bench, meter, note

from gllint_runtime import ClaimedText, Session
from gllint_runtime.adapters import kit

ADOPTING = """
from gllint_runtime import Session
session = Session()
call_id = session.record("meter", arguments, output)
verified = session.check(final["message"], final["claims"])
"""


def bench() -> Bench:
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    def recorded() -> Session:
        session = Session()
        session.record("meter", {"site": "north"}, meter())
        return session

    def bare(answer: str) -> str:
        meter()
        return answer

    def plain(answer: str) -> str:
        final: Any = json.loads(answer) if answer.startswith("{") else {"message": answer, "claims": []}
        return recorded().check(final["message"], final["claims"]).message

    def streamed(answer: str) -> str:
        stream = kit.FinalStream(recorded())
        shown = "".join(stream.feed(letter) for letter in answer)
        return shown + stream.close()[1]

    def structured(answer: str) -> str:
        return str(kit.structure(recorded(), Answer, note(answer)).note)

    return Bench(
        "a loop of your own", ADOPTING, bare, {"plain": plain, "streamed": streamed, "structured": structured}
    )
