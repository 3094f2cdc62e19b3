"""Bytes to text and back."""

from __future__ import annotations

import ast
import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gllint.files.source import Undecodable, as_bytes, decode, keep_lines, main_newline, split_lines
from gllint.files.sources import Sources


@pytest.mark.parametrize(
    ("data", "source", "encoding", "bom"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8", False),
        (b"", "", "utf-8", False),
        (codecs.BOM_UTF8 + b"x = 1\r\n", "x = 1\r\n", "utf-8", True),
        (b"# -*- coding: latin-1 -*-\n'\xe4'\n", "# -*- coding: latin-1 -*-\n'ä'\n", "iso8859-1", False),
        (b"#!/x\n# fileencoding=cp1252\n# \x80\n", "#!/x\n# fileencoding=cp1252\n# €\n", "cp1252", False),
        (b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n", "utf-8", False),
        (b"\n\n# coding: latin-1\n", "\n\n# coding: latin-1\n", "utf-8", False),
        (codecs.BOM_UTF8 + b"# coding: utf-8-sig\n", "# coding: utf-8-sig\n", "utf-8", True),
        (b"# coding: UTF_8-sig\n", "# coding: UTF_8-sig\n", "utf-8", False),
        (b"#" * 3000 + b"\n# coding: cp1252\n#\x80", "#" * 3000 + "\n# coding: cp1252\n#€", "cp1252", False),
        (b"#" * 3000 + b" coding: cp1252\n#\x80", "#" * 3000 + " coding: cp1252\n#€", "cp1252", False),
    ],
)
def test_decodes_as_python_does(data: bytes, source: str, encoding: str, bom: bool) -> None:
    text = decode(data)
    assert (text.source, text.encoding, text.bom) == (source, encoding, bom)
    assert text.encode(text.source) == data
    ast.parse(data)


@pytest.mark.parametrize(
    ("data", "word", "place"),
    [
        (b"a = 1\nb = '\xff'\n", "utf-8", (2, 6)),
        (b"# coding: nonsense\n", "unknown encoding", (1, 1)),
        (b"# coding: rot13\n", "unknown encoding", (1, 1)),
        (b"\n# coding: base64\n", "unknown encoding", (2, 1)),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "UTF-8 mark", (1, 1)),
        ("x = 1\n".encode("utf-16"), "UTF-16", (1, 1)),
        (b"a = 1\nbc\0d\n", "null byte", (2, 3)),
    ],
)
def test_says_where_bytes_are_no_text(data: bytes, word: str, place: tuple[int, int]) -> None:
    with pytest.raises(Undecodable, match=word) as caught:
        decode(data)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    "cookie", ["", "# coding: latin-1\n", "\n# coding: cp1252\n", "# coding: nonsense\n"]
)
def test_writes_a_text_as_it_declares_itself(cookie: str) -> None:
    source = f"{cookie}x = 'déjà'\n"
    try:
        assert decode(as_bytes(source)).source == source
    except Undecodable as error:
        assert "nonsense" in error.message
    assert as_bytes(f"# coding: latin-1\n{source}€").endswith("€".encode())  # no latin-1 holds it


@given(st.text(st.sampled_from("ab\r\n\x0b\x0c\x1c\x85\u2028 "), max_size=30))
def test_counts_lines_as_python_does(source: str) -> None:
    kept = keep_lines(source)
    assert "".join(kept) == source
    assert [line.rstrip("\r\n") for line in kept] == split_lines(source)
    assert len(split_lines(source)) == len(source.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - (
        source == "" or source[-1] in "\r\n"
    )


@given(st.text(max_size=50), st.booleans())
def test_gives_every_byte_back(source: str, bom: bool) -> None:
    data = (codecs.BOM_UTF8 if bom else b"") + source.replace("\0", "").encode("utf-8", "replace")
    try:
        text = decode(data)
    except Undecodable:
        return
    assert text.encode(text.source) == data


def test_knows_the_line_ending_in_use() -> None:
    assert main_newline("a\r\nb\n") == "\r\n"
    assert main_newline("a\rb") == "\r"
    assert main_newline("ab") == "\n"


@pytest.mark.parametrize(
    "name", ["u8", "utf8", "UTF_8", "utf-8-unix", "latin-1-unix", "Latin_1", "l1", "cp1252", "hex", "?"]
)
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8, codecs.BOM_UTF8 * 2])
@pytest.mark.parametrize(
    "first", ["# coding: {}", "#!/x\n# vim: set fileencoding={} :", "\f# coding={}\r", "x = 1 # coding={}"]
)
def test_what_python_decodes_is_decoded(name: str, mark: bytes, first: str) -> None:
    data = mark + f"{first.format(name)}\ns = 'é'\n".encode()
    try:
        compile(data, "x.py", "exec", dont_inherit=True)
    except SyntaxError:
        with pytest.raises(Undecodable):
            decode(data)
    else:
        decode(data)


def test_of_a_file_that_was_empty_nothing_is_held_where_nothing_is_to_be(tmp_path: Path) -> None:
    """An editor's server went on taking it for empty: of no bytes none were over what may be held."""
    path = tmp_path / "__init__.py"
    path.write_bytes(b"")
    sources = Sources(most=0)
    assert sources.read(str(path)) == b""
    path.write_bytes(b"x = 1\n")
    assert sources.read(str(path)) == b"x = 1\n"
