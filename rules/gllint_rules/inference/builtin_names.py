"""Types, constants and calls of Python and a few libraries, by full name, as data.

Other calls and attributes of types outside the project are unknown. Here are those that are surely a number, and those
that are needed to follow values into results and templates.
"""

from __future__ import annotations

import builtins

from gllint_rules.inference.values import BOOL, BYTES, NONE, TEXT, Value

BUILTINS = frozenset(dir(builtins))

_NUMPY_SCALARS = [
    *(f"float{n}" for n in (16, 32, 64, 128)),
    *(f"int{n}" for n in (8, 16, 32, 64)),
    *(f"uint{n}" for n in (8, 16, 32, 64)),
    "floating",
    "integer",
    "number",
]
REAL_TYPES = frozenset(
    {"builtins.float", *(f"numpy.{name}" for name in _NUMPY_SCALARS if name.startswith("float"))}
)
NUMBER_TYPES = REAL_TYPES | {
    "builtins.int", "builtins.complex", "decimal.Decimal", "fractions.Fraction",
    *(f"numbers.{name}" for name in ("Number", "Real", "Integral", "Rational", "Complex")),
    *(f"pydantic.{sign}Int" for sign in ("Positive", "NonNegative", "Negative", "Strict")),
    *(f"pydantic.{sign}Float" for sign in ("Positive", "NonNegative", "Negative", "Strict", "Finite")),
    "pydantic.conint", "pydantic.confloat",
    *(f"numpy.{name}" for name in _NUMPY_SCALARS),
}  # fmt: skip
SCALAR_TYPES: dict[str, Value] = {
    "builtins.str": TEXT,
    "builtins.bytes": BYTES,
    "builtins.bool": BOOL,
    "types.NoneType": NONE,
}
LIST_TYPES = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "typing.List"}
)
DICT_TYPES = frozenset({"builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping"})
OPAQUE_TYPES = frozenset({"typing.Any", "typing.Self", "typing.NoReturn", "typing_extensions.Self"})
LIST_GENERICS = frozenset(
    {
        "list", "List", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet", "Sequence", "Iterable",
        "Iterator", "Collection", "MutableSequence", "Deque", "deque", "Generator", "AsyncIterator",
        "AsyncGenerator", "AsyncIterable", "AbstractSet",
    }
)  # fmt: skip
DICT_GENERICS = frozenset(
    {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"}
)
PROPERTIES = frozenset({"property", "cached_property", "computed_field"})
# Decorators after which a call no longer gives what the body returns.
OPAQUE_DECORATORS = frozenset({"fixture", "overload", "task"})
# Decorators of a generator, and the class of what a call gives then: it is entered with what the generator yields.
CONTEXT_DECORATORS = {
    "contextmanager": "contextlib._GeneratorContextManager",
    "asynccontextmanager": "contextlib._AsyncGeneratorContextManager",
}
# Functions that call their function argument with the other arguments, and what contains the outcome.
FUTURE = "concurrent.futures._base.Future"
EXECUTORS = frozenset(
    {
        "concurrent.futures.process.ProcessPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
        "multiprocessing.pool.Pool",
        "multiprocessing.pool.ThreadPool",
    }
)
# A request has what the server's `lifespan=` yields; the server is in the module, or in one that it imports from.
SERVERS = frozenset({"FastMCP", "MCPServer", "Server"})
LIFESPAN = "lifespan_context"
# The attributes of `RunContext[Deps]` and others, which no stub describes, that have the type of a variable: the
# dependencies, context or state of an agent's run, by place.
CONTEXT_ATTRIBUTES = {"deps": 0, "context": 0, "userdata": 0, "state": 1}
ENVIRONMENTS = frozenset({"os.environ"})

NUMBER_CONSTANTS = frozenset({"numpy.pi", "numpy.e"})

# Calls that give a number whatever they are called with, where the stubs do not say so of every argument.
NUMBER_CALLS = frozenset(
    {
        "builtins.pow",
        *(f"math.{name}" for name in ("ceil", "floor", "prod", "sumprod", "trunc")),
        *(f"statistics.{name}" for name in ("harmonic_mean", "mean", "median", "median_low", "median_high")),
        *(f"statistics.{name}" for name in ("pstdev", "pvariance", "stdev", "variance")),
        *(f"numpy.{name}" for name in _NUMPY_SCALARS),
    }
)  # fmt: skip
TEXT_CALLS = frozenset({"os.getenv", "os.path.join", "os.path.basename", "os.path.dirname"})
# Calls that give their first argument back, as far as numbers are concerned.
SAME_CALLS = frozenset(
    {
        "copy.copy", "copy.deepcopy", "asyncio.run", "asyncio.wait_for", "asyncio.shield",
        "types.MappingProxyType", "fastapi.encoders.jsonable_encoder", "pydantic_core.to_jsonable_python",
    }
)  # fmt: skip
REDUCTIONS = frozenset(
    {
        "amax", "amin", "argmax", "argmin", "average", "cond", "count_nonzero", "det", "matrix_rank", "max", "mean",
        "median", "min", "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmedian", "nanmin", "nanprod", "nanstd",
        "nansum", "nanvar", "norm", "prod", "ptp", "std", "sum", "trace", "trapezoid", "trapz", "var",
    }
)  # fmt: skip
# Reductions that also take a place in the array's order: a number for a number, several for an array.
ORDER_REDUCTIONS = frozenset(
    f"numpy.{name}" for name in ["percentile", "quantile", "nanpercentile", "nanquantile"]
)
# Functions that return a number, with the most arguments for which it is not an array.
NUMBERS_OF_ARRAYS = {
    **{f"{module}.{name}": 1 for module in ("numpy", "numpy.linalg") for name in REDUCTIONS},
    **dict.fromkeys(ORDER_REDUCTIONS, 2),
    "numpy.random.rand": 0, "numpy.random.randn": 0, "numpy.random.random": 0, "numpy.random.random_sample": 0,
    "numpy.random.randint": 2, "numpy.random.uniform": 2, "numpy.random.normal": 2,
}  # fmt: skip
# Functions that map each element of an array to another one, and a number to a number.
ELEMENTWISE = frozenset(
    f"numpy.{name}"
    for name in [
        "abs", "absolute", "around", "cbrt", "ceil", "clip", "cos", "deg2rad", "divide", "exp", "expm1", "fabs",
        "floor", "log", "log10", "log1p", "log2", "maximum", "minimum", "multiply", "nan_to_num",
        "negative", "power", "rad2deg",
        "rint", "round", "sign", "sin", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
    ]
)  # fmt: skip
# Methods of numbers, NumPy's and decimal ones among them, that give numbers.
NUMBER_METHODS = frozenset(
    {
        "bit_count", "bit_length", "conjugate", "copy_abs", "item", "limit_denominator", "ln", "log10", "max",
        "mean", "min", "normalize", "quantize", "round", "sqrt", "sum", "to_integral", "to_integral_value", "tolist",
    }
)  # fmt: skip
ARRAY_NUMBERS = frozenset({"size", "ndim", "nbytes", "itemsize"})
ARRAY_CALLS = frozenset(
    f"numpy.{name}"
    for name in [
        "arange", "array", "asarray", "concatenate", "cumsum", "diff", "empty", "full", "linspace", "ones", "stack",
        "zeros",
    ]
)  # fmt: skip
# Methods of pydantic that make an instance of the project's class from unknown data.
MODEL_PARSERS = frozenset(
    {"model_validate", "model_validate_json", "model_validate_strings", "parse_obj", "parse_raw"}
)
# Functions that make a text of a value, and those that make the value of such a text again.
SERIALISERS = frozenset(
    {
        *(f"{module}.dumps" for module in ("json", "json5", "orjson", "rapidjson", "simplejson", "ujson")),
        "msgspec.json.encode", "pydantic_core.to_json", "ujson.encode", "yaml.dump", "yaml.safe_dump",
    }
)  # fmt: skip
PARSERS = frozenset(
    {
        *(f"{module}.loads" for module in ("json", "orjson", "rapidjson", "simplejson", "ujson")),
        "msgspec.json.decode", "pydantic_core.from_json", "yaml.safe_load",
    }
)  # fmt: skip
# What they call the value, where it is given by name; and what a text is written to instead of given back.
SERIALISED_ARGUMENTS = ("obj", "data", "value")
WRITTEN_TO = "stream"
# Methods that give an object of the project as text, and methods that give their argument so.
TEXT_DUMPS = frozenset({"model_dump_json", "json", "to_json"})
ITERENCODE = "iterencode"  # gives its argument as text piece by piece
ENCODER_METHODS = frozenset({"encode", "dump_json", ITERENCODE})
ENCODERS = ("JSONEncoder", "JsonEncoder", "json.Encoder", "TypeAdapter")  # how their names end
TEMPLATE = "string.Template"
TEMPLATE_METHODS = frozenset({"substitute", "safe_substitute"})
# Methods of a text that leave what is serialised in it as it is.
SAME_TEXT_METHODS = frozenset({"encode", "decode", "strip", "lstrip", "rstrip", "replace"})
RECASING_METHODS = frozenset({"upper", "lower", "casefold", "swapcase", "title", "capitalize"})
# What leaves the numbers of a text that is put together: it is filled up, or something of it is taken away.
NEARLY_SAME_TEXT_METHODS = RECASING_METHODS | {
    "center", "expandtabs", "ljust", "lstrip", "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip",
    "translate",
}  # fmt: skip
# Functions that do so, and the position of the text among their arguments.
NEARLY_SAME_TEXT_CALLS = {
    "html.escape": 0, "html.unescape": 0, "textwrap.fill": 0, "textwrap.indent": 0, "textwrap.shorten": 0,
    "unicodedata.normalize": 1, "xml.sax.saxutils.escape": 0, "markupsafe.escape": 0, "rich.markup.escape": 0,
}  # fmt: skip
TEXT_STREAM = "io.StringIO"
# What makes a dict of an object's fields, whatever it is called on or with.
DUMPS = frozenset({"model_dump", "_asdict", "asdict"})
RECORD_METHODS = frozenset(
    {"model_dump", "dict", "to_dict", "_asdict", "as_dict", "model_copy", "copy", "asdict"}
)
DUMP_METHODS = RECORD_METHODS | TEXT_DUMPS
