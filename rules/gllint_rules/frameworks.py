"""What the rules know about frameworks by name: one table each, extended by the configuration.

Every list of :class:`gllint_rules.settings.Settings` adds to the table of the same name. Names are compared with
the last part of a dotted name, so that re-exports and aliases of packages make no difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gllint_rules.settings import Settings

# T2: base classes of tools. GreenLang and itserr, crewAI, LangChain, smolagents, autogen, llama-index.
TOOL_CLASSES = frozenset({"BaseTool", "StructuredTool", "Tool"})
# An annotation names a tool class of a framework by its ending, too (`CrewBaseTool`, `MyStructuredTool`).
TOOL_CLASS_ENDINGS = ("BaseTool", "StructuredTool")
# T2: the methods of a tool class whose result goes to the model.
TOOL_METHODS = ("_run", "run", "_arun", "arun", "execute", "aexecute", "forward", "__call__")
# T3: LangChain, smolagents, crewAI `tool`; MCP `server.tool`; pydantic-ai `agent.tool`, `tool_plain`; OpenAI.
TOOL_DECORATORS = frozenset({"tool", "tool_plain", "function_tool"})
# T4: the ending of a callee that wraps a function, and its alternative constructors.
TOOL_WRAPPER_ENDING = "Tool"
TOOL_WRAPPER_METHODS = frozenset({"from_function", "from_defaults"})
TOOL_WRAPPER_KEYWORDS = ("func", "fn", "coroutine", "function", "async_fn")
# T5: a description beside the function that it describes.
TOOL_DESCRIPTIONS = frozenset({"ToolDef"})
# T1: the keywords of a schema call.
SCHEMA_FN = "fn"
ARGS_SCHEMA = "args_schema"
RESULT_SCHEMAS = ("result_schema",)
# GL201 speaks about these keywords wherever they stand.
OUTPUT_SCHEMAS = ("result_schema", "output_schema", "outputSchema")
# Envelopes around a result, and the fields in which the result travels (itserr; MCP).
RESULT_PAYLOADS: dict[str, frozenset[str]] = {
    "ToolResult": frozenset({"data", "output", "result"}),
    "CallToolResult": frozenset({"structured_content", "structuredContent"}),
}
QUANTITY = "Quantity"
# GL301: methods that run a tool.
CALL_METHODS = frozenset(
    {"run", "_run", "arun", "_arun", "execute", "aexecute", "invoke", "ainvoke", "forward", "fn"}
)
# GL301: through these, calls are allowed to go.
DISPATCH_FUNCTIONS = frozenset({"dispatch_tool"})
DISPATCH_CLASSES = frozenset(
    {"ToolRegistry", "ToolRuntime", "ToolExecutor", "ToolManager", "ToolNode", "ToolUsage"}
)
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
NOT_A_TEMPLATE = re.compile(
    r"(prompt|instruction|description|docstring|\bdoc\b|help|hint|example|error|warning|exception|reason|"
    r"comment|pattern|regex|system|guide|rule|note|usage|rationale|fix|summary_of|bad|log|debug|print)",
    re.IGNORECASE,
)
# GL405: methods that write a log, for developers only.
LOG_CALLS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
# GL601: modules that reach the network; GL602: what differs from run to run.
NETWORK_MODULES = frozenset(
    {
        "requests",
        "httpx",
        "urllib.request",
        "urllib3",
        "aiohttp",
        "socket",
        "boto3",
        "botocore",
        "http.client",
        "ftplib",
        "smtplib",
        "telnetlib",
        "websocket",
        "websockets",
        "paramiko",
        "grpc",
    }
)


@dataclass(frozen=True, slots=True)
class Names:
    """The tables above with the project's own names added."""

    tool_classes: frozenset[str]
    tool_decorators: frozenset[str]
    tool_methods: tuple[str, ...]
    payloads: dict[str, frozenset[str]]
    dispatch_functions: frozenset[str]
    dispatch_classes: frozenset[str]
    final_names: tuple[str, ...]
    final_calls: frozenset[str]

    @classmethod
    def of(cls, settings: Settings) -> Names:
        def last(names: tuple[str, ...]) -> frozenset[str]:
            return frozenset(name.rpartition(".")[2] for name in names)

        return cls(
            tool_classes=TOOL_CLASSES | last(settings.tool_classes),
            tool_decorators=TOOL_DECORATORS | last(settings.tool_decorators),
            tool_methods=(*TOOL_METHODS, *settings.tool_methods),
            payloads={
                name: fields | frozenset(settings.result_payloads) for name, fields in RESULT_PAYLOADS.items()
            },
            dispatch_functions=DISPATCH_FUNCTIONS | last(settings.dispatchers),
            dispatch_classes=DISPATCH_CLASSES | last(settings.dispatchers),
            final_names=(*FINAL_MESSAGE_NAMES, *settings.final_message_names),
            final_calls=FINAL_MESSAGE_CALLS | last(settings.final_message_calls),
        )

    def is_final_name(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.final_names)

    def is_tool_class(self, name: str) -> bool:
        """Whether a class from outside the project is a tool class by its last name."""
        last = name.rpartition(".")[2]
        return last in self.tool_classes or last.endswith(TOOL_CLASS_ENDINGS)
