"""Whether a repair leaves the rest of the project right: who reads what it changes is looked for in every file.

The way of a value (:mod:`~gllint_rules.fixes.uses`) is followed as far as the inference sees. What it does not see is
asked for by name here: the key that leads to a number, the function that returns it, the text of a unit. Each place
that mentions one must be known to be harmless; what is not understood counts as a use. Files that nobody lints are
asked last, since most repairs are found out before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from gllint_rules.fixes.uses import Way, is_tool_function, makers_of, tool_names_of
from gllint_rules.inference.values import Site
from gllint_rules.project.context import Context
from gllint_rules.project.mentions import File, Mention, Search, last_name, may_be_python, root_name, word_of

MOST_NAMES = 12
_OF_TOOLS = re.compile("tool|agent|regist", re.IGNORECASE)
_DESCRIBING = frozenset({"name", "description", "__name__", "__doc__", "args_schema"})
_CLAIM_PATH = re.compile(r"\$(?:\.\w+)+")
# What makes a word in a longer text more than prose: a template, a path, an expression that is evaluated.
_READING = r"(?:[{{(\[.'\"$/@=<>*+]\s*{0}(?!\w))|(?:(?<!\w){0}\s*[)\]}}'\"=<>*/+|,])"

# A text that is code: an example of a docstring, the argument of ``exec``.
# The last two are a call and an index: of a line, only the first call is followed to its end.
_EXECUTED = re.compile(
    r">>>|\bimport\b.*\bimport\b|\bfrom\s+[\w.]+\s+import\b"
    r"|(?m:^)(?>.*?\w[^\S\n]*\().*\)\s*\[|\w[^\S\n]*\n\s*\(.*\)\s*\["
)
_CALLED = r"(?<!\w){0}\s*\("

Place = tuple[str, int, int]


def result_stays_right(context: Context, way: Way) -> bool:
    """Whether nobody is seen, or may be, who computes with the number that ``way`` follows out of a tool."""
    # Everybody reads the payload of an envelope; whoever wants a number in it names its own key, too.
    payloads = context.names.table.payload_names
    keys = frozenset(way.keys[-1:]) | (frozenset(way.keys) - payloads)
    named = frozenset(key for key in keys if isinstance(key, str))
    if named != keys or any(word_of(key) != key for key in named):
        return False  # a key that is not written out, or not as a word, cannot be looked for
    names = {name for where, f in way.returned.items() for name in (f.name, *tool_names_of(context, where))}
    words = {*named, *filter(None, map(word_of, names)), *_words_of_reflection(way.homes)}
    return all(
        # All is asked for, before one is answered: the host looks for all words at once.
        search.paths(words) is not None
        and _keys_stay_right(search, named)
        and _Functions(context, way, search).stay_right()
        and nobody_reflects(search, way.homes)
        for search in _searches(context)
    )


def _searches(context: Context) -> Iterator[Search]:
    return (Search(context.project, around) for around in (False, True))


# --- keys ----------------------------------------------------------------------------------------------------


def _keys_stay_right(search: Search, keys: Collection[str]) -> bool:
    files = search.files(keys)
    return files is not None and all(file.once(_only_writes, key) for file in files for key in keys)


def _only_writes(file: File, key: str) -> bool:
    return all(_is_harmless_key(mention, key) for mention in (*file.texts(key), *file.names(key)))


def _is_harmless_key(mention: Mention, key: str) -> bool:
    """Whether a key is written here, not read."""
    node = mention.node
    [parent, *_] = [*mention.above(), node]
    match node, parent:
        case ast.Constant(), _ if not mention.exact:
            return _is_prose(mention, key)
        case _ if mention.file.is_test:
            return False  # a test that speaks of the key compares what stands under it
        case ast.Constant(), ast.Dict():
            return _is_written(mention, parent)
        case ast.Constant(), ast.Subscript(slice=index) if index is node:
            return _is_stored_below(mention, parent)
        case ast.Constant(), ast.Expr():
            return True
        case ast.Name(), ast.AnnAssign(target=target) if target is node:
            # A field of a model or a `TypedDict`, which may be made of the result.
            return not isinstance(mention.file.parents.get(parent), ast.ClassDef)
        case ((ast.Name() | ast.arg() | ast.keyword() | ast.alias() | ast.FunctionDef() | ast.ClassDef()), _):
            return True
        case ast.Attribute(ctx=ast.Load()), _:
            is_method = isinstance(parent, ast.Call) and parent.func is node
            return is_method or root_name(node) in ("self", "cls")
        case _:
            return isinstance(node, ast.Attribute)


def _is_stored_below(mention: Mention, at: ast.AST) -> bool:
    """``a["b"] = …`` and ``a["b"]["c"] = …``"""
    inner = at
    for above in mention.above(at):
        if not (isinstance(above, ast.Subscript) and above.value is inner):
            return isinstance(above, ast.Assign) and inner in above.targets
        inner = above
    return False


def _is_written(mention: Mention, display: ast.Dict) -> bool:
    """Whether a display puts something under a key: a result, a schema; no table to look keys up in."""
    node = mention.node
    if node not in display.keys:
        return False
    value = display.values[display.keys.index(node)]
    function = False
    for above in mention.above():
        if isinstance(above, (ast.Compare, ast.Subscript)):
            return False
        if isinstance(above, (ast.Call, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            function = True
    return function or not isinstance(value, ast.Constant)


def _is_prose(mention: Mention, word: str) -> bool:
    """Whether a text that holds the word is one for people, or the path of a claim."""
    text = str(mention.node.value) if isinstance(mention.node, ast.Constant) else ""
    [parent, *_] = [*mention.above(), mention.node]
    if not mention.file.is_python and not mention.file.is_prose:
        return False  # a template, a page, a table: whatever reads it may look for the word
    if isinstance(parent, ast.Expr) or _CLAIM_PATH.fullmatch(text):
        return True
    return re.search(_READING.format(re.escape(word)), text) is None and re.search(r"\s", text) is not None


# --- functions -----------------------------------------------------------------------------------------------


class _Functions:
    """The functions that a number is returned from, by the names under which others come upon them."""

    def __init__(self, context: Context, way: Way, search: Search) -> None:
        self._search = search
        self._followed = {_place(context, site) for site in way.calls}
        self._homes = set(way.homes)
        self._made: set[Place] = set()  # the calls that make tools of them
        self._helpers: set[str] = set()
        self._tools: set[str] = set()
        self._methods: set[str] = set()
        self._owners: set[str] = set()
        self._texts: set[str] = set()
        for where, function in way.returned.items():
            names = tool_names_of(context, where)
            if not is_tool_function(context, where):
                self._helpers.add(function.name)
            elif function.owner is not None and function.owner.name in names:
                self._tools.add(function.owner.name)
            else:
                self._tools.add(function.name)
            if function.owner is not None and function.owner.name not in names:
                self._methods.add(function.name)
                self._owners.add(function.owner.name)
            self._texts |= names
            self._made.update(_place(context, site) for site in makers_of(context, where))

    def stay_right(self) -> bool:
        """Whether each mention of one of them is a definition, a call that was followed, or hands on a tool."""
        return self._texts_stay_right() and self._names_stay_right()

    def _texts_stay_right(self) -> bool:
        files = _files(self._search, self._texts | self._helpers)
        return files is not None and all(
            self._is_harmless_text(mention, name)
            for file in files
            for name in self._texts | self._helpers
            for mention in file.texts(name)
        )

    def _names_stay_right(self) -> bool:
        seen: set[str] = set()
        waiting = self._helpers | self._tools
        while waiting:
            seen |= waiting
            files = _files(self._search, waiting)
            if files is None or len(seen) > MOST_NAMES:
                return False
            found = [self._used_at(m, name) for file in files for name in waiting for m in file.names(name)]
            more: set[str] = set()
            for names in found:
                if names is None:
                    return False
                more |= names
            waiting = more - seen
        return True

    def _used_at(self, mention: Mention, name: str) -> set[str] | None:
        node, file = mention.node, mention.file
        match node:
            case ast.alias(asname=other):
                if file.is_test:
                    return None  # a test that imports it looks at what it gives
                return {other} if other is not None and other != name else set()
            case ast.Name(ctx=ast.Load()):
                if mention.is_local() or not (file.path in self._homes or file.imports & {name, "*"}):
                    return set()
            case ast.Attribute(ctx=ast.Load()):
                root = root_name(node)
                if name not in self._methods and root not in file.imports:
                    return set()
                if root in ("self", "cls") and not self._may_inherit(file):
                    return set()  # another class has a method of that name
            case ast.Attribute() | ast.Global() | ast.Nonlocal() | ast.MatchClass():
                return None
            case _:  # something is defined under this name
                return set()
        [above, *_] = mention.above()
        call = above if isinstance(above, ast.Call) and above.func is node else None
        if call is not None and file.place(call) in self._followed:
            return set()
        if file.is_test or name in self._helpers or (call is not None and name[:1].islower()):
            return None
        return self._handed_on(mention, call or node)

    def _may_inherit(self, file: File) -> bool:
        return file.path in self._homes or not file.imports.isdisjoint({*self._owners, "*"})

    def _handed_on(self, mention: Mention, node: ast.AST) -> set[str] | None:
        """Where a tool goes: to an agent, to a list of tools, to a variable; ``None`` to anything else."""
        in_display = False
        inner = node
        for above in mention.above(node):
            match above:
                case ast.Dict() if inner in above.keys:
                    return None
                case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.Starred() | ast.BinOp():
                    in_display = True
                case ast.Await() | ast.IfExp():
                    pass
                case ast.keyword(arg=name):
                    if name is not None and _OF_TOOLS.search(name):
                        return set()
                case ast.Call(func=func):
                    takes_tools = _OF_TOOLS.search(last_name(func)) or (
                        isinstance(func, ast.Attribute) and _OF_TOOLS.search(last_name(func.value))
                    )
                    if inner is func or not (takes_tools or mention.file.place(above) in self._made):
                        return None
                    if in_display:
                        return set()
                case ast.Attribute(attr=name):
                    return set() if name in _DESCRIBING else None
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    if inner is not above.value:
                        return set()  # an annotation
                    if in_display:
                        return set() if _OF_TOOLS.search(name) else None
                    self._homes.add(mention.file.path)
                    self._tools.add(name)
                    return {name}
                case ast.AugAssign(target=target) if _OF_TOOLS.search(last_name(target)):
                    return set()
                case ast.Return():
                    around = next((a for a in mention.above(above) if hasattr(a, "name")), None)
                    return set() if _OF_TOOLS.search(getattr(around, "name", "")) else None
                case ast.Expr() | ast.arg() | ast.ClassDef():
                    return set()
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return set() if inner is above.returns else None
                case _:
                    return None
            inner = above
        return None

    def _is_harmless_text(self, mention: Mention, name: str) -> bool:
        """Whether a text that is the name of a tool asks nobody to run it and to give the result."""
        if not mention.exact:  # prose, but for what somebody executes
            text = str(mention.node.value) if isinstance(mention.node, ast.Constant) else None
            is_called = not mention.file.is_python and re.search(_CALLED.format(re.escape(name)), text or "")
            return text is not None and not is_called and not _EXECUTED.search(text)
        if mention.file.is_test:
            return False
        [above, *more] = [*mention.above(), mention.node]
        match above:
            case ast.keyword(arg="name"):
                return mention.file.place(more[0]) in self._made
            case ast.Call():
                around = more[0] if more else None
                is_decorator = above in getattr(around, "decorator_list", ())
                return is_decorator or mention.file.place(above) in self._made
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                return last_name(target) == "name"
            case ast.List() | ast.Tuple():
                around = more[0] if more else None
                targets = around.targets if isinstance(around, ast.Assign) else ()
                return not any(last_name(target) == "__all__" for target in targets)
            case ast.Dict() | ast.Set() | ast.Compare() | ast.Expr() | ast.Return() | ast.JoinedStr():
                return True
            case _:
                return False


def _files(search: Search, names: Collection[str]) -> list[File] | None:
    words = [word_of(name) for name in names]
    return search.files({word for word in words if word}) if all(words) else None


def _place(context: Context, site: Site) -> Place:
    span = context.span(site)
    return site.module.path, span.line, span.column


# --- what names nothing --------------------------------------------------------------------------------------

# Who loads a module under a name that is computed, and who takes out of a module whatever is in it.
_LOADING = ("import_module", "__import__", "run_module", "run_path")
_TAKING = ("getattr", "vars", "dir", "getmembers", "__dict__")


def _words_of_reflection(homes: Collection[str]) -> set[str]:
    return {*_LOADING, "modules", *_TAKING, *map(_stem, homes)}


def nobody_reflects(search: Search, homes: set[str]) -> bool:
    """Whether no file seems to come upon what the files ``homes`` define without writing its name."""
    stems = {_stem(path) for path in homes}
    if search.paths(_words_of_reflection(homes)) is None:
        return False
    loaders, takers, named = (
        frozenset[str]().union(*(search.paths(words) or ()))
        for words in ((*_LOADING, "modules"), _TAKING, stems)
    )
    files = search.read([path for path in loaders | (takers & named) if may_be_python(path)])
    return files is not None and not any(
        _reflects(file, node, stems)
        for file in files
        if file.tree is not None
        for node in ast.walk(file.tree)
    )


def _stem(path: str) -> str:
    folder, _, name = path.removesuffix(".py").rpartition("/")
    return name if name != "__init__" else folder.rpartition("/")[2]


def _reflects(file: File, node: ast.AST, stems: set[str]) -> bool:
    match node:
        case ast.Call(func=func, args=[first, *_]) if last_name(func) in _LOADING:
            return _may_lead_to(first, stems)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="sys"), attr="modules"), slice=name):
            return _may_lead_to(name, stems)
        case ast.Call(func=ast.Name(id="getattr"), args=[base, name, *_]):
            return not isinstance(name, ast.Constant) and root_name(base) in file.imports
        case ast.Call(func=func, args=[base, *_]) if last_name(func) in _TAKING:
            return root_name(base) in file.imports
        case ast.Attribute(attr="__dict__"):
            return root_name(node) in file.imports
        case _:
            return False


def _may_lead_to(name: ast.expr, stems: set[str]) -> bool:
    if not isinstance(name, ast.Constant):
        return True
    return not isinstance(name.value, str) or not stems.isdisjoint(re.findall(r"\w+", name.value))


# --- texts ---------------------------------------------------------------------------------------------------


def text_stays_right(context: Context, text: str, mended: Collection[Site] = ()) -> bool:
    """Whether ``text`` stands nowhere but at the places that are mended with it, and in prose."""
    return all(_stands_nowhere_else(context, search, text, mended) for search in _searches(context))


def unit_stays_right(context: Context, unit: str, mended: Collection[Site]) -> bool:
    """Whether ``unit`` stands nowhere but at the places ``mended``, and nobody takes it out of a result."""
    return all(
        _nobody_reads_units(search, context) and _stands_nowhere_else(context, search, unit, mended)
        for search in _searches(context)
    )


def _stands_nowhere_else(context: Context, search: Search, text: str, mended: Collection[Site]) -> bool:
    files = _files(search, [text])
    if files is None:
        return False
    known = {_place(context, site) for site in mended}
    return all(
        mention.place in known if mention.exact else _is_prose(mention, text)
        for file in files
        for mention in file.texts(text)
    )


_UNIT_READ = re.compile(
    r"""\[\s*["']unit["']\s*\](?!\s*=[^=])|\.(?:get|pop)\(\s*["']unit["']|(?<!self)\.unit\b"""
)
_MOST_READ = 400


def _nobody_reads_units(search: Search, context: Context) -> bool:
    """Whether no file seems to take the unit out of a Quantity: to compare it, or to look something up by it."""
    paths = search.paths(["unit"])
    if paths is None or len(paths[0]) > _MOST_READ:
        return False
    try:
        return not any(_UNIT_READ.search(context.project.source_of(path)) for path in sorted(paths[0]))
    except Exception:  # what cannot be read was not seen
        return False
