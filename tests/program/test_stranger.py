"""What a stranger's repository may try in order to be told "No findings": each is found, refused or told.

An attempt is a name, files, and what must come of it: a code and its place (``GL101 a.py:7``), ``refused: `` with what an error
(exit status 2) says, ``told: `` with what stands beside "No findings", ``missed: `` with the reason why nothing is, or
``nothing: `` with the reason why there is nothing to say: nothing runs what stands there.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.mark import ParameterSet
from click.testing import CliRunner

from gllint.cli.commands import cli
from gllint.errors import UsageError

Files = Mapping[str, "str | bytes | Link"]
Attempt = tuple[str, Files, str]


class Link(NamedTuple):
    """A symbolic link, where it points."""

    target: str


TOOL = '''\
from langchain_core.tools import tool


@tool
def report(area: str) -> dict:
    """The heat of an area."""
    return {"heat": 5}
'''
CLEAN = "X = 1\n"
MESSAGE = 'FINAL_MESSAGE = "The building needs 9500 kWh."\n'
UNIT = TOOL.replace("5}", '{"value": 5, "unit": "flurbs"}}')
DIRECT = TOOL + '\n\ndef answer():\n    return report.invoke("a")\n'


def tool(
    decorator: str = "@tool", result: str = '{"heat": 5}', head: str = "", parameters: str = "area: str"
) -> str:
    """A module with one tool."""
    return (
        f"from langchain_core.tools import tool\n{head}\n\n{decorator}\n"
        f'def report({parameters}) -> dict:\n    """The heat of an area."""\n    return {result}\n'
    )


def plain(
    registration: str, head: str = "from langchain_core.tools import tool, BaseTool, StructuredTool\n"
) -> str:
    """A module whose function is a tool only by what stands behind it."""
    return f'{head}\n\ndef report(area: str) -> dict:\n    """Heat."""\n    return {{"heat": 5}}\n\n\n{registration}\n'


def declared(encoding: str, text: str, line: int = 1) -> bytes:
    return ("#!/usr/bin/python\n" * (line - 1) + f"# -*- coding: {encoding} -*-\n{text}").encode(encoding)


def encodings() -> Iterator[Attempt]:
    ascii_ = TOOL.encode()
    odd = TOOL.replace("@tool", "@\\x74ool").encode()
    yield "byte order mark", {"a.py": b"\xef\xbb\xbf" + ascii_}, "GL101 a.py:7"
    yield "two byte order marks", {"a.py": b"\xef\xbb\xbf\xef\xbb\xbf" + ascii_}, "GL900 a.py:1"
    yield "latin-1 in line 1", {"a.py": declared("latin-1", TOOL.replace("heat", "wärme"))}, "GL101 a.py:8"
    yield "latin-1 in line 2", {"a.py": declared("latin-1", TOOL.replace("heat", "wärme"), 2)}, "GL101 a.py:9"
    yield (
        "latin-1 in line 3, too late",
        {"a.py": declared("latin-1", TOOL.replace("heat", "wärme"), 3)},
        "GL900 a.py:9",
    )
    yield "cp1252", {"a.py": declared("cp1252", TOOL.replace("heat", "€"))}, "GL101 a.py:8"
    yield (
        "cp037, which has no ASCII",
        {"a.py": declared("cp037", TOOL)},
        "told: not checked, cannot be decoded",
    )
    yield "cp500 said in ASCII", {"a.py": b"# coding: cp500\n" + TOOL.encode("cp500")}, "GL900 a.py:1"
    yield (
        "a cookie behind a long line",
        {"a.py": b"#" * 2000 + b"\n# coding: unicode_escape\n" + odd},
        "GL101 a.py:9",
    )
    yield (
        "a cookie far to the right",
        {"a.py": b"#" * 2000 + b" coding: unicode_escape\n" + odd},
        "GL101 a.py:8",
    )
    yield "unicode_escape", {"a.py": b"# coding: unicode_escape\n" + odd}, "GL101 a.py:8"
    yield "unicode-escape with capitals", {"a.py": b"# coding: Unicode-Escape\n" + odd}, "GL101 a.py:8"
    yield (
        "unicode_escape in line 2",
        {"a.py": b"#!/usr/bin/python\n# vim: set fileencoding=unicode_escape :\n" + odd},
        "GL101 a.py:9",
    )
    yield (
        "raw_unicode_escape",
        {"a.py": b"# coding: raw_unicode_escape\n" + TOOL.replace("@tool", "@\\u0074ool").encode()},
        "GL101 a.py:8",
    )
    yield (
        "utf-7",
        {"a.py": b"# coding: utf-7\n" + TOOL.replace("@tool", "+AEA-tool").encode()},
        "GL101 a.py:8",
    )
    yield (
        "utf-7 hides the whole tool",
        {
            "a.py": b"# coding: utf7\n# +AAo-"
            + TOOL.replace("\n", "+AAo-").replace("@", "+AEA-").replace("_", "+AF8-").encode()
            + b"\n"
        },
        "GL101 a.py:9",
    )
    yield (
        "utf-7 in a message",
        {
            "a.py": b"# coding: utf-7\n"
            + MESSAGE.replace("FINAL_MESSAGE", "+AEYASQBOAEEATA-_MESSAGE").encode()
        },
        "GL401 a.py:2",
    )
    yield (
        "unicode_escape ends a comment",
        {"a.py": b"# coding: unicode_escape\n#\\n" + TOOL.encode().replace(b"\n", b"\\n")},
        "GL101 a.py:9",
    )
    yield "utf-16 with a mark", {"a.py": TOOL.encode("utf-16")}, "told: not checked, cannot be decoded"
    yield (
        "utf-16-le without a mark",
        {"a.py": TOOL.encode("utf-16-le")},
        "told: not checked, cannot be decoded",
    )
    yield (
        "utf-16-be without a mark",
        {"a.py": TOOL.encode("utf-16-be")},
        "told: not checked, cannot be decoded",
    )
    yield "utf-32", {"a.py": TOOL.encode("utf-32")}, "told: not checked, cannot be decoded"
    yield (
        "utf-32-le without a mark",
        {"a.py": TOOL.encode("utf-32-le")},
        "told: not checked, cannot be decoded",
    )
    yield "a null byte at the end", {"a.py": ascii_ + b"\0"}, "GL900 a.py:8"
    yield "a null byte at the start", {"a.py": b"\0" + ascii_}, "GL900 a.py:1"
    yield (
        "a null byte inside the decorator",
        {"a.py": ascii_.replace(b"@tool", b"@to\0ol")},
        "told: not checked, cannot be decoded",
    )
    yield (
        "Shift JIS, whose backslash is a yen",
        {"a.py": declared("shift_jis", TOOL.replace("heat", "熱"))},
        "GL101 a.py:8",
    )
    yield "rot13", {"a.py": b"# coding: rot13\n" + ascii_}, "GL900 a.py:1"
    yield "a text encoding that is none", {"a.py": b"# coding: zlib\n" + ascii_}, "GL900 a.py:1"
    yield "an encoding that is unknown", {"a.py": b"# coding: klingon\n" + ascii_}, "GL900 a.py:1"
    yield "an encoding of a stranger", {"a.py": b"# coding: tests.codec\n" + ascii_}, "GL900 a.py:1"
    yield "idna", {"a.py": b"# coding: idna\n" + ascii_}, "GL101 a.py:8"
    yield "punycode", {"a.py": b"# coding: punycode\n" + ascii_}, "GL900 a.py"
    yield "hz", {"a.py": b"# coding: hz\n" + ascii_.replace(b"@tool", b"@to~\nol")}, "GL101 a.py:8"
    yield (
        "iso2022_jp escapes inside a name",
        {"a.py": b"# coding: iso2022_jp\n" + ascii_.replace(b"@tool", b"@to\x1b(Bol")},
        "GL101 a.py:8",
    )
    yield "a mark and another encoding", {"a.py": b"\xef\xbb\xbf# coding: latin-1\n" + ascii_}, "GL900 a.py:1"
    yield "not UTF-8", {"a.py": ascii_ + b"# \xff\xfe\n"}, "GL900 a.py:8"
    yield "surrogates in UTF-8", {"a.py": ascii_ + b"# \xed\xa0\x80\n"}, "GL900 a.py:8"
    yield (
        "overlong UTF-8",
        {"a.py": ascii_.replace(b"@tool", b"@\xc1\xb4ool")},
        "told: not checked, cannot be decoded",
    )
    yield "GB 18030", {"a.py": declared("gb18030", TOOL.replace("heat", "热"))}, "GL101 a.py:8"
    yield "mbcs, of Windows alone", {"a.py": b"# coding: mbcs\n" + ascii_}, "GL900 a.py:1"
    yield (
        "a cookie behind a form feed",
        {"a.py": b"\x0c# coding: utf-7\n" + TOOL.replace("@tool", "+AEA-tool").encode()},
        "GL101 a.py:8",
    )


def lookalikes() -> Iterator[Attempt]:
    yield "ℓ in the decorator", {"a.py": tool("@tooℓ")}, "GL101 a.py:7"
    yield (
        "ﬀ-like ligature in the import",
        {"a.py": TOOL.replace("import tool", "import ｔool")},
        "GL101 a.py:7",
    )
    yield (
        "bold letters in both",
        {"a.py": TOOL.replace("import tool", "import 𝐭𝐨𝐨𝐥").replace("@tool", "@𝘁𝗼𝗼𝗹")},
        "GL101 a.py:7",
    )
    yield "the module", {"a.py": TOOL.replace("langchain_core", "𝓁angchain_core")}, "GL101 a.py:7"
    yield (
        "the decorator's attribute",
        {
            "a.py": TOOL.replace(
                "from langchain_core.tools import tool", "import langchain_core.tools as t"
            ).replace("@tool", "@t.ｔｏｏｌ")
        },
        "GL101 a.py:7",
    )
    yield (
        "the base class",
        {
            "a.py": 'from langchain_core.tools import ＢaseTool\n\n\nclass A(Base𝗧ool):\n    def _run(self, area):\n        return {"heat": 5}\n'
        },
        "GL101 a.py:6",
    )
    yield (
        "the method of a tool class",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\nclass A(BaseTool):\n    def _ｒun(self, area):\n        return {"heat": 5}\n'
        },
        "GL101 a.py:6",
    )
    yield "a keyword argument", {"a.py": plain('StructuredTool(name="a", ｆunc=report)')}, "GL101 a.py:6"
    yield (
        "T1's keyword argument",
        {"a.py": 'from agents import Tool\nt = Tool(name="a", args_sc𝗁ema={}, f𝗇=lambda a: {"heat": 5})\n'},
        "GL202 a.py:2",
    )
    yield (
        "a dict's method",
        {
            "a.py": tool(result="out", head="").replace(
                "    return out", '    out = {}\n    out.ｕpdate({"heat": 5})\n    return out'
            )
        },
        "GL101 a.py:8",
    )
    yield (
        "a variable",
        {"a.py": tool(result="ｏut").replace("    return", '    out = {"heat": 5}\n    return')},
        "GL101 a.py:7",
    )
    yield "the name of the final message", {"a.py": MESSAGE.replace("FINAL", "ＦINAL")}, "GL401 a.py:1"
    yield (
        "a long s in a class",
        {
            "a.py": 'from langchain_core.tools import BaſeTool\n\n\nclass A(BaseTool):\n    def _run(self, area):\n        return {"heat": 5}\n'
        },
        "GL101 a.py:6",
    )
    yield "the call's method", {"a.py": DIRECT.replace(".invoke", ".ｉnvoke")}, "GL101 a.py:7"
    yield "full-width digits are no number", {"a.py": MESSAGE.replace("9500", "９５００")}, "GL401 a.py:1"
    yield "Arabic digits", {"a.py": MESSAGE.replace("9500", "٩٥٠٠")}, "GL401 a.py:1"
    yield "superscript digits", {"a.py": MESSAGE.replace("9500", "⁹⁵⁰⁰")}, "GL401 a.py:1"
    yield (
        "zero-width characters between digits",
        {"a.py": MESSAGE.replace("9500", "9\u200b5\u200b0\u200b0")},
        "GL401 a.py:1",
    )
    yield (
        "digits by escapes",
        {"a.py": MESSAGE.replace("9500", "\\x39\\65\\N{DIGIT ZERO}\\u0030")},
        "GL401 a.py:1",
    )
    yield (
        "from_function in look-alikes",
        {"a.py": plain("StructuredTool.from_ｆunction(report)")},
        "GL101 a.py:6",
    )
    yield (
        "tools= in look-alikes",
        {"a.py": plain("from langchain.agents import create_agent\ncreate_agent('m', ｔools=[report])")},
        "GL101 a.py:6",
    )
    yield "a unit in look-alikes", {"a.py": UNIT.replace('"unit"', '"un\\x69t"')}, "GL501 a.py:7"
    yield "a unit of Cyrillic letters", {"a.py": UNIT.replace("flurbs", "кWh")}, "GL501 a.py:7"
    yield (
        "combining marks normalised",
        {"a.py": TOOL.replace("def report", "def re\u0301port")},
        "GL101 a.py:7",
    )
    yield "a right-to-left override", {"a.py": TOOL.replace("heat", "\u202eheat\u202c")}, "GL101 a.py:7"


def line_ends() -> Iterator[Attempt]:
    yield "carriage returns", {"a.py": TOOL.replace("\n", "\r")}, "GL101 a.py:7"
    yield "mixed ends", {"a.py": TOOL.replace("\n\n", "\r\r\n").replace("tool\n", "tool\r")}, "GL101 a.py:7"
    yield "a form feed before the decorator", {"a.py": TOOL.replace("@tool", "\x0c@tool")}, "GL101 a.py:7"
    yield (
        "a form feed in the indentation",
        {"a.py": TOOL.replace("    return", "  \x0c    return")},
        "GL101 a.py:7",
    )
    yield "a carriage return ends a comment", {"a.py": TOOL.replace("@tool", "# x\r@tool")}, "GL101 a.py:8"
    yield (
        "a file separator in a comment before noqa",
        {"a.py": TOOL.replace("5}", "5}  # \x1c noqa")},
        "told: 1 finding is suppressed by comments",
    )
    yield (
        "a line separator in a comment",
        {"a.py": TOOL.replace("5}", "5}  # \u2028# noqa")},
        "told: 1 finding is suppressed by comments",
    )
    yield "a line separator in a string", {"a.py": TOOL.replace('"heat"', '"\u2028# noqa"')}, "GL101 a.py:7"
    yield "next line in a string", {"a.py": TOOL.replace('"heat"', '"\x85# noqa"')}, "GL101 a.py:7"
    yield "vertical tab in a string", {"a.py": TOOL.replace('"heat"', '"\x0b# noqa: GL101"')}, "GL101 a.py:7"
    yield (
        "a file separator in a docstring",
        {"a.py": TOOL.replace("The heat", "\x1c# gllint: ignore-file\x1c")},
        "GL101 a.py:7",
    )
    yield "no end of the last line", {"a.py": TOOL.rstrip("\n")}, "GL101 a.py:7"
    yield "a backslash at the end", {"a.py": TOOL + "\\"}, "GL900 a.py:8"
    yield "control Z", {"a.py": TOOL.replace("@tool", "\x1a\n@tool")}, "GL900 a.py:4"
    yield "tabs", {"a.py": TOOL.replace("    ", "\t")}, "GL101 a.py:7"
    yield (
        "one line of semicolons",
        {"a.py": 'import langchain_core.tools as t; report = t.tool(lambda area: {"heat": 5})'},
        "GL101 a.py:1",
    )
    yield (
        "joined lines everywhere",
        {
            "a.py": TOOL.replace("return {", "return \\\n\\\n{")
            .replace("import tool", "import \\\n tool")
            .replace("@tool", "@\\\ntool")
        },
        "GL101 a.py:11",
    )


def suppressions() -> Iterator[Attempt]:
    def at(end: str) -> Files:
        return {"a.py": TOOL.replace("5}\n", f"5}}{end}\n")}

    yield "noqa in a returned string", {"a.py": TOOL.replace("5}", '5, "note": "# noqa"}')}, "GL101 a.py:7"
    yield (
        "noqa with a code in a string",
        {"a.py": TOOL.replace("5}", '5, "note": "# noqa: GL101"}')},
        "GL101 a.py:7",
    )
    yield (
        "ignore in a string",
        {"a.py": TOOL.replace("5}", '5, "note": "# gllint: ignore[GL101] x"}')},
        "GL101 a.py:7",
    )
    yield (
        "ignore in a docstring",
        {"a.py": TOOL.replace("an area.", "an area.  # gllint: ignore[GL101] x")},
        "GL101 a.py:7",
    )
    yield "ignore-file in a docstring", {"a.py": '"""\n# gllint: ignore-file\n"""\n' + TOOL}, "GL101 a.py:10"
    yield (
        "ignore-file in a string on line 1",
        {"a.py": 'X = "# gllint: ignore-file"\n' + TOOL},
        "GL101 a.py:8",
    )
    yield "noqa of a file in a string", {"a.py": '"""# flake8: noqa"""\n' + TOOL}, "GL101 a.py:8"
    yield (
        "flake8: noqa: of a file",
        {"a.py": "# flake8: noqa: GL101\n" + TOOL},
        "told: 1 finding is suppressed by comments",
    )
    yield "ruff: noqa of a file", {"a.py": "# ruff: noqa\n" + TOOL}, "GL101 a.py:8"
    yield "disable in a docstring", {"a.py": '"""\n# gllint: disable[GL101] x\n"""\n' + TOOL}, "GL101 a.py:10"
    yield (
        "noqa in an f-string",
        {"a.py": TOOL.replace("5}", '5, "note": f"{area}# noqa: GL101"}')},
        "GL101 a.py:7",
    )
    yield (
        "noqa in a format specification",
        {"a.py": TOOL.replace("5}", '5, "note": f"{area:# noqa}"}')},
        "GL101 a.py:7",
    )
    yield (
        "noqa in a bytes literal",
        {"a.py": TOOL.replace("5}", '5, "note": b"# noqa: GL101"}')},
        "GL101 a.py:7",
    )
    yield (
        "noqa in a raw string over lines",
        {"a.py": TOOL.replace("5}", '5, "note": r"""\n# noqa: GL101\n"""}')},
        "GL101 a.py:7",
    )
    yield (
        "noqa in a string that goes on",
        {"a.py": TOOL.replace("5}", '5, "note": "x\\\n# noqa: GL101"}')},
        "GL101 a.py:7",
    )
    yield (
        "a comment behind a line continuation",
        {"a.py": TOOL.replace("return {", "return \\\n{").replace("5}\n", '5, "x": "\\\n# noqa"}\n')},
        "GL101 a.py:8",
    )
    yield "full-width number sign", at('\nＸ = "＃ noqa: GL101"'), "GL101 a.py:7"
    yield "noqa of another code", at("  # noqa: GL401"), "GL101 a.py:7"
    yield "noqa of a code with a look-alike", at("  # noqa: GL1O1"), "GL101 a.py:7"
    yield "noqa of a code in full width", at("  # noqa: GＬ101"), "GL101 a.py:7"
    yield "noqa of a code in Cyrillic", at("  # noqa: GL1О1"), "GL101 a.py:7"
    yield "noqa of a code and a letter", at("  # noqa:GL101x"), "GL101 a.py:7"
    yield "noqa of two codes in one", at("  # noqa: GL401GL101"), "GL101 a.py:7"
    yield "noqa of another linter's code, misspelt", at("  # noqa: E5O1"), "GL101 a.py:7"
    yield "noqa with a full-width colon", at("  # noqa： E501"), "GL101 a.py:7"
    yield "noqa with a colon's look-alike", at("  # noqa꞉ E501"), "GL101 a.py:7"
    yield "noqa without a colon", at("  # noqa E501"), "GL101 a.py:7"
    yield "noqa with nothing behind its colon", at("  # noqa:"), "GL101 a.py:7"
    yield "noqa of a sentence", at("  # noqa: because it is measured"), "GL101 a.py:7"
    yield "noqa in full width", at("  # ｎｏｑａ: GL101"), "GL101 a.py:7"
    yield "noqa spelt no-qa", at("  # no-qa: GL101"), "GL101 a.py:7"
    yield (
        "noqa without a comment's space, odd blanks",
        at("  #noqa :\u00a0GL1 01"),
        "told: 1 finding is suppressed by comments",
    )
    yield "noqa behind a word", at("  # see noqa: GL101"), "GL101 a.py:7"
    yield "noqa with a nested hash", at("  ## x # x noqa"), "GL101 a.py:7"
    yield "nosec, type: ignore, pragma", at("  # nosec # type: ignore # pragma: no cover"), "GL101 a.py:7"
    yield "pylint: disable", at("  # pylint: disable=all"), "GL101 a.py:7"
    yield "ignore with no code and no reason", at("  # gllint: ignored"), "GL101 a.py:7"
    yield "ignore of an unknown code", at("  # gllint: ignore[GL999] x"), "GL101 a.py:7"
    yield "ignore with an unknown name", at("  # gllint: ignore[everything] x"), "GL101 a.py:7"
    yield "ignore of a star", at("  # gllint: ignore[*] x"), "GL101 a.py:7"
    yield "ignore in capitals", at("  # GLLINT: IGNORE[GL401] x"), "GL101 a.py:7"
    yield "ignore-line", at("  # gllint: ignore-line"), "GL101 a.py:7"
    yield "disable-file", {"a.py": "# gllint: disable-file\n" + TOOL}, "GL101 a.py:8"
    yield (
        "ignore-file far down",
        {"a.py": TOOL + "\n" * 400 + "# gllint: ignore-file[GL101] x\n"},
        "GL101 a.py:7",
    )
    yield (
        "ignore-file at the end of a statement",
        {"a.py": TOOL.replace("import tool", "import tool  # x gllint: ignore-file")},
        "GL101 a.py:7",
    )
    yield "a bare ignore-file behind code", {"a.py": TOOL + "x = 1  # gllint: ignore-file\n"}, "GL101 a.py:7"
    yield (
        "enable before",
        {"a.py": "# gllint: disable[GL101] x\n# gllint: enable[GL101]\n" + TOOL},
        "GL101 a.py:9",
    )
    yield (
        "disable in another block",
        {"a.py": "def f():\n    # gllint: disable[GL101] x\n    pass\n\n\n" + TOOL},
        "GL101 a.py:12",
    )
    yield "noqa on the line below", at("\n    # noqa: GL101"), "GL101 a.py:7"
    yield "noqa on the decorator", {"a.py": TOOL.replace("@tool\n", "@tool  # noqa: GL101\n")}, "GL101 a.py:7"
    yield "noqa on the header", {"a.py": TOOL.replace("dict:\n", "dict:  # noqa: GL101\n")}, "GL101 a.py:7"
    yield (
        "noqa after a form feed in a string",
        {"a.py": TOOL.replace("5}", '5, "x": "\x0c# noqa: GL101"}')},
        "GL101 a.py:7",
    )
    yield "a type comment", at("  # type: int # noqa : GL4O1"), "GL101 a.py:7"
    yield "a real noqa", at("  # noqa: GL101"), "told: 1 finding is suppressed by comments"
    yield "a real noqa of everything", at("  # noqa"), "told: 1 finding is suppressed by comments"
    yield "a real ignore-file", {"a.py": "# gllint: ignore-file\n" + TOOL}, "GL101 a.py:8"
    yield (
        "a real ignore-file of a group",
        {"a.py": "# gllint: ignore-file[GL1] x\n" + TOOL},
        "told: 1 finding is suppressed by comments",
    )


