"""The names that the rules look for, one table each, extended by the configuration.

Frameworks have a table of their own (:mod:`gllint_rules.words.framework_table`). The names here are compared with the
last part of a dotted name, so that re-exports and aliases of packages make no difference.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

from gllint_rules.tuples import NamedTuple
from gllint_rules.words.framework_table import Table, configured
from gllint_rules.words.settings import Settings
from gllint_runtime.policy.expressions import expression

# An annotation names a tool class of a framework by its ending, too (`CrewBaseTool`, `MyStructuredTool`).
TOOL_CLASS_ENDINGS = ("BaseTool", "StructuredTool")
# T1: the keywords of a schema call.
SCHEMA_FN = "fn"
ARGS_SCHEMA = "args_schema"
RESULT_SCHEMAS = ("result_schema",)
# GL201 checks these keywords in any call.
OUTPUT_SCHEMAS = ("result_schema", "output_schema", "outputSchema")
QUANTITY = "Quantity"
TOOL_REGISTRY_NAMES = ("TOOL_REGISTRY",)
TOOL_REGISTRY_CLASSES = frozenset({"ToolRegistry"})
CLARIFICATION = "None"  # the reserved tool name (QREW)
# GL4: where final messages are written.
FINAL_MESSAGE_NAMES = (
    "final_message",
    "final_template",
    "FINAL_MESSAGE*",
    "FINAL_TEMPLATE*",
    "*_final_message",
    "*_final_template",
)
FINAL_MESSAGE_CALLS = frozenset({"FinalPayload", "FinalStep"})
# A string with a macro in one of these places is about templates, it is none.
NOT_A_TEMPLATE = expression(
    r"(prompt|instruction|description|docstring|\bdoc\b|help|hint|example|error|warning|exception|reason|"
    r"comment|pattern|regex|system|guide|rule|note|usage|rationale|fix|summary_of|bad|log|debug|print)",
    re.IGNORECASE,
)
# GL405: methods that write a log, for developers only.
LOG_CALLS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
# GL303, GL304: the classes of an action with the name and arguments of a tool.
TOOL_ACTIONS = frozenset({"ToolAction"})
ACTION_PARSERS = frozenset({"model_validate", "parse_obj", "parse"})
REGISTRY_LOOKUPS = frozenset({"invoke", "execute", "get", "get_tool"})
# Calls that give a tool its name, by keyword or first argument: how their names end or begin.
TOOL_NAMING_ENDINGS = ("Tool", "ToolDef", "ToolDefinition", "ToolSpec", "ToolInfo", "ToolParam", "ToolSchema")
TOOL_NAMING_STARTS = ("register", "add_tool", "create_tool", "make_tool", "define_tool")
# Keys of a dict that describes a tool, next to its name.
TOOL_PARAMETERS = ("parameters", "input_schema", "inputSchema", "args_schema")
# Calls that bring tools along whose names no file of the project says.
TOOL_LOADERS = frozenset({"load_tools", "load_mcp_tools", "get_tools"})
# Keywords for the model of an answer, and calls with it.
ANSWER_KEYWORDS = frozenset({"output_type", "result_type", "response_format", "output_cls"})
ANSWER_CALLS = frozenset({"with_structured_output"})
# Other keywords that may take tools: counted if no row of the table has them.
LIKE_TOOLS = frozenset({"functions", "actions", "skills"})
# Methods that add tools to a list.
LIST_PUTS = frozenset({"append", "extend"})
LIVE_REQUIRED = "live_required"  # of a T1 tool: Replay rejects it
# GL601: calls that reach the network, and classes whose methods do.
HTTP_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request"})
NETWORK_CALLS = frozenset(
    {
        *(f"{module}.{verb}" for module in ("requests", "httpx") for verb in HTTP_VERBS),
        "httpx.stream", "aiohttp.request", "urllib3.request",
        "urllib.request.urlopen", "urllib.request.urlretrieve",
        "socket.create_connection", "socket.getaddrinfo", "socket.gethostbyname",
        "socket.gethostbyname_ex", "socket.gethostbyaddr", "asyncio.open_connection",
        "smtplib.SMTP", "smtplib.SMTP_SSL", "ftplib.FTP", "ftplib.FTP_TLS", "imaplib.IMAP4",
        "imaplib.IMAP4_SSL", "poplib.POP3", "poplib.POP3_SSL", "telnetlib.Telnet",
        "xmlrpc.client.ServerProxy", "websocket.create_connection", "websockets.connect",
        "websockets.sync.client.connect",
        "grpc.insecure_channel", "grpc.secure_channel", "grpc.aio.insecure_channel",
        "grpc.aio.secure_channel", "psycopg.connect", "psycopg2.connect", "asyncpg.connect",
        "pymysql.connect",
    }
)  # fmt: skip
# What makes a client, and which of its methods reach out; ``None``: all of them, those of its parts too.
NETWORK_CLIENTS: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(
        ("requests.Session", "requests.session", "requests.sessions.Session"), HTTP_VERBS | {"send"}
    ),
    **dict.fromkeys(("httpx.Client", "httpx.AsyncClient"), HTTP_VERBS | {"send", "stream"}),
    "aiohttp.ClientSession": HTTP_VERBS | {"ws_connect"},
    "urllib3.PoolManager": frozenset({"request", "urlopen"}),
    "urllib.request.build_opener": frozenset({"open"}),
    **dict.fromkeys(
        ("http.client.HTTPConnection", "http.client.HTTPSConnection"),
        frozenset({"connect", "request", "getresponse"}),
    ),
    "socket.socket": frozenset(
        {"connect", "connect_ex", "accept", "send", "sendall", "sendto", "recv", "recvfrom"}
    ),
    **dict.fromkeys(
        ("paramiko.SSHClient", "paramiko.client.SSHClient"),
        frozenset({"connect", "exec_command", "open_sftp"}),
    ),
    **dict.fromkeys(("boto3.Session", "boto3.session.Session"), frozenset()),
    **dict.fromkeys(
        (
            "boto3.client", "boto3.resource", "openai.OpenAI", "openai.AsyncOpenAI", "anthropic.Anthropic",
            "anthropic.AsyncAnthropic", "pymongo.MongoClient", "redis.Redis", "elasticsearch.Elasticsearch",
        )
    ),
}  # fmt: skip
CLIENT_HOUSEKEEPING = frozenset({"close", "aclose", "copy", "with_options", "with_raw_response"})
# Methods of a session that make a client, and which one.
CLIENT_MAKERS = {"client": "boto3.client", "resource": "boto3.resource"}
# GL602: what differs from run to run. Some calls read the clock only where they are given fewer arguments
# than this.
CLOCK_CALLS = frozenset(
    {
        *(
            f"time.{name}{unit}"
            for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
            for unit in ("", "_ns")
        ),
        "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
        "pandas.Timestamp.now", "pandas.Timestamp.utcnow", "pandas.Timestamp.today",
        "django.utils.timezone.now", "arrow.now", "arrow.utcnow", "pendulum.now", "pendulum.today",
    }
)  # fmt: skip
CLOCK_WITHOUT_ARGUMENT = {
    "time.localtime": 1,
    "time.gmtime": 1,
    "time.ctime": 1,
    "time.asctime": 1,
    "time.strftime": 2,
}
RANDOM_CALLS = frozenset(
    {"os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom"}
)  # fmt: skip
# Modules of random functions: all lowercase names but these. Generators are classes and calls with a seed.
RANDOM_MODULES: dict[str, frozenset[str]] = {
    "random": frozenset({"seed", "getstate", "setstate"}),
    "numpy.random": frozenset({"seed", "default_rng", "get_state", "set_state"}),
    "secrets": frozenset({"compare_digest"}),
}
SEEDED_GENERATORS = frozenset({"random.Random", "numpy.random.default_rng", "numpy.random.RandomState"})
ENVIRONMENT_CALLS = frozenset({"os.getenv", "os.getenvb"})
ENVIRONMENT_STORES = frozenset({"update", "clear"})
# Calls that call the function in their arguments.
CALLBACK_CALLS = frozenset(
    {
        "map", "filter", "sorted", "min", "max", "reduce", "partial", "submit", "starmap", "imap", "apply",
        "apply_async", "to_thread", "run_in_executor", "run_sync", "run_in_threadpool",
    }
)  # fmt: skip
# GL702: calls that open a file, with the position of the mode; that write one, with that of its path; that
# delete.
FILE_OPENERS = {
    "builtins.open": 1,
    "io.open": 1,
    "codecs.open": 1,
    "gzip.open": 1,
    "bz2.open": 1,
    "lzma.open": 1,
    "aiofiles.open": 1,
    "tarfile.open": 1,
    "zipfile.ZipFile": 1,
}
FILE_WRITES = {
    **dict.fromkeys(("os.rename", "os.replace", "os.link", "os.symlink"), 1),
    **dict.fromkeys((f"shutil.{name}" for name in ("copy", "copy2", "copyfile", "copytree", "move")), 1),
    **dict.fromkeys((f"numpy.{name}" for name in ("save", "savez", "savez_compressed", "savetxt")), 0),
    "os.truncate": 0,
    "shutil.make_archive": 0,
    "matplotlib.pyplot.savefig": 0,
    "joblib.dump": 1,
    "torch.save": 1,
}
FILE_DELETES = frozenset(
    {"os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "send2trash.send2trash"}
)
PATH_CLASSES = frozenset({"pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath", "anyio.Path"})
PATH_WRITES = frozenset(
    {"write_text", "write_bytes", "touch", "rename", "replace", "symlink_to", "hardlink_to"}
)
PATH_DELETES = frozenset({"unlink", "rmdir"})
# Methods and attributes of a path that give a path near it.
PATH_SAME = frozenset(
    {"resolve", "absolute", "expanduser", "joinpath", "with_suffix", "with_name", "with_stem", "parent"}
)
# GL7: the levels of consequence (seed 003); an enumeration of another kind may bear the same name.
TOOL_CATEGORY = "ToolCategory"
TOOL_LEVELS = ("READ_ONLY", "NOTE_TAKING", "MODIFICATION", "EXTERNAL")  # the more a tool may do, the later
TOOL_CATEGORIES = frozenset(TOOL_LEVELS)
NOTES = "note"  # in a path: a file of notes
HARMLESS_CATEGORIES = frozenset({"READ_ONLY", "NOTE_TAKING"})


class Names(NamedTuple):
    """The tables above and the framework table, with the project's own names added."""

    table: Table
    tool_classes: frozenset[str]  # by their last names
    dispatch_functions: frozenset[str]
    dispatch_classes: frozenset[str]
    final_names: tuple[str, ...]
    final_calls: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> Names:
        """Return the names for the settings of a project: the tables with the names that it configures."""
        table = configured(settings)
        own = frozenset(name.rpartition(".")[2] for name in settings.final_message_calls)
        everywhere = table.dispatchers(table.imported(()))  # those that need no import of their framework
        return cls(
            table=table,
            tool_classes=table.tool_classes,
            dispatch_functions=frozenset(name for name in everywhere if not name[:1].isupper()),
            dispatch_classes=everywhere,
            final_names=(*FINAL_MESSAGE_NAMES, *settings.final_message_names),
            final_calls=FINAL_MESSAGE_CALLS | own,
        )

    def is_final_name(self, name: str) -> bool:
        return any(pattern.match(name) for pattern in _any_of(self.final_names))

    def is_tool_class(self, name: str) -> bool:
        """Return whether a class from outside the project is a tool class, by its dotted name."""
        return bool(self.table.methods(name)) or name.endswith(TOOL_CLASS_ENDINGS)


_TOGETHER = 50  # shell patterns in one expression: the time to compile one is quadratic


@lru_cache(maxsize=16)
def _any_of(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return expressions of which one matches if one of the shell patterns does: ``*_answer``, ``reply``."""
    texts = [*map(translate, patterns)]
    parts = (texts[at : at + _TOGETHER] for at in range(0, len(texts), _TOGETHER))
    return tuple(re.compile("|".join(part)) for part in parts)
