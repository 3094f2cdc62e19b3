"""A headless Chromium, driven through a pipe: for the pictures of the README and the tests of the pages.

It has an empty profile, speaks to nobody, and keeps a list of what pages ask for and complain about.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--allow-file-access-from-files", "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)  # fmt: skip
_PATIENCE = 60.0
_CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")


def find() -> str | None:
    """Return the path of a Chromium, ``None`` where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of one browser. ``requests`` are the addresses it asked for, ``complaints`` its errors."""

    def __init__(self) -> None:
        """Start a Chromium without a window, and connect to it over two pipes. Raises RuntimeError if there is none."""
        program = find()
        if program is None:
            raise RuntimeError("no Chromium was found: install it (Debian: apt-get install chromium)")
        self._profile = tempfile.mkdtemp(prefix="gllint-browser-")
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()
        keep = {3: from_us, 4: to_us}

        def arrange() -> None:
            high = {target: os.dup2(source, 100 + target) for target, source in keep.items()}
            for target, source in high.items():
                os.dup2(source, target)

        self._process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={self._profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=arrange,
        )  # fmt: skip
        os.close(from_us)
        os.close(to_us)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = False
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        """End the browser, and remove its profile."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, address: str | Path, *, dark: bool = False, width: int = 1200, height: int = 900) -> None:
        """Open a file or an address, and wait until it is loaded."""
        self.requests, self.complaints = [], []
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._ask("Emulation.setEmulatedMedia", features=scheme)
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self._loaded = False
        self._ask("Page.navigate", url=address.as_uri() if isinstance(address, Path) else address)
        self._until(lambda: self._loaded)

    def run(self, script: str) -> Any:
        """Return what an expression of JavaScript is worth in the page; raise ``RuntimeError`` where it throws."""
        said = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"])[:2000])
        return said["result"].get("value")

    def elsewhere(self, address: str) -> list[str]:
        """Return what was asked of anybody but ``address``."""
        own = (address, "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    def low_contrast(self) -> dict[str, str]:
        """Return the texts that are hard to read: by element and colours, with the ratio; 4.5 would do."""
        found: dict[str, str] = self.run(_CONTRAST)
        return found

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self._ask("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self._ask("Input.dispatchKeyEvent", type="keyUp", **about)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen (or the ``whole`` page) as PNG."""
        said = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(said["data"]))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol, and return its result. Raises RuntimeError with its error."""
        self._last += 1
        number = self._last
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        answer: dict[str, Any] = {}

        def answered() -> bool:
            return bool(answer)

        self._until(answered, number, answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _until(self, done: Any, number: int = 0, answer: dict[str, Any] | None = None) -> None:
        """Read messages of the browser until ``done()``; the one with the id ``number`` is copied into ``answer``.

        Raises TimeoutError if none comes for a while, RuntimeError if the browser has ended.
        """
        end = time.monotonic() + _PATIENCE
        while not done():
            while b"\0" not in self._buffer:
                left = end - time.monotonic()
                if left <= 0 or not select.select([self._read], [], [], left)[0]:
                    raise TimeoutError("the browser does not answer")
                data = os.read(self._read, 1 << 20)
                if not data:
                    raise RuntimeError("the browser has ended")
                self._buffer += data
            line, self._buffer = self._buffer.split(b"\0", 1)
            message = json.loads(line)
            if message.get("id") == number and answer is not None:
                answer.update(message)
            self._note(message.get("method", ""), message.get("params", {}))

    def _note(self, method: str, said: dict[str, Any]) -> None:
        """Note the requests, errors and the end of loading that a message reports."""
        match method:
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(said["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(said["exceptionDetails"].get("exception", {}).get("description", "?"))
            case "Log.entryAdded" if said["entry"]["level"] in ("error", "warning"):
                self.complaints.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")
            case "Runtime.consoleAPICalled" if said["type"] == "error":
                self.complaints.append(str([each.get("value") for each in said["args"]]))
