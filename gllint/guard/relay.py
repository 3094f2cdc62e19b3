"""Moving messages between a client on standard input and output and a server: a process, or an address.

Whatever happens to the server, each of the client's requests gets an answer, and no process is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from io import RawIOBase
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from gllint.guard.decimals import float_of, has_decimals, with_decimals, with_numbers
from gllint.guard.exchange import Guard, Sent, Side, error_answer
from gllint.guard.transcript import Transcript

LONGEST = 128_000_000  # bytes of one message
_MOST_GARBAGE = 100  # lines in a row that are no message
_DEEPEST = 200  # nested brackets in one message
GRACE = 2.0  # seconds that a server has to end by itself
_LAST = 10.0  # seconds for the answers to a client that says nothing more
_TICK = 0.5
_SHORT = 0.02
_CHUNK = 1 << 16


class ServerTrouble(Exception):
    """The server is gone, or of no use: one sentence for people."""


def server_trouble(error: BaseException) -> ServerTrouble:
    """Return what went wrong, out of whatever groups it comes in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ServerTrouble):
        return error
    return ServerTrouble(f"the server cannot be reached: {type(error).__name__}: {error}")


class Client(NamedTuple):
    """Where the messages of a client come from, each a line, and how it is sent one: its line, and what that says."""

    lines: AsyncIterator[bytes]
    send: Callable[[bytes, Any], Awaitable[None]]


