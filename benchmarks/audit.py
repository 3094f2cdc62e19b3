"""How gllint and tools of the same purpose judge one public set of recordings.

``python benchmarks/audit.py historical_trajectories/gpt-4o-airline.json`` takes a file of tau-bench
(https://github.com/sierra-research/tau-bench) and prints a table of Markdown. Each tool judges each answer that has a
number, with all that was said and returned before it; then copies of the answers that it accepted, in each of which
one number of three digits or more is wrong. A tool that is not installed is left out
(``pip install quantity-guard figured factguard-check corroborate groundlens``).

No one has labelled the answers: a rejection of an unchanged one is a false alarm or a mistake of the agent.
"""

from __future__ import annotations

import copy
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any, NamedTuple, Protocol

Message = Mapping[str, Any]
# No part of a code, a date, a time or a list marker; one with a currency sign has it as a group.
_LONG = re.compile(r"(?<![\w.,:#/+-])(\$?)(\d{3,}(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?)(?![\w%:/-]|[.,]\d)")
_SEED = 60


class Judge(Protocol):
    """A tool that is given a conversation message by message."""

    def hear(self, message: Message, tool: str, arguments: Any) -> None:
        """Take in what was said or returned."""

    def accepts(self, answer: str) -> bool:
        """Whether no number of an answer is rejected; the answer is not taken in."""


class Gllint:
    """A session in sourced mode, which gives the verdicts of ``gllint audit``."""

    package = "gllint"

    def __init__(self) -> None:
        from gllint_runtime import Session

        self._session = Session(mode="sourced")

    def hear(self, message: Message, tool: str, arguments: Any) -> None:
        text = str(message.get("content") or "")
        match message["role"]:
            case "user":
                self._session.user(text)
            case "system":
                self._session.prompt(text)
            case "tool":
                self._session.record(tool, arguments, _data(text))

    def accepts(self, answer: str) -> bool:
        return self._session.verify(answer, []).status == "success"


class QuantityGuard:
    """Its ledger of outputs, all without a unit: the recordings have none."""

    package = "quantity-guard"

    def __init__(self) -> None:
        from quantity_guard import Q, session

        self._quantity, self._context = Q, ""
        self._manager = session()
        self._ledger = self._manager.__enter__()

    def hear(self, message: Message, tool: str, arguments: Any) -> None:
        text = str(message.get("content") or "")
        if message["role"] != "tool":
            self._context += f"\n{text}"
            return
        for path, value in _numbers(_data(text)):
            self._ledger.record(tool, "output", path, self._quantity(value, "dimensionless"))

    def accepts(self, answer: str) -> bool:
        return bool(self._ledger.audit_answer(answer, context=self._context).ok)


class Figured:
    """Its monitor of a run, with the checks of the assistant's text."""

    package = "figured"

    def __init__(self) -> None:
        from figured.agents import RunMonitor

        self._monitor = RunMonitor()

    def hear(self, message: Message, tool: str, arguments: Any) -> None:
        text = str(message.get("content") or "")
        match message["role"]:
            case "user":
                self._monitor.user(text)
            case "system":
                self._monitor.system(text)
            case "tool":
                self._monitor.before_call(tool, arguments)
                self._monitor.tool_result(tool, text)

    def accepts(self, answer: str) -> bool:
        checks = copy.deepcopy(self._monitor).assistant(answer)
        return all(check.status != "unsourced" for check in checks)


