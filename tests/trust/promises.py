"""What gllint never does: each promise of docs/security.md with the tests that hold it, and all commands watched.

An audit hook of the interpreter sees whether one imports what it checks, reaches out, or writes elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from trust import AGENT, Budget, Row, left_out, ran, run_tests, write

PROMISES = {  # by the words that each begins with
    "It never runs the code that it checks": [
        "tests/program/test_environment.py::test_no_environment_is_read_unless_it_is_named",
        "tests/program/test_environment.py::test_what_packages_declare_is_seen",
        "tests/program/test_cache.py::test_an_entry_of_somebody_else_runs_nothing",
    ],
    "A check starts no other program": [
        "tests/program/test_since.py::test_no_program_that_the_repository_names_is_run",
        "tests/program/test_since.py::test_what_git_would_have_to_fetch_is_told",
    ],
    "It never uses the network": [
        "tests/program/test_mcp.py::test_a_server_at_an_address",
        "tests/program/test_guard_http.py::test_requests_from_elsewhere_and_to_no_session_are_refused",
        "tests/runtime/test_validation.py::test_references_that_would_have_to_be_fetched",
    ],
    "It writes only what you ask for": [
        "tests/program/test_processes.py::test_no_link_leads_a_fix_out_of_the_project",
        "tests/program/test_processes.py::test_no_link_leads_what_is_written_out_of_the_project",
        "tests/program/test_processes.py::test_who_is_killed_while_writing_leaves_nothing_behind",
        "tests/program/test_processes.py::test_an_output_file_is_whole_or_as_it_was",
        "tests/program/test_cache.py::test_no_configuration_puts_the_cache_outside_the_project",
        "tests/program/test_cache.py::test_a_link_in_place_of_the_cache_is_not_followed",
        "tests/program/test_cache.py::test_clean_leaves_alone_what_is_no_cache",
        "tests/program/test_fixer.py::test_writing_is_all_or_nothing",
    ],
    "`gllint mcp --guard` starts only the server that you give it": [
        "tests/program/test_guard.py::test_calls_go_to_the_server_and_back_and_into_the_trace",
        "tests/program/test_guard.py::test_a_server_that_cannot_be_started_is_told",
        "tests/program/test_guard.py::test_no_result_passes_by_an_odd_request",
    ],
    "**`gllint hook` reads only the project,**": [
        "tests/program/test_coding_agents.py::test_what_lies_outside_is_not_read",
        "tests/program/test_coding_agents.py::test_a_server_keeps_to_its_folder",
        "tests/program/test_audit.py::test_what_cannot_be_read_on_the_way_hides_no_other_file",
    ],
    "It uses only its own cache": [
        "tests/program/test_cache.py::test_an_entry_of_somebody_else_runs_nothing",
    ],
    "It never calls a tool by itself": ["tests/program/test_mcp.py::test_a_server_over_stdio"],
    "It escapes text from the checked code": [
        "tests/program/test_bad_input.py::test_a_name_cannot_write_to_the_log",
        "tests/program/test_reports.py::test_github_escapes_what_would_end_a_command",
        "tests/program/test_reports.py::test_every_format_bears_every_character",
        "tests/program/test_reports.py::test_what_a_source_names_its_values_cannot_add_lines_or_colours",
    ],
    "The release workflow and the GitHub action pin everything they fetch": [
        "tests/test_documents.py::test_what_ci_fetches_is_pinned"
    ],
}

_WATCHED = """\
import json, os, sys
seen = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        name, mode, flags = arguments
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & (os.O_WRONLY | os.O_RDWR):
            seen.append(["write", os.path.abspath(os.fsdecode(name))])
    elif event == "import" and arguments[0].partition(".")[0] in ("plant", "conftest", "setup"):
        seen.append(["import", arguments[0]])
    elif event.startswith(("socket.connect", "socket.getaddrinfo", "urllib.", "subprocess.", "os.system", "os.exec")):
        seen.append(["reach", event + " " + str(arguments[:2])])
    elif event in ("os.remove", "os.rename", "os.rmdir", "shutil.rmtree", "pickle.find_class"):
        seen.append([event, str(arguments)])
sys.addaudithook(watch)
from gllint.cli.main import main
try:
    main(sys.argv[2:])
finally:
    watching = list(seen)
    with open(sys.argv[1], "w") as file:
        json.dump(watching, file)
"""
_TRAP = "raise SystemExit('the code under lint was executed')\n"
_COMMANDS = (
    ["check", "."],
    ["check", "--since", "HEAD", "."],
    ["check", "--config", 'select = ["GL1"]', "."],
    ["check", "."],
    ["check", "--diff", "."],
    ["config"],
    ["init", "--dry-run"],
    ["check", "--why", "plant/tools.py:6"],
    ["audit", "run.json", "--output-format", "json"],
    ["hook", "claude-code"],
    ["mcp", "--guard", "--trace", "trace.jsonl", "--", "cat"],
)
_EVENT = '{"hook_event_name": "PostToolUse", "tool_input": {"file_path": "plant/tools.py"}}\n'
_RUN = '[{"role": "assistant", "content": "It used 5 kWh."}]\n'
_BY_ITSELF = {"mcp": ("'cat'", "trace.jsonl")}  # what a command is told to start and to write


def suite(budget: Budget) -> Iterator[Row]:
    wrong: list[str] = []
    tried = 0
    for arguments in _COMMANDS:
        if tried and not budget.goes_on(tried, len(_COMMANDS)):
            break
        tried += 1
        with TemporaryDirectory() as folder:
            top = Path(folder, "project")
            trapped = {name: _TRAP + text for name, text in AGENT.items()}
            write(
                top,
                {
                    **trapped,
                    "conftest.py": _TRAP,
                    "setup.py": _TRAP,
                    "gllint.toml": "",
                    "run.json": _RUN,
                    "plant/tools.py": AGENT["plant/tools.py"],
                },
            )
            write(Path(folder), {"watched.py": _WATCHED})
            command = [sys.executable, "-B", "../watched.py", "../seen.json", *arguments]
            done = ran(*command, cwd=top, typed=_EVENT if arguments[0] == "hook" else "")
            if not Path(folder, "seen.json").exists():
                wrong.append(f"{arguments}: {done.stderr[-300:]}")
                continue
            for event, what in json.loads(Path(folder, "seen.json").read_text()):
                allowed = event == "write" and (what == "/dev/null" or f"{top}/.gllint_cache/" in what)
                kept = event in ("os.rename", "os.remove") and ".gllint_cache" in what
                kept = kept or "/gllint/cache-key" in what  # which is made at the first run
                git = event == "reach" and "'git'" in what
                told = any(name in what for name in _BY_ITSELF.get(arguments[0], ()))
                if not (allowed or kept or git or told or what.endswith("seen.json")):
                    wrong.append(f"{arguments}: {event} {what}")
    yield Row(
        "promises: nothing imported, fetched, written",
        f"{tried} commands watched",
        wrong,
        tried,
        len(_COMMANDS),
    )
    if budget.is_whole():
        tests = [test for held in PROMISES.values() for test in held]
        told, failed = run_tests(tests)
        yield Row("promises: held by tests", f"{len(PROMISES)} promises, {told}", failed)
    elif budget.is_long():
        yield left_out("promises: held by tests")