def configurations() -> Iterator[Attempt]:
    def with_(text: str, **more: str) -> Files:
        return {"gllint.toml": text + "\n", "a.py": TOOL, **more}

    yield "exclude everything", with_('exclude = ["*"]'), "told: `exclude` in gllint.toml narrows"
    yield (
        "exclude everything, in two stars",
        with_('exclude = ["**/*.py"]'),
        "told: `exclude` in gllint.toml narrows",
    )
    yield (
        "extend-exclude the file",
        with_('extend-exclude = ["a.py"]'),
        "told: `extend-exclude` in gllint.toml narrows",
    )
    yield (
        "exclude a question mark",
        with_('extend-exclude = ["?.py"]'),
        "told: `extend-exclude` in gllint.toml narrows",
    )
    yield "select nothing", with_("select = []"), "told: `select` in gllint.toml narrows"
    yield "select another rule", with_('select = ["GL6"]'), "told: `select` in gllint.toml narrows"
    yield "ignore everything", with_('ignore = ["GL"]'), "told: `ignore` in gllint.toml narrows"
    yield "ignore the rule", with_('ignore = ["GL101"]'), "told: `ignore` in gllint.toml narrows"
    yield (
        "extend-ignore the rule",
        with_('extend-ignore = ["raw-number"]'),
        "refused: key 'extend-ignore': unknown code 'raw-n",
    )
    yield (
        "extend-ignore the code",
        with_('extend-ignore = ["GL101"]'),
        "told: `extend-ignore` in gllint.toml narrows",
    )
    yield (
        "ignore a rule that is unknown",
        with_('ignore = ["XX"]'),
        "refused: key 'ignore': unknown code 'XX'; gllint",
    )
    yield (
        "per-file-ignores",
        with_('[per-file-ignores]\n"*" = ["GL"]'),
        "told: `per-file-ignores` in gllint.toml narrows",
    )
    yield (
        "per-file-ignores of a code",
        with_('[per-file-ignores]\n"a.py" = ["GL101"]'),
        "told: `per-file-ignores` in gllint.toml narrows",
    )
    yield "plain-keys of a star", with_('plain-keys = ["*"]'), "told: `plain-keys` in gllint.toml narrows"
    yield "plain-keys of the key", with_('plain-keys = ["heat"]'), "told: `plain-keys` in gllint.toml narrows"
    yield (
        "plain-kinds of everything",
        {
            **with_('plain-kinds = ["count", "index", "identifier"]'),
            "a.py": TOOL.replace('heat"', 'heat_kwh"'),
        },
        "GL101 a.py:7",
    )
    yield (
        "severity off",
        with_('[severity]\nGL101 = "off"'),
        "refused: key 'severity.GL101' must be one of erro",
    )
    yield "severity information", with_('[severity]\nGL101 = "info"'), "GL101 a.py:7"
    yield "fail-level", with_('fail-level = "error"\n[severity]\nGL101 = "info"'), "GL101 a.py:7"
    yield (
        "extend-units of the unit",
        {"gllint.toml": 'extend-units = ["flurbs"]\n', "a.py": UNIT},
        "told: `extend-units` in gllint.toml narrows",
    )
    yield (
        "a pack with the unit",
        {"gllint.toml": 'unit-packs = ["counts"]\n', "a.py": UNIT.replace("flurbs", "item")},
        "told: `unit-packs` in gllint.toml narrows",
    )
    yield (
        "a shape of a Quantity",
        {
            "gllint.toml": 'quantity-shapes = ["money"]\n',
            "a.py": tool(result='{"amount": 5, "currency": "EUR"}'),
        },
        "told: `quantity-shapes` in gllint.toml narrows",
    )
    yield (
        "quantities in lists",
        {
            "gllint.toml": "array-paths = true\n",
            "a.py": tool(result='{"rows": [{"value": 5, "unit": "kWh"}]}'),
        },
        "told: `array-paths` in gllint.toml narrows",
    )
    yield (
        "dispatchers, where all else is sound",
        {
            "gllint.toml": 'dispatchers = ["answer"]\n',
            "a.py": DIRECT.replace('{"heat": 5}', '{"area": area}'),
        },
        "told: `dispatchers` in gllint.toml narrows",
    )
    yield (
        "whitelist-patterns of everything",
        {"gllint.toml": 'whitelist-patterns = [".*"]\n', "a.py": MESSAGE},
        "told: `whitelist-patterns` in gllint.toml narrows",
    )
    yield (
        "whitelist-patterns of digits",
        {"gllint.toml": 'whitelist-patterns = ["[0-9]+"]\n', "a.py": MESSAGE},
        "told: `whitelist-patterns` in gllint.toml narrows",
    )
    yield (
        "dispatchers of everything",
        {"gllint.toml": 'dispatchers = ["answer"]\n', "a.py": DIRECT.replace('{"heat": 5}', '{"heat": "5"}')},
        "told: `dispatchers` in gllint.toml narrows",
    )
    yield (
        "a baseline that holds it",
        with_('baseline = "b.json"'),
        "refused: cannot be read: No such file or director",
    )
    yield (
        "a baseline that is not there",
        with_('baseline = "no.json"'),
        "refused: cannot be read: No such file or director",
    )
    yield (
        "a baseline that is none",
        with_('baseline = "b.json"', **{"b.json": "[1, 2"}),
        "refused: is not a baseline: Expecting ',' delimit",
    )
    yield (
        "a framework that says not-tools",
        with_('[[frameworks]]\nname = "x"\nnot-tools = ["langchain_core.tools.tool"]'),
        "told: `frameworks` in gllint.toml narrows",
    )
    yield (
        "a framework that says not-tools of a name",
        with_('[[frameworks]]\nname = "x"\nnot-tools = ["tool"]'),
        "GL101 a.py:7",
    )
    yield "a tool-methods that is empty", with_("tool-methods = []"), "GL101 a.py:7"
    yield "a result payload", with_('result-payloads = ["dict"]'), "GL101 a.py:7"
    yield (
        "an extend of a file that excludes",
        with_('extend = "b.toml"', **{"b.toml": 'exclude = ["*"]\n'}),
        "told: `exclude` in b.toml narrows",
    )
    yield (
        "an extend of an extend",
        with_('extend = "b.toml"', **{"b.toml": 'extend = "c.toml"\n', "c.toml": 'ignore = ["GL"]\n'}),
        "told: `ignore` in c.toml narrows",
    )
    yield (
        "an extend in a circle",
        with_('extend = "b.toml"', **{"b.toml": 'extend = "gllint.toml"\n'}),
        "refused: key 'extend': ",
    )
    yield (
        "an extend that is not there",
        with_('extend = "no.toml"'),
        "refused: key 'extend': ",
    )
    yield (
        "an extend of 200 files",
        with_(
            'extend = "0.toml"',
            **{
                f"{i}.toml": f'extend = "{i + 1}.toml"\n' if i < 199 else 'ignore = ["GL"]\n'
                for i in range(200)
            },
        ),
        "refused: key 'extend': more than 16 files",
    )
    yield (
        "a nested configuration that excludes",
        with_("", **{"s/a.py": TOOL, "s/gllint.toml": 'exclude = ["*"]\n', "a.py": "X = 1\n"}),
        "told: `exclude` in s/gllint.toml narrows",
    )
    yield (
        "a nested pyproject that ignores",
        with_(
            "", **{"s/a.py": TOOL, "s/pyproject.toml": '[tool.gllint]\nignore = ["GL"]\n', "a.py": "X = 1\n"}
        ),
        "told: `ignore` in s/pyproject.toml narrows",
    )
    yield (
        "a nested pyproject that selects nothing",
        with_("", **{"s/a.py": TOOL, "s/pyproject.toml": "[tool.gllint]\nselect = []\n", "a.py": "X = 1\n"}),
        "told: `select` in s/pyproject.toml narrows",
    )
    yield (
        "a nested pyproject without gllint",
        {"pyproject.toml": "[tool.gllint]\n", "s/pyproject.toml": "[tool.x]\n", "s/a.py": TOOL},
        "GL101 s/a.py:7",
    )
    yield (
        "pyproject in UTF-16",
        {"pyproject.toml": '[tool.gllint]\nignore = ["GL"]\n'.encode("utf-16"), "a.py": TOOL},
        "refused: not UTF-8, as TOML files are: save it in",
    )
    yield (
        "pyproject that is no TOML",
        {"pyproject.toml": "[tool.gllint\n", "a.py": TOOL},
        "refused: not valid TOML: Expected ']' at the end",
    )
    yield "an unknown key", with_("ignroe = []"), "refused: unknown key 'ignroe'; did you mean 'igno"
    yield "a wrong type", with_('exclude = "a"'), "refused: key 'exclude' must be a list of texts, n"
    yield (
        "a version that is required",
        with_('required-version = ">=99"'),
        "refused: key 'required-version' asks for gllint >",
    )
    yield (
        "both files",
        {"gllint.toml": 'exclude = ["*"]\n', "pyproject.toml": "[tool.gllint]\n", "a.py": TOOL},
        "told: `exclude` in gllint.toml narrows",
    )
    yield "a hidden .gllint.toml", {".gllint.toml": 'exclude = ["*"]\n', "a.py": TOOL}, "GL101 a.py:7"
    yield (
        "setup.cfg",
        {
            "setup.cfg": "[gllint]\nexclude = *\n[flake8]\nexclude = *\nper-file-ignores = *:GL\n",
            "a.py": TOOL,
        },
        "GL101 a.py:7",
    )
    yield (
        "a rule plugin named in pyproject",
        {
            "pyproject.toml": '[project]\nname = "x"\n[project.entry-points."gllint.rules"]\nx = "a:x"\n[tool.gllint]\n',
            "a.py": TOOL,
        },
        "GL101 a.py:7",
    )
    yield "a dated cache-dir", with_('cache-dir = "a.py"'), "GL101 a.py:7"
    yield (
        "registry-modules",
        {"gllint.toml": 'registry-modules = ["*"]\n', "a.py": TOOL},
        "refused: key 'registry-modules': \"*\" is not a name",
    )