class _Texts:
    """All that was said or returned, as texts."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def hear(self, message: Message, tool: str, arguments: Any) -> None:
        if message["role"] != "assistant":
            self._texts.append(str(message.get("content") or ""))


class Corroborate(_Texts):
    package = "corroborate"

    def accepts(self, answer: str) -> bool:
        import corroborate

        return bool(corroborate.check_answer("", self._texts, answer).ok())


class Groundlens(_Texts):
    package = "groundlens"

    def accepts(self, answer: str) -> bool:
        import groundlens

        return groundlens.verify(answer, self._texts).decision != "FAIL"


class Factguard:
    """Its checker of a text against data; what was said is given as a list of its numbers."""

    package = "factguard-check"

    def __init__(self) -> None:
        self._data: dict[str, Any] = {}

    def hear(self, message: Message, tool: str, arguments: Any) -> None:
        text = str(message.get("content") or "")
        if message["role"] == "tool":
            self._data[f"{tool}_{len(self._data)}"] = _data(text)
        elif message["role"] != "assistant":
            said = [float(number.replace(",", "")) for _, number in _LONG.findall(text)]
            self._data[f"said_{len(self._data)}"] = said + [
                int(one) for one in re.findall(r"\b\d{1,2}\b", text)
            ]

    def accepts(self, answer: str) -> bool:
        from factguard import Checker

        return not Checker(self._data).check(answer).flagged


JUDGES = (Gllint, QuantityGuard, Figured, Groundlens, Factguard, Corroborate)


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _numbers(value: Any, path: str = "$") -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _numbers(inner, f"{path}[{place}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


# ----------------------------------------------------------------------------------------- wrong copies


class Copy(NamedTuple):
    """An answer in which one number is wrong, and in which way."""

    kind: str
    text: str


def copies(answer: str, values: Sequence[float], chance: random.Random) -> Iterator[Copy]:
    """Copies of an answer with one wrong number each; ``values`` are all that was returned before."""
    matches = [*_LONG.finditer(answer)]
    if not matches:
        return
    match = chance.choice(matches)
    number = float(match[2].replace(",", ""))

    def replaced(text: str) -> str:
        return f"{answer[: match.start(2)]}{text}{answer[match.end(2) :]}"

    known = {*values, *(float(one[2].replace(",", "")) for one in matches)}
    places = [place for place, digit in enumerate(match[2]) if digit.isdigit()]
    for _ in range(20):
        place = chance.choice(places[1:])
        digit = chance.choice([one for one in "0123456789" if one != match[2][place]])
        text = match[2][:place] + digit + match[2][place + 1 :]
        if float(text.replace(",", "")) not in known:
            yield Copy("a digit is another", replaced(text))
            break
    if number * 10 not in known:
        yield Copy("ten times as large", replaced(f"{number * 10:.15g}"))
    others = sorted({value for value in values if abs(value) >= 100 and value != number})
    if others:
        yield Copy("another number of the same outputs", replaced(f"{chance.choice(others):.15g}"))
    if match[1]:
        text = f"{answer[: match.start()]}€{answer[match.start(2) :]}"
        yield Copy("another currency", text)


# ------------------------------------------------------------------------------------------- the table


class Turn(NamedTuple):
    """A message, with the call to which it is the result."""

    message: Message
    tool: str
    arguments: Any


def turns(conversation: Message) -> Iterator[Turn]:
    """The messages of a run of tau-bench."""
    calls: dict[str, tuple[str, Any]] = {}
    for message in conversation["traj"]:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = call["function"]["name"], _data(call["function"]["arguments"])
        tool, arguments = calls.get(str(message.get("tool_call_id")), ("", {}))
        yield Turn(message, message.get("name") or tool, arguments)


def judged(judge: Callable[[], Judge], conversations: Sequence[Message]) -> Mapping[str, tuple[int, int]]:
    """How many answers were rejected, of how many: unchanged ones, and copies in each way."""
    counts: dict[str, tuple[int, int]] = {}

    def count(kind: str, *, is_rejected: bool) -> None:
        rejected, total = counts.get(kind, (0, 0))
        counts[kind] = rejected + is_rejected, total + 1

    for number, conversation in enumerate(conversations):
        chance, values, own = random.Random(_SEED + number), [], judge()
        for message, tool, arguments in turns(conversation):
            text = str(message.get("content") or "")
            if message["role"] == "assistant" and any(map(str.isdigit, text)):
                wrong = [*copies(text, values, chance)]
                is_accepted = own.accepts(text)
                count("unchanged", is_rejected=not is_accepted)
                for kind, altered in wrong if is_accepted else ():
                    count(kind, is_rejected=not own.accepts(altered))
            elif message["role"] == "tool":
                values += [value for _, value in _numbers(_data(text))]
            own.hear(message, tool, arguments)
    return counts


def main(path: str) -> None:
    """Print the table."""
    conversations = json.loads(Path(path).read_text(encoding="utf-8"))
    rows, kinds = [], ["unchanged"]
    for judge in JUDGES:
        if (
            util.find_spec(
                {"factguard-check": "factguard"}.get(judge.package, judge.package.replace("-", "_"))
            )
            is None
        ):
            print(f"{judge.package} is not installed", file=sys.stderr)
            continue
        began = time.process_time()
        counts = judged(judge, conversations)
        cost = (time.process_time() - began) / sum(total for _, total in counts.values())
        kinds += [kind for kind in counts if kind not in kinds]
        rows.append((f"{judge.package} {metadata.version(judge.package)}", counts, cost))
    print(f"| rejected of | {' | '.join(kinds)} | ms an answer |\n|---|{'--:|' * (len(kinds) + 1)}")
    for name, counts, cost in rows:
        cells = [
            f"{rejected} of {total} ({rejected / total:.0%})"
            for rejected, total in (counts.get(kind, (0, 0)) for kind in kinds)
        ]
        print(f"| {name} | {' | '.join(cells)} | {1000 * cost:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1])
