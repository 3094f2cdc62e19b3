"""Notebooks as Python: the code cells joined in order, and from the joined text back to the bytes of the file.

The joined text has a line for each line of each code cell. What only IPython reads (``%matplotlib inline``, ``!ls``,
``obj?``) is left out: another statement is in its line, so that every place is the one in the cell. Behind a magic
is Python where it parses (``%%writefile agent.py``). Any other cell in another language (``%%sql``) has no lines. A
cell that is no Python is there as comments, with a statement that binds its names to nothing known, and with the
reason, which :func:`~gllint.files.source.unread_cells` returns. What cannot be read comes back as bytes that
:func:`~gllint.files.source.decode` rejects with the reason.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

from gllint.files.source import (
    BROKEN,
    UNREAD_CELL,
    Change,
    Offsets,
    Undecodable,
    changed,
    keep_lines,
    refuse_null,
)
from gllint_rules.tuples import NamedTuple

if TYPE_CHECKING:
    from gllint_rules.reading.syntax import ParseFailure

_MOST_BYTES = 64_000_000
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_MAGIC_LINE = re.compile(r"\s*%%[^\n]*\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_COOKIE = re.compile(r"coding(?=[:=])")
# Cell magics whose cell is Python, even where it does not parse.
_PYTHON_CELLS = frozenset(
    {"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3", "pypy"}
)
_OTHER_CELLS = frozenset(
    {
        "!", "bash", "cmd", "html", "javascript", "js", "julia", "latex", "markdown", "perl", "powershell", "r", "ruby",
        "sh", "sql", "svg", "sx", "system",
    }
)  # fmt: skip
_PYTHON_KERNELS = ("python", "python3", "ipython", "ipython3", "")
_CELL_MAGIC = re.compile(r"\s*%%(\w+|!)")
_BEGINNINGS = ("%", "!", "?", "/", ",", ";")  # of no line of Python
# Magics that IPython takes without their sign where the line is no Python: `pip install x`.
_BARE_MAGIC = re.compile(
    r"(?:pip|conda|mamba|micromamba|uv|cd|ls|ll|pwd|mkdir|rmdir|cp|mv|rm|cat|less|more|man|env|set_env|config|"
    r"load|load_ext|reload_ext|matplotlib|pylab|run|time|timeit|prun|who|whos|reset|store|history|debug|writefile)"
    r"[ \t]+(?!(?:if|is|in|not|and|or|for|else|as)\b)[\w./~$-]"
)
_HELP = re.compile(r"[^#\"']*[\w\])]\?\??\Z")
_ASSIGNED = re.compile(r"(?P<target>\s*[^\s=!%#\"'][^=!%\n]*=[ \t]*)(?:!|%(?=\w))")
_STRING = re.compile(r"(?i:[rbfut]{0,2})(\"\"\"|'''|\"|')|#|[\[\](){}]|\\$")


_STATEMENT = re.compile(r"[;\r\n]")
_NAME = re.compile(r"[^\W\d]\w*")
_BOUND = re.compile(r"\b(?:def|class|as|global)[ \t]+([^\W\d]\w*)|\b([^\W\d]\w*+)[ \t]*+:=")
_FOR = re.compile(r"\bfor[ \t]+([^:]{1,200}?)[ \t]in\b")
_IMPORTING = re.compile(r"\bimport\b")
_GOES_ON = re.compile(r"[\w \t,)]*+(?:#.*)?\Z")
_COMPOUND = re.compile(r"\s*(?:if|elif|else|while|for|with|try|except|finally|async|match|case)\b[^=:]*+:")
_COMPARISON = re.compile(r"(?<![<>])[=!<>]=|:=")
_CALL = re.compile(r"\w[ \t]*\(")
_ANNOTATION = re.compile(r":[^=]*")
_OURS = re.compile(
    r"(?i)\b(no|gl)(qa|lint)\b"
)  # what a cell says to us in comments, or in strings, is not obeyed


class Place(NamedTuple):
    """The place of a line of the joined text: its cell and the line in it, from 1, and the line of the file."""

    cell: int
    line: int
    file_line: int


class _Piece(str):
    """A string of the file, with where it is there, quotes aside."""

    start: int
    end: int


class _Line(NamedTuple):
    cell: int  # its number in the file, from 1
    number: int  # within the cell, from 1
    offset: int  # in the text of the cell
    size: int


@dataclass
class Notebook:
    """A notebook that could be read. ``source`` is its code as one text, ``cells`` those that are Python, by number."""

    text: str
    source: str
    lines: list[_Line] = field(default_factory=list)
    written: list[str] = field(default_factory=list)  # what is in each line, without its ending
    cells: dict[int, list[_Piece]] = field(default_factory=dict)
    mark: bytes = b""

    @cached_property
    def _in_text(self) -> Offsets:
        return Offsets(self.text)

    @cached_property
    def _in_source(self) -> Offsets:
        return Offsets(self.source)

    def place(self, line: int) -> Place:
        """Return where a line of ``source``, from 1, is; one beyond the end is the last one."""
        if not self.lines:
            return Place(1, 1, 1)
        at = self.lines[min(max(line, 1), len(self.lines)) - 1]
        return Place(at.cell, at.number, self._in_text.place(self._raw(at.cell, at.offset))[0])

    def with_changes(self, changes: Iterable[Change]) -> bytes:
        """Return the bytes of the file with changes, which do not overlap, of its code; every other byte stays.

        Raises ValueError if one reaches over several cells.
        """
        edits = [edit for change in changes for edit in self._in_file(*self.in_cell(*change))]
        return self.mark + changed(self.text, edits).encode("utf-8", "surrogatepass")

    def in_cell(self, start: int, end: int, content: str) -> tuple[int, int, int, str]:
        """Return a change of ``source`` as one of a cell: its number, the start and end in its text, and the content.

        Raises ValueError for a change over several cells.
        """
        if not self.lines:
            raise ValueError("the notebook has no code")
        first, column = self._line(start)
        is_line = content.endswith("\n") or first == len(self.lines)
        if start == end and column == 0 and is_line and self._begins_cell(first):
            return self._lines_before(first, content)
        last, end_column = self._line(end - 1) if end > start else (first, column - 1)
        begin, finish = self.lines[first], self.lines[last]
        if begin.cell != finish.cell:
            raise ValueError("the change affects several cells")
        low = begin.offset + min(column, begin.size)
        high = finish.offset + min(end_column + 1, finish.size)
        if end_column + 1 > finish.size:  # the newline that is between two cells is in none of them
            content = content.removesuffix("\n").removesuffix("\r")
        return begin.cell, low, high, content

    def _lines_before(self, line: int, content: str) -> tuple[int, int, int, str]:
        """Return the insertion of whole lines where a cell begins, as one in a cell: its number, start, end and
        content.

        They go to the end of the previous cell, so that a magic stays the first line of its cell; in the first
        cell, behind its magic (``%%time``).
        """
        if line == 0:
            first = self.lines[0]
            text = "".join(self.cells[first.cell])
            magic = _MAGIC_LINE.match(text)
            if magic is None:
                return first.cell, 0, 0, content
            return (
                first.cell,
                magic.end(),
                magic.end(),
                content if magic[0].endswith("\n") else "\n" + content,
            )
        previous = self.lines[line - 1]
        end = previous.offset + previous.size
        if "".join(self.cells[previous.cell]).endswith(("\n", "\r")):
            return previous.cell, end, end, content
        bare = content.removesuffix("\n").removesuffix("\r")
        return previous.cell, end, end, (content[len(bare) :] or "\n") + bare

    def _begins_cell(self, line: int) -> bool:
        return line in (0, len(self.lines)) or self.lines[line].cell != self.lines[line - 1].cell

    def _line(self, offset: int) -> tuple[int, int]:
        """Return the line of ``source`` that an offset is in, and the column in it, both counted from 0."""
        line, column = self._in_source.place(offset)
        return line - 1, column - 1

    def _in_file(self, cell: int, start: int, end: int, content: str) -> Iterator[Change]:
        """Yield a change of a cell as changes of the JSON strings in the file that contain its text."""
        content = json.dumps(content, ensure_ascii=self.text.isascii())[1:-1]
        size = 0
        for piece in self.cells[cell]:
            low, high = max(start, size), min(end, size + len(piece))
            if low < high or (start == end and size <= start <= size + len(piece)):
                yield self._offset(piece, low - size), self._offset(piece, max(low, high) - size), content
                content = ""
                if start == end:
                    return
            size += len(piece)

    def _raw(self, cell: int, offset: int) -> int:
        """Return where a character of a cell is in the file."""
        for piece in self.cells[cell]:
            if offset < len(piece):
                return self._offset(piece, offset)
            offset -= len(piece)
        return self.cells[cell][-1].end if self.cells[cell] else 0

    def _offset(self, piece: _Piece, offset: int) -> int:
        r"""Return the place in the file of a character of a JSON string, in which escapes (``\n``, ``\u00e9``) are
        longer.
        """
        raw = self.text[piece.start : piece.end]
        if "\\" not in raw:
            return piece.start + offset
        starts: list[int] = []
        was_high = False
        for unit in _UNIT.finditer(raw):
            value = int(unit.group()[2:], 16) if unit.group().startswith("\\u") else 0
            if not (was_high and 0xDC00 <= value <= 0xDFFF):  # else the second half of the character before
                starts.append(unit.start())
                was_high = 0xD800 <= value <= 0xDBFF
            else:
                was_high = False
        starts.append(len(raw))
        return piece.start + starts[min(offset, len(starts) - 1)]


def as_python(data: bytes) -> bytes:
    """Return the code of a notebook; where it cannot be read bytes that say why. Never raises."""
    result = read(data)
    if isinstance(result, Notebook):
        return result.source.encode("utf-8")
    return BROKEN + result.encode("utf-8", "replace") + b"\n" + data


def read(data: bytes) -> Notebook | str:
    """Return the notebook, or ``"line:column: reason"`` (``"1:1: not a notebook: …"``) if the bytes are not one.

    A notebook in another language has no cells in the result. Never raises.
    """
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    if not data[len(mark) :].strip():
        return Notebook("", "")  # as Jupyter takes an empty file: a notebook without cells
    if len(data) > _MOST_BYTES:
        return f"1:1: too large to be read: {len(data):,} bytes"
    try:
        text = data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"{line}:1: not utf-8 text: {error.reason}"
    try:
        document = _Decoder().decode(text)
    except json.JSONDecodeError as error:
        return f"{error.lineno}:{error.colno}: not valid JSON: {error.msg}"
    except RecursionError:
        return "1:1: not valid JSON: nested too deeply"
    problem = _problem(document)
    if problem is not None:
        return f"1:1: {problem}"
    # Of a notebook in another language nothing is checked.
    return _as_notebook(text, document, mark) if _is_python(document) else Notebook(text, "", mark=mark)


def _problem(document: Any) -> str | None:
    """Return why a JSON document is no notebook, ``None`` if it is: "not a notebook: it has no list of cells"."""
    if not isinstance(document, dict):
        return "not a notebook: it is not a JSON object"
    if not isinstance(document.get("cells"), list):
        return "not a notebook: it has no list of cells"
    for number, cell in enumerate(document["cells"], 1):
        if not isinstance(cell, dict):
            return f"not a notebook: cell {number} is not an object"
        if _is_code(cell) and _pieces(cell) is None:
            return f"not a notebook: the source of cell {number} is not text"
    return None


def _is_code(cell: dict[str, Any]) -> bool:
    kind = cell.get("cell_type")
    return isinstance(kind, str) and kind.lower() == "code"


def _pieces(cell: dict[str, Any]) -> list[_Piece] | None:
    """Return the strings of a cell's source, ``None`` if it is not a text."""
    source = cell.get("source", [])
    pieces = source if isinstance(source, list) else [source]
    return pieces if all(isinstance(piece, _Piece) for piece in pieces) else None