class Relay:
    """One client and one server. ``say`` receives what is reported on standard error."""

    def __init__(
        self,
        guard: Guard,
        transcript: Transcript,
        say: Callable[[str], None],
        timeout: float,
        client: Client,
        session: str | None = None,
    ) -> None:
        """Make a relay; ``timeout`` is the seconds after which a silent server counts as gone."""
        self._guard, self._transcript, self._say, self._timeout = guard, transcript, say, timeout
        self._client, self._session = client, session
        self._to_server: Callable[[bytes, Any], Awaitable[None]] | None = None
        self._heard_at = time.monotonic()

    # ------------------------------------------------------------------------------------------- running

    async def run(self, connect: Callable[[], contextlib.AbstractAsyncContextManager[Any]]) -> None:
        """Relay until the client disconnects. Raises :class:`ServerTrouble` if the server ends first."""
        try:
            await self._relay(connect)
        except (ServerTrouble, BaseExceptionGroup) as error:
            trouble = server_trouble(error)
            await self._fail_pending(str(trouble))
            raise trouble from None

    async def _relay(self, connect: Callable[[], contextlib.AbstractAsyncContextManager[Any]]) -> None:
        """Relay messages until the client or the server ends, or the server is silent for too long."""
        async with connect() as (receive, send):
            self._to_server = send
            from_client = asyncio.create_task(self._from_client())
            tasks = {
                from_client,
                asyncio.create_task(self._from_server(receive)),
                asyncio.create_task(self._watch()),
            }
            try:
                done, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if from_client in done and from_client.exception() is None:
                    done |= await self._drained(running)
                for task in done:
                    if (error := task.exception()) is not None:
                        raise error
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _drained(self, running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Wait until the client's last requests are answered, for a short time; return the tasks that ended
        meanwhile.
        """
        until = time.monotonic() + min(self._timeout, _LAST)
        done: set[asyncio.Task[None]] = set()
        while self._guard.pending and not done and time.monotonic() < until:
            done, _ = await asyncio.wait(running, timeout=_SHORT, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            await self._fail_pending("the server has not answered before the client ended")
        return done

    async def _fail_pending(self, text: str) -> None:
        for number in self._guard.give_up():
            answer = error_answer(number, text)
            await self._to_client(json.dumps(answer).encode(), answer)

    async def _watch(self) -> None:
        """When the server has been silent for ``timeout`` seconds, answer the client's requests with an error.

        The server is then told that they are cancelled.
        """
        while True:
            await asyncio.sleep(_TICK)
            if not self._guard.pending:
                self._heard_at = time.monotonic()
            elif time.monotonic() - self._heard_at > self._timeout:
                text = f"the server has said nothing for {self._timeout:g} s"
                self._say(text)
                request_ids = self._guard.pending  # none are pending after the next line
                await self._fail_pending(text)
                for request_id in request_ids:  # behind the answers: the server may take nothing, either
                    cancellation = _cancellation(request_id)
                    await self._forward(json.dumps(cancellation).encode(), cancellation)

    # ------------------------------------------------------------------------------------- both directions

    async def _from_client(self) -> None:
        """Read lines of the client, judge each, and forward what remains."""
        async for line in self._client.lines:
            line, message, is_read = parsed(line)
            if not is_read:  # the server may be able to read it, and its answer would pass unchecked
                self._say(f"a line from the client was not forwarded to the server: {_UNREADABLE}")
                error = error_answer(None, _UNREADABLE)
                await self._to_client(json.dumps(error).encode(), error)
                continue
            if is_too_deep(line, message):
                self._say(f"a message from the client was not forwarded to the server: {_TOO_DEEP}")
                for error in _refusals(message, of_requests=True):
                    await self._to_client(json.dumps(error).encode(), error)
                continue
            self._heard_at = time.monotonic() if not self._guard.pending else self._heard_at
            await self._send(line, message, through(message, self._guard.from_client))

    async def _from_server(self, receive: AsyncIterator[bytes]) -> None:
        """Read lines of the server, judge each, and forward what remains. Raises ServerTrouble when the server ends."""
        garbage = 0
        async for line in receive:
            self._heard_at = time.monotonic()
            if not line.strip():
                continue
            line, message, is_read = parsed(line)
            if not is_read or not isinstance(message, (dict, list)):
                garbage += 1
                if garbage <= 3:
                    self._say(f"the server wrote a line that is not a message: {_start(line)}")
                if garbage >= _MOST_GARBAGE:
                    raise ServerTrouble("the server writes lines that are not messages")
                continue
            garbage = 0
            if is_too_deep(line, message):
                self._say(f"a message from the server was not forwarded to the client: {_TOO_DEEP}")
                for error in _refusals(message, of_requests=False):
                    data = json.dumps(error).encode()
                    await self._send(data, error, self._guard.from_server(error))
                continue
            await self._send(line, message, through(message, self._guard.from_server))
        raise ServerTrouble("the server has ended")

    async def _send(self, line: bytes, original: Any, messages: list[Sent]) -> None:
        """Send the judged messages to their receivers, and record them in the transcript."""
        for sent in messages:
            data = encoded(line, original, sent.message)
            if sent.to == "server":
                self._keep("client", sent.message)
                await self._forward(data, sent.message)
            else:
                if sent.message is not original and original is not None and isinstance(original, dict):
                    if "method" in original:  # answered by the guard itself
                        self._keep("client", original)
                self._keep("server", sent.message)
                if self._guard.verified is not None:
                    text = {"type": "text", "text": self._guard.verified}
                    self._keep("guard", {"role": "assistant", "content": text})
                    self._guard.verified = None
                await self._to_client(data, sent.message)

    async def _forward(self, data: bytes, message: Any) -> None:
        """Send a line to the server. Raises ServerTrouble if it does not take it in time, or has ended."""
        if self._to_server is not None:
            try:
                async with asyncio.timeout(self._timeout):
                    await self._to_server(data.rstrip(b"\r\n") + b"\n", message)
            except TimeoutError:
                raise ServerTrouble(f"the server has not read its input for {self._timeout:g} s") from None
            except (BrokenPipeError, ConnectionError):
                raise ServerTrouble("the server has ended") from None

    async def _to_client(self, data: bytes, message: Any) -> None:
        await self._client.send(data.rstrip(b"\r\n") + b"\n", message)

    def _keep(self, sender: str, message: Any) -> None:
        self._transcript.write(sender, message, self._session)


def _cancellation(number: Any) -> dict[str, Any]:
    params = {"requestId": number, "reason": "no answer in time"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def through(message: Any, decide: Callable[[Any], list[Sent]]) -> list[Sent]:
    """Return what ``decide`` makes of a message; the older protocol sends several in a list, which stay together."""
    if not isinstance(message, list) or not message:  # of none nothing can be decided one by one
        return decide(message)
    batches: dict[Side, list[Any]] = {}
    for one in message:
        for sent in through(one, decide):  # some within others, too, which the protocol does not allow
            batches.setdefault(sent.to, []).append(sent.message)
    return [Sent(to, message if batch == message else batch) for to, batch in batches.items()]


def encoded(line: bytes, original: Any, message: Any) -> bytes:
    """Return a message as bytes: an unchanged one as the ``line`` that came."""
    if message is original:
        return line
    message = with_decimals(message) if has_decimals(line) else message
    text = json.dumps(message, ensure_ascii=False)
    try:
        return with_numbers(text).encode()
    except UnicodeEncodeError:  # half a character, which JSON can write and UTF-8 cannot
        return with_numbers(json.dumps(message)).encode()


_UNREADABLE = "it is not a readable JSON message"
_TOO_DEEP = f"it has more than {_DEEPEST} nested brackets"


def is_too_deep(line: bytes, message: Any) -> bool:
    """Return whether a message is nested too deeply to be written again."""
    if line.count(b"{") + line.count(b"[") <= _DEEPEST or not isinstance(message, (dict, list)):
        return False
    level = [message]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _refusals(message: Any, *, of_requests: bool) -> list[dict[str, Any]]:
    """Errors in the place of answers: to the requests in a message that is too deep, or of the answers in it."""
    messages = [one for one in (message if isinstance(message, list) else [message]) if isinstance(one, dict)]
    numbers = [one.get("id") for one in messages if ("method" in one) is of_requests]
    return [error_answer(number, _TOO_DEEP) for number in numbers if isinstance(number, (str, int, float))]


class Line(NamedTuple):
    """A line, the message in it, and whether there is one."""

    data: bytes
    message: Any
    is_read: bool


def parsed(line: bytes) -> Line:
    """Return a line with the message in it; of a key that occurs twice, the last counts and the line is written anew.

    Otherwise the server might read the other one.
    """
    repeats = 0

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeats
        table = dict(pairs)
        repeats += len(pairs) - len(table)
        return table

    try:
        message = json.loads(line, object_pairs_hook=members, parse_float=float_of)
        return Line(encoded(line, None, message) if repeats else line, message, True)
    except (ValueError, RecursionError):
        return Line(line, None, False)


def _start(line: bytes) -> str:
    text = line.strip()
    start = text[:120].decode("utf-8", "replace")
    return f"{start}…" if len(text) > 120 else start


async def _lines_of(stream: BinaryIO) -> AsyncIterator[bytes]:
    """Yield the lines of a stream, read in a thread that does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(64)

    # Bytes of the descriptor itself: the lock of a buffer that is being read would outlive the interpreter.
    descriptor = stream.fileno()

    def put(line: bytes) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended first
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        """Put whole lines into the queue, and an empty one at the end."""
        parts: list[bytes] = []
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(descriptor, _CHUNK):
                *whole, rest = chunk.split(b"\n")
                for line in whole:
                    room.acquire()
                    put(b"".join([*parts, line, b"\n"]))
                    parts = []
                parts.append(rest)
        if last := b"".join(parts):
            put(last)
        put(b"")

    threading.Thread(target=read, daemon=True).start()
    while line := await queue.get():
        room.release()
        if line.strip():
            yield line


# ------------------------------------------------------------------------------------------------- a process


@contextlib.asynccontextmanager
async def started(command: Sequence[str]) -> AsyncIterator[Any]:
    """Start a server with ``command``, and yield how to receive and send; it is ended with the block.

    Raises :class:`ServerTrouble` if it cannot be started or ends with an error.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ServerTrouble(f"the server cannot be started: {reason}") from None
    assert process.stdin is not None and process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    has_said = False

    async def receive() -> AsyncIterator[bytes]:
        """Yield the lines that the server writes."""
        nonlocal has_said
        while True:
            try:
                line = await stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                if end.partial:
                    yield end.partial
                break
            except asyncio.LimitOverrunError:
                raise ServerTrouble(f"the server writes a line of more than {LONGEST:,} bytes") from None
            has_said = True
            yield line
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
        status = "" if process.returncode is None else f" with status {process.returncode}"
        raise ServerTrouble(f"the server has ended{status}")

    async def send(data: bytes, _: Any) -> None:
        stdin.write(data)
        await stdin.drain()

    try:
        yield receive(), send
    finally:
        await asyncio.shield(_end(process))
    if not has_said and (process.returncode or 0) > 0:  # it never came up, and the client asked nothing
        raise ServerTrouble(f"the server has ended with status {process.returncode}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the server's input, wait, and end its process group: first by itself, then by SIGTERM, then by SIGKILL."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, RuntimeError):
        process.stdin.close()
    for number in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if number is not None:
            _signal(process, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
            break
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # children that it left behind


def _signal(process: asyncio.subprocess.Process, way: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, way)
        elif process.returncode is None:
            process.send_signal(way)


# ------------------------------------------------------------------------------------------------ the client


def standard_client() -> Client:
    """Return the client on standard input and output; from now on, what is printed goes to standard error."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    outgoing.flush()
    sys.stdout = sys.stderr
    # Without a buffer, whose lock would outlive the interpreter.
    return client_of(incoming, getattr(outgoing, "raw", outgoing))


def client_of(incoming: BinaryIO, outgoing: RawIOBase | BinaryIO) -> Client:
    """Return a client that writes its messages to one stream and reads them from another, each a line."""
    return Client(_lines_of(incoming), _writer_to(outgoing))


def _writer_to(stream: RawIOBase | BinaryIO) -> Callable[[bytes, Any], Awaitable[None]]:
    """Return a function that writes to a stream in a thread that does not keep the program from ending.

    The client may have stopped reading, so that writing blocks.
    """
    messages: SimpleQueue[tuple[bytes, Future[None]]] = SimpleQueue()

    def write() -> None:
        """Write the waiting messages, one after the other."""
        while True:
            data, written = messages.get()
            try:
                while data:
                    count = stream.write(data)
                    if count is None:  # nothing can be written at the moment
                        time.sleep(_SHORT)
                    data = data[count or 0 :]
                stream.flush()
            except (OSError, ValueError) as error:
                written.set_exception(error)
            else:
                written.set_result(None)

    threading.Thread(target=write, daemon=True).start()

    async def send(data: bytes, _: Any) -> None:
        written: Future[None] = Future()
        written.set_running_or_notify_cancel()  # not to be cancelled: half a message would be written
        messages.put((data, written))
        await asyncio.wrap_future(written)

    return send