def places() -> Iterator[Attempt]:
    yield (
        ".gitignore names it",
        {".gitignore": "a.py\n", "a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield (
        ".gitignore of a star",
        {".gitignore": "*\n!clean.py\n", "a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield (
        ".gitignore in a folder",
        {"s/.gitignore": "*\n", "s/a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: s/a.py",
    )
    yield ".ignore, that is not git's", {".ignore": "*\n", "a.py": TOOL, "clean.py": CLEAN}, "GL101 a.py:7"
    yield (
        ".git/info/exclude",
        {
            ".git/info/exclude": "a.py\n",
            ".git/HEAD": "ref: refs/heads/main\n",
            "a.py": TOOL,
            "clean.py": CLEAN,
        },
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield (
        ".gitignore of a folder",
        {".gitignore": "/s\n", "s/t/a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: s/t/a.py",
    )
    yield (
        ".gitignore of a notebook",
        {".gitignore": "*.ipynb\n", "a.ipynb": notebook([code(TOOL)]), "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: a.ipynb",
    )
    yield (
        ".gitignore names what is imported",
        {".gitignore": "a.py\n", "a.py": TOOL, "clean.py": "import a\n"},
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield "a hidden file", {".a.py": TOOL}, "GL101 .a.py:7"
    yield "a hidden folder", {".s/a.py": TOOL}, "GL101 .s/a.py:7"
    for folder in (
        ".venv",
        "venv",
        "node_modules",
        "build",
        "dist",
        ".tox",
        "site-packages",
        "__pycache__",
        "buck-out",
        ".vscode",
    ):
        yield (
            f"a folder named {folder}",
            {f"{folder}/a.py": TOOL, "clean.py": CLEAN},
            f"told: 1 file not checked, excluded by default: {folder}/a.py",
        )
    for name in (
        ".venv/lib/a.py",
        "build/lib/a.py",
        "node_modules/b/a.py",
        "_build/html/a.ipynb",
        ".git/hooks/a.py",
    ):
        yield (
            f"a file named {name}",
            {name: notebook([code(TOOL)]) if name.endswith(".ipynb") else TOOL, "clean.py": CLEAN},
            f"told: 1 file not checked, excluded by default: {name}",
        )
    for folder in ("target", "vendor", "third_party", "env", "Build", "build2"):
        yield (
            f"a folder named {folder}",
            {f"{folder}/a.py": TOOL, "clean.py": CLEAN},
            f"GL101 {folder}/a.py:7",
        )
    yield (
        "below a folder named build in a package",
        {"x/build/a.py": TOOL, "x/__init__.py": "", "x/build/__init__.py": ""},
        "told: 1 file not checked, excluded by default: x/build/a.py",
    )
    yield "a folder named like a file", {"s.py/a.py": TOOL}, "GL101 s.py/a.py:7"
    yield "a nested repository", {"s/.git/HEAD": "ref: refs/heads/main\n", "s/a.py": TOOL}, "GL101 s/a.py:7"
    yield "a submodule", {"s/.git": "gitdir: ../.git/modules/s\n", "s/a.py": TOOL}, "GL101 s/a.py:7"
    yield "a test file", {"tests/test_a.py": TOOL}, "GL101 tests/test_a.py:7"
    yield "a conftest", {"conftest.py": TOOL}, "GL101 conftest.py:7"
    yield "a stub", {"a.pyi": TOOL}, "GL101 a.pyi:7"
    for name in (".pyw", ".PY", ".Py", ".pYw", ".PYI"):
        yield f"a name that ends in {name!r}", {f"a{name}": TOOL, "clean.py": CLEAN}, f"GL101 a{name}:7"
    for name in (".pyx", ".pyc", ".txt", ".py ", ".pth"):
        yield (
            f"a name that ends in {name!r}, and nothing runs it",
            {f"a{name}": TOOL, "clean.py": CLEAN},
            "nothing: neither Python nor anything here runs it",
        )
    for name, line in (
        ("a.pyx", 'exec(open("a.pyx").read())'),
        ("a.pyc", 'import runpy\nrunpy.run_path("a.pyc")'),
        (
            "a.txt",
            'from pathlib import Path\ntext = Path(__file__).with_name("a.txt").read_text()\nexec(text)',
        ),
        (
            "a.py ",
            'from importlib.machinery import SourceFileLoader\nSourceFileLoader("a", "a.py ").load_module()',
        ),
        ("s/a.pth", 'import os\nexec(compile(open(os.path.join("s", "./s/a.pth")).read(), "x", "exec"))'),
        ("a", 'import importlib.util as u\nu.spec_from_file_location("a", "a")'),
        ("s/a.tmpl", 'import runpy\nrunpy.run_path("s/a.tmpl")'),
        (".venv/a.py", 'import runpy\nrunpy.run_path(".venv/a.py")'),
        ("build/a.py", 'import importlib\nimportlib.import_module("build.a")'),
    ):
        yield (
            f"{name!r} is run by its path",
            {name: TOOL, "clean.py": line + "\n", ".venv/pyvenv.cfg": "", "build/CACHEDIR.TAG": ""},
            f"told: 1 file not checked, run from code by its path: {name}",
        )
    yield (
        "no ending but #!",
        {"agent": "#!/usr/bin/env python3\n" + TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, has a line #! of Python and no name of it: agent",
    )
    for name in (
        "-rf.py",
        "--exit-zero.py",
        "--config=x.py",
        "@a.py",
        "a\nb.py",
        "a\x1b[2K.py",
        "con.py",
        "a b.py",
        "*.py",
        "[a].py",
        "a:1:2.py",
        "é.py",
        "é.py",
        "%s.py",
        "{x}.py",
        "~.py",
        "$HOME.py",
        "'.py",
        '".py',
        "a\\b.py",
        ".py",
        "..py",
        "\u202eyp.py",
        "a" * 240 + ".py",
        "__init__.py",
        "setup.py",
        "# noqa.py",
        "No findings.py",
    ):
        yield f"a file named {name[:30]!r}", {name: TOOL}, "GL101 :7"
    yield "a name that is no UTF-8", {os.fsdecode(b"a\xff.py"): TOOL}, "GL101 a\\udcff.py:7"
    yield (
        "a folder of 100 levels",
        {"/".join("abcdefghij" * 10) + "/a.py": TOOL},
        "GL101 a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a/b/c/d/e/f/g/h/i/j/a.py:7",
    )


def links() -> Iterator[Attempt]:
    yield "a file", {"a.py": Link("b.txt"), "b.txt": TOOL}, "GL101 a.py:7"
    yield "a folder inside", {"s": Link("t"), "t/a.py": TOOL}, "GL101 t/a.py:7"
    yield (
        "a folder outside",
        {"s": Link("../outside"), "../outside/a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, behind a link that leads elsewhere: s/a.py",
    )
    yield "a file outside", {"a.py": Link("../outside/a.py"), "../outside/a.py": TOOL}, "GL101 a.py:7"
    yield "a loop of folders", {"s/t": Link("../../p"), "s/a.py": TOOL}, "GL101 s/a.py:7"
    yield "a hidden folder behind a link", {"s": Link(".t"), ".t/a.py": TOOL}, "GL101 .t/a.py:7"
    yield (
        "a usual folder behind a link",
        {"s": Link("build"), "build/a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, excluded by default: build/a.py",
    )
    yield (
        "a configuration behind a link",
        {"gllint.toml": Link("x.txt"), "x.txt": 'ignore = ["GL"]\n', "a.py": TOOL},
        "told: `ignore` in gllint.toml narrows",
    )
    yield "a configuration behind a link to nothing", {"gllint.toml": Link("no"), "a.py": TOOL}, "refused: "
    yield (
        "a .gitignore behind a link",
        {".gitignore": Link("x.txt"), "x.txt": "a.py\n", "a.py": TOOL, "clean.py": CLEAN},
        "told: 1 file not checked, ignored by git: a.py",
    )
    yield "a folder named like a module", {"a.py": Link("t"), "t/b.py": TOOL}, "GL101 t/b.py:7"


def sizes() -> Iterator[Attempt]:
    yield "a line of a million characters", {"a.py": f'X = "{"x" * 1_000_000}"\n' + TOOL}, "GL101 a.py:8"
    yield (
        "the tool at the end of a huge line",
        {
            "a.py": "from langchain_core.tools import tool\n"
            + "x = 1;" * 20_000
            + 'y = tool(lambda area: {"heat": 5})\n'
        },
        "GL101 a.py:2",
    )
    yield "200,001 lines", {"a.py": TOOL + "\n" * 200_001}, "told: not checked, too large to be read"
    yield "more than 4 MB", {"a.py": TOOL + "# x\n" * 1_000_001}, "told: not checked, too large to be read"
    yield "150,000 blank lines before", {"a.py": "\n" * 150_000 + TOOL}, "GL101 a.py:150007"
    yield "200 parentheses", {"a.py": tool(result="(" * 150 + '{"heat": 5}' + ")" * 150)}, "GL101 a.py:7"
    yield "5,000 parentheses", {"a.py": tool(result="(" * 5000 + '{"heat": 5}' + ")" * 5000)}, "GL900 a.py:7"
    yield (
        "90 nested functions",
        {
            "a.py": "from langchain_core.tools import tool\n"
            + "".join(f"{' ' * i}def f{i}():\n" for i in range(90))
            + " " * 90
            + "@tool\n"
            + " " * 90
            + "def report(area):\n"
            + " " * 91
            + 'return {"heat": 5}\n'
        },
        "GL101 a.py:94",
    )
    yield (
        "nested ifs",
        {
            "a.py": tool(result="{}").replace(
                "    return {}",
                "".join(f"{' ' * (4 + i)}if area:\n" for i in range(90)) + " " * 94 + 'return {"heat": 5}',
            )
        },
        "GL101 a.py:97",
    )
    yield "a number in nested dicts", {"a.py": tool(result='{"a": ' * 80 + "5" + "}" * 80)}, "GL101 a.py:7"
    yield (
        "a sum of 5,000 terms",
        {"a.py": tool(result='{"heat": ' + " + ".join(["area.x"] * 5000 + ["1"]) + "}")},
        "GL101 a.py:7",
    )
    yield (
        "a chain of 500 variables",
        {
            "a.py": tool(result="v500").replace(
                "    return",
                '    v0 = {"heat": 5}\n'
                + "".join(f"    v{i + 1} = v{i}\n" for i in range(500))
                + "    return",
            )
        },
        "GL101 a.py:7",
    )
    yield (
        "a chain of 60 helpers",
        {
            "a.py": tool(result="h0()")
            + "\n"
            + "\n".join(f"def h{i}():\n    return h{i + 1}()\n" for i in range(60))
            + '\ndef h60():\n    return {"heat": 5}\n'
        },
        "GL101 a.py:190",
    )
    yield (
        "a chain of 40 modules",
        {
            "a.py": tool(result="h()", head="from m0 import h"),
            **{f"m{i}.py": f"from m{i + 1} import h\n" for i in range(40)},
            "m40.py": 'def h():\n    return {"heat": 5}\n',
        },
        "GL101 m40.py:2",
    )
    yield (
        "3,000 decoy tools",
        {"a.py": TOOL + "".join(f"\n\n@tool\ndef d{i}(a):\n    return 'x'\n" for i in range(3000))},
        "GL101 a.py:7",
    )
    yield (
        "2,000 decoy keys",
        {"a.py": tool(result="{" + "".join(f'"k{i}": "x", ' for i in range(2000)) + '"heat": 5}')},
        "GL101 a.py:7",
    )
    yield (
        "2,000 decoy branches",
        {
            "a.py": tool(result='{"heat": 5}').replace(
                "    return",
                "".join(f'    if area == "{i}":\n        return {{"x": "{i}"}}\n' for i in range(2000))
                + "    return",
            )
        },
        "GL101 a.py:4007",
    )
    yield (
        "400 decoy files",
        {
            **{
                f"d{i}.py": "from langchain_core.tools import tool\n\n\n@tool\ndef f(a):\n    return 'x'\n"
                for i in range(400)
            },
            "z.py": TOOL,
        },
        "GL101 z.py:7",
    )
    yield (
        "500 assignments of one name",
        {
            "a.py": tool(result="x").replace(
                "    return",
                "".join(f'    x = {{"k{i}": "x"}}\n' for i in range(500)) + '    x = {"heat": 5}\n    return',
            )
        },
        "GL101 a.py:507",
    )
    yield (
        "a message of doubled templates",
        {
            "a.py": 'S0 = "9500 kWh"\n'
            + "".join(f'S{i + 1} = "{{}}{{}}".format(S{i}, S{i})\n' for i in range(26))
            + "FINAL_MESSAGE = S26\n"
        },
        "told: too complex to follow",
    )
    yield "a message of 20,000 digits", {"a.py": f'FINAL_MESSAGE = "{"9" * 20_000} kWh"\n'}, "GL401 a.py:1"
    yield "a syntax error at the end", {"a.py": TOOL + "x = (\n"}, "GL900 a.py:8"
    yield "a conflict marker", {"a.py": "<<<<<<< HEAD\n" + TOOL}, "GL900 a.py:1"
    yield "Python 2", {"a.py": TOOL + "print 5\n"}, "GL900 a.py:8"
    yield "an indentation of two kinds", {"a.py": TOOL + "if 1:\n\tx\n        y\n"}, "GL900 a.py:10"


def notebook(cells: list[object], **top: object) -> str:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}, **top})


def code(text: str, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": text.splitlines(True), "metadata": {}, "outputs": [], **more}


def notebooks() -> Iterator[Attempt]:
    yield "a notebook", {"a.ipynb": notebook([code(TOOL)])}, "GL101 a.ipynb:cell 1:7"
    yield (
        "without metadata",
        {"a.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": TOOL}]})},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "of format 3",
        {
            "a.ipynb": json.dumps(
                {
                    "worksheets": [{"cells": [{"cell_type": "code", "input": TOOL, "language": "python"}]}],
                    "nbformat": 3,
                    "metadata": {},
                }
            )
        },
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "in another language by name",
        {"a.ipynb": notebook([code(TOOL)], metadata={"kernelspec": {"language": "julia", "name": "julia"}})},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "language_info says R",
        {"a.ipynb": notebook([code(TOOL)], metadata={"language_info": {"name": "R"}})},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "language_info is a list",
        {"a.ipynb": notebook([code(TOOL)], metadata={"language_info": ["python"], "kernelspec": 5})},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "a raw cell",
        {"a.ipynb": notebook([{**code(TOOL), "cell_type": "raw"}])},
        "nothing: no cell of code, so that nothing runs it",
    )
    yield (
        "a Markdown cell",
        {"a.ipynb": notebook([{**code(TOOL), "cell_type": "markdown"}])},
        "nothing: no cell of code, so that nothing runs it",
    )
    yield (
        "%%writefile",
        {"a.ipynb": notebook([code("%%writefile a.txt\n" + TOOL)])},
        "GL101 a.ipynb:cell 1:8",
    )
    yield (
        "%%writefile of a module",
        {"a.ipynb": notebook([code("%%writefile agent.py\n" + TOOL)])},
        "GL101 a.ipynb:cell 1:8",
    )
    for magic in (
        "%%file a.py",
        "%%writefile -a a.py",
        "%%script python",
        "%%ipython",
        "%%px",
        "%%skip",
        "%%a_magic x",
    ):
        yield magic, {"a.ipynb": notebook([code(f"{magic}\n" + TOOL)])}, "GL101 a.ipynb:cell 1:8"
    yield (
        "%%writefile of a module with a future",
        {
            "a.ipynb": notebook(
                [code("x = 1"), code("%%writefile a.py\nfrom __future__ import annotations\n" + TOOL)]
            )
        },
        "GL101 a.ipynb:cell 2:9",
    )
    yield "%%time", {"a.ipynb": notebook([code("%%time\n" + TOOL)])}, "GL101 a.ipynb:cell 1:8"
    yield "%%capture", {"a.ipynb": notebook([code("%%capture out\n" + TOOL)])}, "GL101 a.ipynb:cell 1:8"
    yield "%%timeit", {"a.ipynb": notebook([code("%%timeit -n1 -r1\n" + TOOL)])}, "GL101 a.ipynb:cell 1:8"
    yield "%%python3", {"a.ipynb": notebook([code("%%python3\n" + TOOL)])}, "GL101 a.ipynb:cell 1:8"
    yield (
        "%%bash",
        {"a.ipynb": notebook([code("%%bash\npython - <<EOF\n" + TOOL + "EOF\n")])},
        "GL101 a.ipynb:cell 1:9",
    )
    for line in (
        "cat > agent.py <<'EOF'",
        "tee x/a.py << EOF",
        'python3.12 -u <<"EOF" > out',
        "cat <<-EOF | python",
    ):
        yield (
            f"%%sh {line}",
            {"a.ipynb": notebook([code(f"%%sh\nset -e\n{line}\n" + TOOL + "EOF\nls\n")])},
            "GL101 a.ipynb:cell 1:10",
        )
    yield (
        "%%prun behind a blank line",
        {"a.ipynb": notebook([code("\n%%prun\n" + TOOL)])},
        "GL101 a.ipynb:cell 1:9",
    )
    yield (
        "%run and !",
        {"a.ipynb": notebook([code("%load_ext x\n!pip install x\nx = !ls\n?x\nx??\n" + TOOL)])},
        "GL101 a.ipynb:cell 1:12",
    )
    yield (
        "a magic inside the function",
        {"a.ipynb": notebook([code(TOOL.replace("    return", "    %timeit x\n    !ls\n    return"))])},
        "GL101 a.ipynb:cell 1:9",
    )
    yield "broken JSON", {"a.ipynb": notebook([code(TOOL)])[:-3]}, "GL900 a.ipynb:1"
    yield "no object", {"a.ipynb": json.dumps([code(TOOL)])}, "GL900 a.ipynb:1"
    yield (
        "cells that are no list",
        {"a.ipynb": json.dumps({"cells": {"0": code(TOOL)}, "nbformat": 4})},
        "GL900 a.ipynb:1",
    )
    yield "a cell that is no object", {"a.ipynb": notebook([5, None, code(TOOL)])}, "GL900 a.ipynb:1"
    yield (
        "a source that is a number",
        {"a.ipynb": notebook([{**code(""), "source": 5}, code(TOOL)])},
        "GL900 a.ipynb:1",
    )
    yield (
        "a source of mixed parts",
        {"a.ipynb": notebook([{**code(""), "source": [TOOL, 5]}])},
        "GL900 a.ipynb:1",
    )
    yield (
        "a syntax error in a cell",
        {"a.ipynb": notebook([code("x = ("), code(TOOL)])},
        "GL900 a.ipynb:cell 1:1",
    )
    yield (
        "a tool behind a cell with a syntax error",
        {"a.ipynb": notebook([code("x = ("), code(TOOL)])},
        "GL101 a.ipynb:cell 2:7",
    )
    yield (
        "a syntax error in the cell of the tool alone",
        {"a.ipynb": notebook([code("x = 1"), code(TOOL + "\n)")])},
        "GL900 a.ipynb:cell 2:9",
    )
    yield (
        "a suppression of the file in a cell with a syntax error",
        {"a.ipynb": notebook([code("# gllint: noqa\nx = ("), code(TOOL)])},
        "GL101 a.ipynb:cell 2:7",
    )
    yield (
        "cell_type in capitals",
        {"a.ipynb": notebook([{**code(TOOL), "cell_type": "CODE"}])},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "cells twice",
        {"a.ipynb": notebook([code(TOOL)])[:-1] + ', "cells": []}'},
        "GL900 a.ipynb:1",
    )
    yield (
        "a source twice",
        {"a.ipynb": notebook([code(TOOL)]).replace('"metadata": {}, "outputs"', '"source": [], "outputs"')},
        "GL900 a.ipynb:1",
    )
    yield (
        "a type of cell twice",
        {
            "a.ipynb": notebook([code(TOOL)]).replace(
                '"metadata": {}, "outputs"', '"cell_type": "raw", "outputs"'
            )
        },
        "GL900 a.ipynb:1",
    )
    yield (
        "a byte order mark",
        {"a.ipynb": b"\xef\xbb\xbf" + notebook([code(TOOL)]).encode()},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "a notebook in UTF-16",
        {"a.ipynb": notebook([code(TOOL)]).encode("utf-16")},
        "told: not checked, cannot be decoded",
    )
    yield "NaN", {"a.ipynb": notebook([code(TOOL)], extra=float("nan"))}, "GL101 a.ipynb:cell 1:7"
    yield (
        "names over cells",
        {
            "a.ipynb": notebook(
                [
                    code("from langchain_core.tools import tool as t"),
                    code("w = t"),
                    code('@w\ndef report(area):\n    return {"heat": 5}'),
                ]
            )
        },
        "GL101 a.ipynb:cell 3:3",
    )
    yield (
        "output cells",
        {"a.ipynb": notebook([code("x", outputs=[{"output_type": "stream", "text": MESSAGE}])])},
        "nothing: no cell of code, so that nothing runs it",
    )
    yield (
        "a skipped cell by tag",
        {"a.ipynb": notebook([code(TOOL, metadata={"tags": ["skip-execution"]})])},
        "GL101 a.ipynb:cell 1:7",
    )
    yield (
        "a notebook named .IPYNB",
        {"a.IPYNB": notebook([code(TOOL)]), "clean.py": CLEAN},
        "GL101 a.IPYNB:cell 1:7",
    )
    yield (
        "checkpoints",
        {".ipynb_checkpoints/a-checkpoint.ipynb": notebook([code(TOOL)]), "clean.py": CLEAN},
        "told: 1 file not checked, excluded by default: .ipynb_checkpoints/a-checkpoint.ipynb",
    )
    yield "a Jupytext script", {"a.py": "# %%\n" + TOOL}, "GL101 a.py:8"
    yield (
        "a marimo notebook",
        {
            "a.py": 'import marimo\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    from langchain_core.tools import tool\n\n    @tool\n    def report(area):\n        return {"heat": 5}\n    return (report,)\n'
        },
        "GL101 a.py:11",
    )


def names() -> Iterator[Attempt]:
    yield (
        "setattr on a class",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\ndef f(self, area):\n    return {"heat": 5}\n\n\nclass A(BaseTool):\n    name: str = "a"\n\n\nsetattr(A, "_run", f)\n'
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "an assigned method",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\ndef f(self, area):\n    return {"heat": 5}\n\n\nclass A(BaseTool):\n    name: str = "a"\n\n\nA._run = f\n'
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "a method assigned in the body",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\ndef f(self, area):\n    return {"heat": 5}\n\n\nclass A(BaseTool):\n    name: str = "a"\n    _run = f\n'
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "match",
        {
            "a.py": tool(result="x").replace(
                "    return", '    match {"heat": 5}:\n        case x:\n            pass\n    return'
            )
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "a lambda in a default",
        {"a.py": tool(result="f()", parameters='area: str, f=lambda: {"heat": 5}')},
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "the method in a mixin",
        {
            "a.py": 'from langchain_core.tools import BaseTool\n\n\nclass M:\n    def _run(self, area):\n        return {"heat": 5}\n\n\nclass A(M, BaseTool):\n    name: str = "a"\n'
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "filled by what nobody sees",
        {
            "a.py": tool(result="o", head="import b").replace(
                "    return", "    o = {}\n    b.fill(o)\n    return"
            )
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "locals()",
        {"a.py": tool(result="locals()").replace("    return", "    heat = 5\n    return")},
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "vars of an object",
        {
            "a.py": tool(result="vars(o)", head="class O:\n    heat = 5\n").replace(
                "    return", "    o = O()\n    o.heat = 5\n    return"
            )
        },
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "json in a helper",
        {"a.py": tool(result='json.loads("{\\"heat\\": 5}")', head="import json")},
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "a literal_eval",
        {"a.py": tool(result="ast.literal_eval(\"{'heat': 5}\")", head="import ast")},
        "told: Not checked: 1 (unknown result",
    )
    yield "minus True", {"a.py": tool(result='{"heat": -True * 5}')}, "told: Not checked: 1 (unknown result"
    yield (
        "a JSON file",
        {"a.py": tool(result="json.load(open('x.json'))", head="import json"), "x.json": '{"heat": 5}'},
        "told: Not checked: 1 (unknown result",
    )
    yield (
        "an exception carries it",
        {
            "a.py": tool(result="e.args[0]").replace(
                "    return e.args[0]",
                '    try:\n        raise ValueError({"heat": 5})\n    except ValueError as e:\n        return e.args[0]',
            )
        },
        "told: Not checked: 1 (unknown result",
    )


KINDS: tuple[Callable[[], Iterator[Attempt]], ...] = (
    encodings, lookalikes, line_ends, suppressions, configurations, places, links, sizes, notebooks, names
)  # fmt: skip
BARE = re.compile(
    r"No findings in \d+ files?\.\n(?:No tools were found there: .+\n)?"
    r"|No Python files were found at the paths given\.\n"
)
NO_FILE_OF_WINDOWS = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems refuse some of the names"
)


def _attempts() -> Iterator[ParameterSet]:
    for kind in KINDS:
        for number, (name, files, outcome) in enumerate(kind()):
            missed = outcome.removeprefix("missed: ") if outcome.startswith("missed: ") else ""
            marks = [pytest.mark.xfail(reason=missed, strict=True, raises=AssertionError)] if missed else []
            shown = ascii(name)[1:-1].replace("\\", "/")
            yield pytest.param(files, outcome, marks=marks, id=f"{kind.__name__}-{number}-{shown}")


def _write(top: Path, files: Files) -> None:
    top.mkdir()
    if not any(name.endswith(".toml") for name in files):
        (top / "gllint.toml").touch()
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            path.symlink_to(content.target)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


@NO_FILE_OF_WINDOWS
@pytest.mark.parametrize(("files", "outcome"), list(_attempts()))
def test_nobody_is_told_only_that_there_are_no_findings(
    files: Files, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "p", files)
    monkeypatch.chdir(tmp_path / "p")
    try:
        done = CliRunner().invoke(cli, ["check", "--output-format", "concise"], catch_exceptions=False)
    except UsageError as error:
        assert outcome.startswith("refused: ")
        assert outcome.removeprefix("refused: ") in str(error)
        return
    if outcome.startswith("missed: "):
        assert done.stdout or not BARE.fullmatch(done.stderr)
    elif outcome.startswith("nothing: "):
        assert not done.stdout and BARE.fullmatch(done.stderr)
    elif outcome.startswith("told: "):
        assert done.exit_code == 0
        assert outcome.removeprefix("told: ") in done.stderr
    else:
        code, place = outcome.split(" ", 1)
        assert any(f"{place}:" in line and f": {code} " in line for line in done.stdout.splitlines()), (
            done.stderr
        )
