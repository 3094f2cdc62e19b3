"""Files in which a tool's name does not stand as it is read: what Python would run is what is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Write = Callable[[Mapping[str, str | bytes]], Path]

TOOL = """from agents import function_tool


@function_tool
def report(x):
    return {"heat": 5}
"""


def _declared(encoding: str, text: bytes) -> bytes:
    return f"# coding: {encoding}\n".encode() + text


HIDDEN = {
    "a decorator that is compared after NFKC": TOOL.replace("@function_tool", "@function_too\u2113").encode(),
    "an import that is compared after NFKC": TOOL.replace(
        "import function_tool", "import \uff46unction_tool"
    ).encode(),
    "both": TOOL.replace("function_tool", "\N{MATHEMATICAL BOLD SCRIPT SMALL F}unction_tool").encode(),
    "a module": TOOL.replace("agents", "\uff41gents").replace("function_tool", "\uff46unction_tool").encode(),
    "an attribute": TOOL.replace("from agents import function_tool", "import agents")
    .replace("@function", "@agents.\N{MATHEMATICAL BOLD SMALL F}unction")
    .encode(),
    "unicode_escape": _declared(
        "unicode_escape", TOOL.replace("function_tool", "\\x66unction_tool").encode()
    ),
    "raw_unicode_escape": _declared(
        "raw_unicode_escape", TOOL.replace("function_tool", "\\u0066unction_tool").encode()
    ),
    "utf-7": _declared(
        "utf-7", TOOL.replace("@", "+AEA-").replace("function_tool", "+AGY-unction_tool").encode()
    ),
    "hz": _declared("hz", TOOL.encode()),
    "iso2022_jp": _declared("iso2022_jp", TOOL.replace("function_tool", "func\x1b(Btion_tool").encode()),
    "in the second line": b"#!/usr/bin/python\n"
    + _declared("unicode_escape", TOOL.replace("function_tool", "\\x66unction_tool").encode()),
    "carriage returns": TOOL.replace("\n", "\r").encode(),
    "form feeds": TOOL.replace("    return", "\f    return").encode(),
    **{
        f"decorated by {decorator!r}": TOOL.replace("@function_tool", decorator)
        .replace("from agents import", "import agents\nfrom agents import")
        .encode()
        for decorator in (
            "@\\\nfunction_tool",
            "@\\\n\\\nfunction_tool",
            "@  function_tool",
            "@\ffunction_tool",
            "@ (\n  # (@ a note\n\n  function_tool)",
            "@((\nfunction_tool\n)\n)",
            "@agents\\\n.\\\nfunction_tool",
            "@agents.  function_tool",
            "@(agents. # a note\nfunction_tool)",
        )
    },
    "a name behind a dot and a backslash": TOOL.replace("from agents import function_tool", "import agents")
    .replace("@function_tool", "mark = agents.\\\n  function_tool\n@mark")
    .encode(),
}


@pytest.mark.parametrize("content", HIDDEN.values(), ids=list(HIDDEN))
def test_what_python_reads_is_looked_at(
    write: Write, check: Callable[..., list[str]], content: bytes
) -> None:
    compile(content, "hidden", "exec")  # Python takes it
    top = write({"gllint.toml": "", "hidden.py": content})
    for _ in range(2):  # the second time from the cache
        [found] = check("hidden.py", cwd=top)
        assert found.endswith("GL101")


REFUSED = {
    "null bytes": TOOL.encode() + b"\0\n",
    "utf-16": TOOL.encode("utf-16"),
    "utf-16 without a mark": TOOL.encode("utf-16-le"),
    "ebcdic": TOOL.encode("cp500"),
    "a declared mark": b"\xef\xbb\xbf" + _declared("latin-1", TOOL.encode()),
    **{
        name: _declared(name, TOOL.encode())
        for name in ("rot13", "punycode", "undefined", "zlib", "no-such", "utf-16")
    },
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=list(REFUSED))
def test_what_python_refuses_is_said(write: Write, check: Callable[..., list[str]], content: bytes) -> None:
    [found] = check("hidden.py", cwd=write({"gllint.toml": "", "hidden.py": content}))
    assert found.endswith("GL900")
