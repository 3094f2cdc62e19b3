"""The text of files that are not Python and that the project reads by a literal path.

``Path("prompts/final.j2").read_text()``, ``open(…).read()``, ``files("pkg").joinpath("final.md").read_text()``,
``yaml.safe_load(f)["final"]``, ``env.get_template("report.md.j2").render(…)``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gllint_rules.inference.origins import MOST_STEPS, origin
from gllint_rules.inference.values import (
    UNKNOWN,
    DictOf,
    Entry,
    External,
    ExternalInstance,
    Interpolation,
    Key,
    ListOf,
    Literal,
    Site,
    Text,
    Value,
    literal_of,
)
from gllint_rules.reading import facts
from gllint_rules.reading.data_files import ListNode, MapNode, Node, OtherNode, TextNode, leaves
from gllint_rules.reading.facts import Call, Expr
from gllint_rules.reading.text_files import Part, TextModule
from gllint_rules.words.text_files import TEXT_MARK

if TYPE_CHECKING:
    from gllint_rules.inference.protocol import Evaluator
    from gllint_rules.inference.values import Frame

_PARSERS = frozenset(
    {"json.load", "json.loads", "yaml.load", "yaml.safe_load", "yaml.full_load", "simplejson.load",
     "simplejson.loads", "orjson.loads", "ujson.loads"}
)  # fmt: skip
_OPENERS = frozenset({"builtins.open", "io.open", "codecs.open", "aiofiles.open"})
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "anyio.Path", "os.path.join", "posixpath.join"})
_SAME_PATH = frozenset(
    {"builtins.str", "os.fspath", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser"}
)  # fmt: skip
_SAME_METHODS = frozenset({"resolve", "absolute", "expanduser", "as_posix"})
_PACKAGE_FILES = frozenset({"importlib.resources.files", "importlib_resources.files"})
_PACKAGE_TEXTS = frozenset({"importlib.resources.read_text", "importlib_resources.read_text"})
_TEMPLATE_CALLS = frozenset({"flask.render_template", "django.template.loader.render_to_string"})
_TEMPLATES = frozenset({"jinja2.Template", "jinja2.environment.Template", "string.Template"})
_LOADERS = frozenset({"FileSystemLoader", "PackageLoader", "ChoiceLoader"})
# The last names of calls that read such a file, make a template of a text, or one of a template.
READERS = frozenset(
    {"read_text", "read", "get_template", "from_string", "Template", "get_data"}
    | {name.rpartition(".")[2] for name in (*_PARSERS, *_PACKAGE_TEXTS, *_TEMPLATE_CALLS)}
)
RENDERERS = frozenset({"render", "render_async", "substitute", "safe_substitute"})
_MOST_DEPTH = 50  # of nodes in nodes
# In the names of methods that return the text of a file.
_GIVES_TEXT = re.compile(
    r"read|load|open|text|content|prompt|template|source|file|data|get|fetch|strip|decode"
)


class TemplateInstance(ExternalInstance, frozen=True):
    """A template object whose ``text`` is known."""

    text: Text = Text()

    @property
    def identity(self) -> object:
        return self


def read(evaluator: Evaluator, call: Call, frame: Frame) -> Value | None:
    """Return the value that a call reads from a file of the project; None if it reads no known file."""
    module = file_of(evaluator, call, frame)
    name = facts.last_name(call.func)
    if module is None:
        return _template(evaluator, call, frame) if name in ("Template", "from_string") else None
    if name == "get_template":
        return TemplateInstance("jinja2.Template", text=whole_text(module))
    if _external(evaluator, call, frame) in _PARSERS:
        return _document(module, module.roots[0]) if len(module.roots) == 1 else UNKNOWN
    return whole_text(module)


def file_of(evaluator: Evaluator, call: Call, frame: Frame) -> TextModule | None:
    """Return the file that a call reads, None if it is unknown or the call reads none."""
    name = facts.last_name(call.func)
    match call.func:
        case facts.Attr(base=base) if name == "read_text" and _external(evaluator, call, frame) is None:
            return _file_at(evaluator, path_of(evaluator, base, frame), frame)
        case facts.Attr(base=base) if name == "read" and not call.args:
            return _opened(evaluator, base, frame)
        case facts.Attr(base=base) if name == "get_template" and call.args:
            return _template_file(evaluator, base, call.args[0], frame)
        case _:
            pass
    match _external(evaluator, call, frame):
        case full if full in _PARSERS and call.args:
            return _parsed(evaluator, call.args[0], frame)
        case full if full in _TEMPLATE_CALLS and call.args:
            return _template_file(evaluator, None, call.args[0], frame)
        case full if full in _PACKAGE_TEXTS and len(call.args) > 1:
            folder = _package(evaluator, call.args[0], frame)
            names = [literal_of(evaluator.eval(arg, frame)) for arg in call.args[1:]]
            if folder is not None and all(names):
                return _file_at(evaluator, "/".join([folder, *filter(None, names)]), frame)
        case _:
            pass
    return None


def _external(evaluator: Evaluator, call: Call, frame: Frame) -> str | None:
    """Return the full name of a called function of another package (``json.loads``), None for other calls."""
    callee = evaluator.eval(call.func, frame)
    return callee.name if isinstance(callee, External) else None


def _opened(evaluator: Evaluator, expr: Expr, frame: Frame) -> TextModule | None:
    """Return the file behind an open file object."""
    expr, frame = origin(evaluator, expr, frame)
    if isinstance(expr, facts.Await):
        expr = expr.value
    if not isinstance(expr, Call) or (isinstance(expr.func, facts.Attr) and expr.func.name != "open"):
        return None
    if _external(evaluator, expr, frame) in _OPENERS and expr.args:
        return _file_at(evaluator, path_of(evaluator, expr.args[0], frame), frame)
    if isinstance(expr.func, facts.Attr) and expr.func.name == "open":
        return _file_at(evaluator, path_of(evaluator, expr.func.base, frame), frame)
    return None


def _parsed(evaluator: Evaluator, expr: Expr, frame: Frame) -> TextModule | None:
    """Return the file whose content a parser receives."""
    made, home = origin(evaluator, expr, frame)
    match made:
        case Call(func=facts.Attr(name=name)) if _GIVES_TEXT.search(name) is None:
            return None  # `report.to_json()` reads no file, and takes long to evaluate
    opened = _opened(evaluator, made, home)
    if opened is not None:
        return opened
    value = evaluator.eval(expr, frame)
    if isinstance(value, Text) and value.parts is not None and len(value.parts) == 1:
        part = value.parts[0]
        if isinstance(part, Literal) and isinstance(part.site.module, TextModule) and part.site.at == 0:
            return part.site.module
    return None


def _file_at(evaluator: Evaluator, path: str | None, frame: Frame) -> TextModule | None:
    """Return the text file at a path, as the module of ``frame`` names it; None if there is none."""
    if not path:
        return None
    target = evaluator.modules.find_module(frame.module.path, f"{TEXT_MARK}{path}")
    module = evaluator.modules.module_at(target) if target is not None else None
    return module if isinstance(module, TextModule) else None


# --- paths ---------------------------------------------------------------------------------------------------


def path_of(evaluator: Evaluator, expr: Expr, frame: Frame, depth: int = 0) -> str | None:
    """Return the path that an expression gives, None if a part of it is unknown.

    It is absolute if it begins at a file of the project (``Path(__file__).parent / "a.md"``), else relative as in the
    source (``"prompts/a.md"``). The current directory is "".
    """
    if depth > MOST_STEPS:
        return None

    def path(inner: Expr, home: Frame = frame) -> str | None:
        return path_of(evaluator, inner, home, depth + 1)

    match expr:
        case facts.Name(id="__file__") if frame.scope.home("__file__") is None:
            return frame.module.path
        case facts.BinOp(op="/", left=left, right=right):
            return _joined([path(left), path(right)])
        case facts.BinOp(op="+", left=left, right=right):
            first, second = path(left), path(right)
            return first + second if first is not None and second is not None else None
        case facts.Attr(base=base, name="parent"):
            return _above(path(base))
        case facts.Sub(base=facts.Attr(base=base, name="parents"), index=facts.Const(value=int(steps))):
            above: str | None = path(base)
            for _ in range(min(max(steps, 0), 20) + 1):
                above = _above(above)
            return above
        case facts.Call(func=func, args=args):
            return _path_of_call(evaluator, expr, func, args, frame, depth)
        case facts.Const(value=str(text)):
            return None if text.startswith(("/", "~")) else text.replace("\\", "/")
        case facts.Join(parts=parts):
            pieces = [
                str(part.value) if isinstance(part, facts.Const)
                else path(part.value) if isinstance(part, facts.Hole) and not part.spec
                else None
                for part in parts
            ]  # fmt: skip
            return None if None in pieces else "".join(filter(None, pieces))
        case _:
            pass
    source, home = origin(evaluator, expr, frame)
    if source is not expr:
        return path(source, home)
    literal = literal_of(evaluator.eval(expr, frame))
    return literal if literal and not literal.startswith(("/", "~")) else None


def _path_of_call(
    evaluator: Evaluator, call: Call, func: Expr, args: Sequence[Expr], frame: Frame, depth: int
) -> str | None:
    """Return the path of a call such as ``Path(a, b)``, ``os.path.join(a, b)``, ``base.joinpath(c)``; else None."""
    name = _external(evaluator, call, frame) or ""
    if name in _PATHS:
        return _joined([path_of(evaluator, arg, frame, depth + 1) for arg in args])
    if name in _SAME_PATH and args:
        return path_of(evaluator, args[0], frame, depth + 1)
    if name == "os.path.dirname" and args:
        return _above(path_of(evaluator, args[0], frame, depth + 1))
    if name in _PACKAGE_FILES and args:
        return _package(evaluator, args[0], frame)
    if name in ("pathlib.Path.cwd", "os.getcwd"):
        return ""
    if not isinstance(func, facts.Attr):
        return None
    base = path_of(evaluator, func.base, frame, depth + 1)
    if base is None or func.name in _SAME_METHODS:
        return base
    names = [literal_of(evaluator.eval(arg, frame)) for arg in args]
    if not names or not all(names):
        return None
    if func.name == "joinpath":
        return _joined([base, *names])
    if func.name == "with_name":
        return _joined([_above(base), *names])
    return f"{posixpath.splitext(base)[0]}{names[0]}" if func.name == "with_suffix" else None


def _joined(parts: Sequence[str | None]) -> str | None:
    if any(part is None for part in parts):
        return None
    return posixpath.join("", *(part for part in parts if part))


def _above(path: str | None) -> str | None:
    return posixpath.dirname(path) if path else None


def _package(evaluator: Evaluator, expr: Expr, frame: Frame) -> str | None:
    """Return the folder of the package that an expression names: ``"my.package"``, ``__package__``, ``__name__``."""
    match expr:
        case facts.Name(id="__package__" | "__name__"):
            return posixpath.dirname(frame.module.path)
        case _:
            name = literal_of(evaluator.eval(expr, frame))
    path = evaluator.modules.find_module(frame.module.path, name) if name else None
    return posixpath.dirname(path) if path is not None else None


# --- templates -----------------------------------------------------------------------------------------------


def _template(evaluator: Evaluator, call: Call, frame: Frame) -> Value | None:
    """Return the template object that a call makes from the text of a file; None for other calls."""
    is_known = facts.last_name(call.func) == "from_string" or _external(evaluator, call, frame) in _TEMPLATES
    text = evaluator.eval(call.args[0], frame) if is_known and call.args else None
    if not isinstance(text, Text) or not is_of_a_file(text):
        return None
    return TemplateInstance("jinja2.Template", text=text)


def _template_file(
    evaluator: Evaluator, environment: Expr | None, name: Expr, frame: Frame
) -> TextModule | None:
    """Return the file of the template ``name`` of a Jinja ``environment`` (None: the framework's default)."""
    text = literal_of(evaluator.eval(name, frame)) or ""
    if not text or text.startswith("/"):
        return None
    folders = _template_folders(evaluator, environment, frame)
    # Without known folders, the file is looked up by its name in the whole project (`?`).
    paths = [_joined([folder, text]) for folder in folders] or [f"?{text}"]
    return next(filter(None, (_file_at(evaluator, path, frame) for path in paths)), None)


def _template_folders(evaluator: Evaluator, environment: Expr | None, frame: Frame) -> Sequence[str]:
    """Return the template folders of an environment; none if one of them is unknown."""
    folders = list(_folders(evaluator, environment, frame)) if environment is not None else []
    return [] if None in folders else [folder for folder in folders if folder is not None]


def _folders(evaluator: Evaluator, environment: Expr, frame: Frame) -> Iterator[str | None]:
    """Yield the folders from which an environment loads its templates, None for an unknown one."""
    made, home = origin(evaluator, environment, frame)
    if not isinstance(made, Call):
        return
    loader = made.keyword("loader", "directory")
    if loader is None and facts.last_name(made.func) == "Jinja2Templates":
        loader = made.args[0] if made.args else None
    if loader is not None:
        yield from _loaded_folders(evaluator, loader, home, 0)


def _loaded_folders(evaluator: Evaluator, loader: Expr, frame: Frame, depth: int) -> Iterator[str | None]:
    """Yield the folders of a Jinja loader, None for an unknown one."""
    loader, frame = origin(evaluator, loader, frame)
    if depth > MOST_STEPS:
        return
    match loader:
        case facts.Seq(items=items):
            for item in items:
                yield from _loaded_folders(evaluator, item, frame, depth + 1)
        case Call(func=func, args=args) if facts.last_name(func) in _LOADERS and args:
            if facts.last_name(func) != "PackageLoader":
                yield from _loaded_folders(evaluator, args[0], frame, depth + 1)
                return
            inner = loader.keyword("package_path") or (args[1] if len(args) > 1 else None)
            folder = literal_of(evaluator.eval(inner, frame)) if inner is not None else "templates"
            yield _joined([_package(evaluator, args[0], frame), folder])
        case _:
            yield path_of(evaluator, loader, frame)


# --- values --------------------------------------------------------------------------------------------------


def _piece(module: TextModule, part: Part) -> Literal | Interpolation:
    """Return a part of a file's text as a literal, or as an unknown value if a template fills it in."""
    site = Site(module, part.at)
    return Literal(part.text, site) if part.text is not None else Interpolation(UNKNOWN, site)


def whole_text(module: TextModule) -> Text:
    """Return the text of a file that is not data; the templates that it includes are unknown in it."""
    return Text(tuple(_piece(module, part) for part in module.parts))


def node_text(module: TextModule, node: TextNode) -> Text:
    """Return the text of one string in a YAML or JSON file."""
    return Text(tuple(_piece(module, part) for part in module.node_parts[node]))


def _document(module: TextModule, root: Node) -> Value:
    """Return the value of one document; unknown if it has numbers and no template.

    Such a file is data: only an annotation of the code that reads it can say what its numbers are.
    """
    nodes = list(leaves([root]))
    has_templates = any(isinstance(node, TextNode) and "{" in node.text for node in nodes)
    if not has_templates and any(_is_number(module, node) for node in nodes):
        return UNKNOWN
    return _value(module, root, 0, {})


def _is_number(module: TextModule, node: Node) -> bool:
    return isinstance(node, OtherNode) and module.source[node.begin : node.begin + 1] in set("+-.0123456789")


def _value(module: TextModule, node: Node, depth: int, values: dict[Node, Value]) -> Value:
    """Return the texts, lists and maps of a document as a value; numbers and truth values in it are unknown.

    ``values`` stores the value of each node, since an anchor of YAML may be used again.
    """
    if depth > _MOST_DEPTH:
        return UNKNOWN
    if node in values:
        return values[node]
    site = Site(module, module.numbers[node])
    value: Value = UNKNOWN
    match node:
        case TextNode():
            value = node_text(module, node)
        case ListNode(items=items):
            entries = tuple(
                Entry(_value(module, item, depth + 1, values), Site(module, module.numbers[item]))
                for item in items
            )
            value = ListOf(entries, site=site)
        case MapNode(entries=pairs):
            inner: dict[Key, tuple[Entry, ...]] = {
                key.text: (
                    Entry(_value(module, item, depth + 1, values), Site(module, module.numbers[item])),
                )
                for key, item in pairs
            }
            value = DictOf(entries=inner, sure=frozenset(inner), open=True, site=site)
        case _:
            pass
    values[node] = value
    return value


def value_of(module: TextModule) -> list[Value]:
    """Return the value of each document of a data file."""
    values: dict[Node, Value] = {}
    return [_value(module, root, 0, values) for root in module.roots]


def text_of(value: Value) -> Value:
    """Return the text of a template object, else the value itself."""
    return value.text if isinstance(value, TemplateInstance) else value


def is_of_a_file(text: Text) -> bool:
    """Return whether a part of a text is in a template, prompt or data file."""
    return any(isinstance(part.site.module, TextModule) for part in text.parts or ())
