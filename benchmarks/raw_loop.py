"""What the benches of raw loops share: an API on an address of this machine, and the loop around a provider's client.

Each provider says how it is asked, and how what was said goes into the next request.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol

from adoption import Bench, meter, note

from gllint_runtime import ClaimedText, GLError, Session
from gllint_runtime.adapters import kit

ADOPTING = """
from gllint_runtime import GLError, Session
from gllint_runtime.adapters import kit
session = Session()
told = kit.tool_result(session, call.name, function, arguments, tool_call_id=call.id)
try:
    text = kit.check_final(session, text).message
except GLError as error:
    messages.append({"role": "user", "content": session.repair_hint(error)})
"""  # what is added to any of these loops
PARAMETERS = {"type": "object", "properties": {"site": {"type": "string"}}, "required": ["site"]}


class Call(NamedTuple):
    """A call of a tool."""

    call_id: str
    name: str
    arguments: Any


class Provider(Protocol):
    """A provider's client: what it is asked with, and what it answers."""

    def ask(self, messages: list[Any], streams: bool) -> Iterator[str | Call]:
        """Ask the model; its texts as they come, and its calls. What it said is added to the messages."""

    def tell(self, messages: list[Any], call: Call, result: str) -> None:
        """Add the result of a call to the messages."""

    def say(self, messages: list[Any], text: str) -> None:
        """Add what the user says to the messages."""


class Api:
    """An API that answers what ``reply`` makes of a request: JSON, or the events of a stream as bytes."""

    def __init__(self, reply: Callable[[Any, str], Any], mime: str = "text/event-stream") -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = reply(body, self.path)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", mime if answer is data else "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"


def sse(events: list[tuple[str | None, Any]]) -> bytes:
    """Events by their names as a stream."""
    return "".join(
        f"event: {name}\ndata: {json.dumps(data)}\n\n" if name else f"data: {json.dumps(data)}\n\n"
        for name, data in events
    ).encode()


def pieces(text: str) -> list[str]:
    """A text by five letters."""
    return [text[i : i + 5] for i in range(0, len(text), 5)]


def _turn(provider: Provider, session: Session | None, streams: bool, read: Callable[[Any, str], str]) -> str:
    """One turn of the loop; without a session nothing is checked."""
    messages: list[Any] = []
    provider.say(messages, "How much?")
    shown, retries = "", 2
    while True:
        stream = kit.FinalStream(session) if session is not None and streams else None
        text, calls, released = "", [], ""
        for part in provider.ask(messages, streams):
            if isinstance(part, Call):
                calls.append(part)
                continue
            text += part
            if stream is not None and not shown:
                released += stream.feed(part)
        shown = shown or released
        for call in calls:
            if session is None:
                result = json.dumps(meter(**call.arguments))
            else:
                result = kit.tool_result(session, call.name, meter, call.arguments, tool_call_id=call.call_id)
            provider.tell(messages, call, result)
        if calls:
            continue
        if session is None:
            return text
        try:
            return shown + kit.rest_of(read(session, text), shown)
        except GLError as error:
            if not retries:
                return shown + kit.rest_of(kit.REFUSAL, shown)
            retries -= 1
            provider.say(messages, session.repair_hint(error))


def bench_of_loop(name: str, provider: Provider, scripted: list[str]) -> Bench:
    """The bench of a loop; the model says what stands in ``scripted``, behind a call of the meter."""
    from pydantic import BaseModel

    class Answer(BaseModel):
        note: ClaimedText

    def run(answer: str, *, gated: bool = True, streams: bool = False, read: Any = None) -> str:
        scripted[:] = [answer]
        return _turn(provider, Session() if gated else None, streams, read or _message)

    def structured(answer: str) -> str:
        data = json.dumps(note(answer))
        return run(data, read=lambda session, text: str(kit.structure(session, Answer, text).note))

    ways = {"plain": run, "streamed": lambda answer: run(answer, streams=True), "structured": structured}
    return Bench(name, ADOPTING, lambda answer: run(answer, gated=False), ways)


def _message(session: Session, text: str) -> str:
    return kit.check_final(session, text).message