class _Decoder(json.JSONDecoder):
    """Reads JSON, its strings with their places. A number of any length says nothing to us."""

    def __init__(self) -> None:
        super().__init__(parse_int=float)
        self.parse_string = _scan_piece
        self.scan_once = py_make_scanner(self)  # the one in C would not ask


def _scan_piece(text: str, start: int, strict: bool) -> tuple[_Piece, int]:
    value, end = scanstring(text, start, strict)
    piece = _Piece(value)
    piece.start, piece.end = start, end - 1
    return piece, end


def _is_python(document: dict[str, Any]) -> bool:
    """Return whether the kernel of a notebook is Python, which is the default."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return True
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key)
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name]).lower() in _PYTHON_KERNELS
    return True


def _as_notebook(text: str, document: dict[str, Any], mark: bytes) -> Notebook:
    """Return a notebook whose ``source`` is the Python of its code cells; what is no Python in them is a comment
    there.
    """
    notebook = Notebook(text, "", mark=mark)
    lines: list[str] = []
    for number, cell in enumerate(document["cells"], 1):
        pieces = _pieces(cell) if _is_code(cell) else None
        if not pieces:
            continue
        code = "".join(pieces)
        python = _without_magics(code)
        if python is None or not code.strip():
            continue
        python = [line.replace(UNREAD_CELL, UNREAD_CELL.upper()) for line in python]  # it is ours to say
        notebook.cells[number] = pieces
        refusal = _refusal("".join(python))
        if refusal is not None:
            python = _as_comments(code, refusal, len(lines))
        offset = 0
        for count, (line, whole) in enumerate(zip(python, keep_lines(code), strict=True), 1):
            notebook.lines.append(_Line(number, count, offset, len(whole)))
            notebook.written.append(_SURROGATE.sub("\ufffd", whole.rstrip("\r\n")))
            lines.append(line if line.endswith(("\n", "\r")) else line + "\n")
            offset += len(whole)
    for index in range(min(2, len(lines))):  # the text is UTF-8, whatever a comment in it declares
        if lines[index].lstrip().startswith("#"):
            lines[index] = _COOKIE.sub("codinG", lines[index])
    notebook.source = _SURROGATE.sub("\ufffd", "".join(lines))
    return notebook


# --- what no one can read -----------------------------------------------------------------------------------


def _refusal(code: str) -> ParseFailure | None:
    """Return the syntax error of a cell; ``None`` if the cell is Python, perhaps of a newer version."""
    if _parses(code):
        return None
    from gllint_rules.reading.modules import read_module
    from gllint_rules.reading.stack import on_large_stack
    from gllint_rules.reading.syntax import ParseFailure

    try:
        refuse_null(code, "source code")
        on_large_stack(read_module, "", _SURROGATE.sub("\ufffd", code))
    except Undecodable as refusal:
        return ParseFailure(refusal.message, refusal.line, refusal.column)
    except ParseFailure as refusal:
        return refusal
    except Exception as error:  # a parser that fails in its own way
        return ParseFailure(f"cannot be parsed: {type(error).__name__}")
    return None


def _as_comments(code: str, refusal: ParseFailure, line_offset: int) -> list[str]:
    """Return the lines of a cell that does not parse as comments, the last one with a statement that binds its
    names.

    ``x = !ls`` → ``x = get_ipython()  # …``: a value that gllint does not know. The comments keep the words of the
    cell, by which files are screened.
    """
    lines = ["#" + _OURS.sub(r"\1-\2", line).replace("\0", "\ufffd") for line in keep_lines(code)]
    line, why = min(refusal.line, len(lines)), " ".join(refusal.message.split())
    names = "".join(f"{name} = " for name in _names_bound(code))
    reason = f"{UNREAD_CELL}{line_offset + line}:{refusal.column}: {why}"
    lines[-1] = f"{names}get_ipython()  {reason}\t{lines[-1]}"
    return lines


def _names_bound(code: str) -> list[str]:
    """Return the names that code in another language may bind, in order; a name too many does no harm."""
    names: dict[str, None] = {}
    is_import = False  # in the brackets that an import opens
    for statement in _STATEMENT.split(code):
        *_, imported = ["", *_IMPORTING.split(statement, 1)[1:]]
        if is_import and _GOES_ON.match(statement) is not None:
            imported = statement
        is_import = "(" in imported or (is_import and bool(imported) and ")" not in imported)
        bound = (name for groups in _BOUND.findall(statement) for name in groups)
        for text in (imported, *_FOR.findall(statement), *bound, _target(statement)):
            names.update(dict.fromkeys(_NAME.findall(text)))
    return [name for name in names if name.isidentifier() and not keyword.iskeyword(name)]


def _target(statement: str) -> str:
    """Return the text before the last equals sign of an assignment, without its annotation."""
    head = _COMPARISON.sub(" ", statement).rpartition("=")[0]
    compound = _COMPOUND.match(head)
    head = head if compound is None else head[compound.end() :]
    return "" if _CALL.search(head) else _ANNOTATION.sub("", head)


# --- what only IPython reads --------------------------------------------------------------------------------


def _without_magics(code: str) -> list[str] | None:
    """Return the lines of a cell as Python, ``%`` and ``!`` lines replaced; ``None`` for a cell in another language."""
    lines = keep_lines(code)
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first]) if lines else None
    if magic is not None:
        name = magic[1].lower()
        lines = [*lines[:first], _ending(lines[first]), *lines[first + 1 :]]
        if name not in _PYTHON_CELLS and (name in _OTHER_CELLS or not _parses("".join(lines))):
            return None
    if _parses("".join(lines)):
        return lines
    python_lines: list[str] = []
    quote, depth, is_joined = "", 0, False
    goes_on = False  # whether a line of IPython ends with a backslash, so that the next is a part of it
    for line in lines:
        if goes_on or (not quote and not depth and not is_joined and _is_magic(line)):
            python_lines.append(_ending(line) if goes_on else _stand_in(line))
            goes_on = line.rstrip().endswith("\\")
            continue
        python_lines.append(line)
        quote, depth, is_joined = _line_state(line, quote, depth)
    return python_lines


def _is_magic(line: str) -> bool:
    bare = line.strip()
    if bare.startswith(_BEGINNINGS) or _HELP.match(bare) is not None or _ASSIGNED.match(line) is not None:
        return True
    return _BARE_MAGIC.match(bare) is not None and not _parses(bare)


def _stand_in(line: str) -> str:
    """Return a statement for a line that only IPython reads, where what it assigns is not known."""
    assigned = _ASSIGNED.match(line)
    if assigned is not None:
        return f"{assigned['target']}get_ipython(){_ending(line)}"
    indent = line[: len(line) - len(line.lstrip())].strip("\r\n")
    return f"{indent}pass{_ending(line)}"


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _line_state(line: str, quote: str, depth: int) -> tuple[str, int, bool]:
    """Return the quote and the bracket depth that are open after a line, and whether a backslash joins the next line.

    ``x = f([`` → ``("", 2, False)``. A quote of one character is closed at the end of the line.
    """
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            while end > 0 and _is_escaped(line, end):
                end = line.find(quote, end + 1)
            if end < 0:
                return (quote if len(quote) == 3 else ""), depth, False
            at, quote = end + len(quote), ""
            continue
        token = _STRING.search(line, at)
        if token is None or token.group() == "#":
            break
        at = token.end()
        if token[1]:
            quote = token[1]
        elif token.group() in "([{":
            depth += 1
        elif token.group() in ")]}":
            depth = max(0, depth - 1)
    is_joined = not quote and line.rstrip("\r\n").endswith("\\")
    return quote, depth, is_joined


def _is_escaped(line: str, at: int) -> bool:
    return (at - len(line[:at].rstrip("\\"))) % 2 == 1


def _parses(code: str) -> bool:
    """Return whether Python can parse the code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
