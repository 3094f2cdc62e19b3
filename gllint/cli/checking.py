"""``gllint check``: from its options to its output and exit status."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from gllint import report
from gllint.cli.output import FOUND, NO_FINDINGS, WRONG, say
from gllint.cli.request import STDIN, Request, check_together, options
from gllint.cli.summary import allowable, count_text, statistics
from gllint.errors import UsageError
from gllint.files.config import FILE_NAMES, LEVELS
from gllint.files.discover import is_python_name
from gllint.files.paths import absolute
from gllint.files.writing import check_inside, write_output
from gllint.report.unseen import Unseen
from gllint.run.engine import Engine, Outcome
from gllint.run.pool import ENDING
from gllint.run.signing import signer
from gllint.shown import failure_text, visible
from gllint_rules import RULES, Failure, Finding

if TYPE_CHECKING:
    import signal

    from gllint.run.baselines import Baselines
    from gllint.run.fixer import Fixed
    from gllint.verdict.advice import Settled
    from gllint.verdict.baseline import Compared
else:
    import _signal as signal  # as in `run/pool.py`

_STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_FOR_READERS = ("full", "concise", "agent")  # formats that a summary follows
_PATHS_IN_NOTE = 3
_LONGEST_ENTRY = 300  # characters of a baseline entry in a note


def run(request: Request, unseen: list[Unseen] | None = None) -> int:
    """Run ``gllint check`` and return the exit status.

    What was not checked is added to ``unseen``. Raises :class:`UsageError`.
    """
    check_together(request)
    if request.watch:
        return _watch(request)
    engine = Engine(options(request))
    with _ending_as_interrupts():
        try:
            return _Run(request, engine, unseen).run()
        except BaseException:
            engine.close(interrupted=True)
            raise
        finally:
            engine.progress.clear()
            engine.close()


def _watch(request: Request) -> int:
    """Run the check again after each change of a file, and return the exit status."""
    from gllint.cli.watching import watch

    if STDIN in request.paths:
        raise UsageError("--watch: standard input ('-') cannot be watched")
    for option in ("fix", "diff", "add_noqa", "write_baseline", "prune_baseline", "why", "show_files"):
        if getattr(request, option):
            raise UsageError(f"--watch only reports: it cannot be combined with --{option.replace('_', '-')}")
    return watch(request.paths or (".",), lambda: run(request._replace(watch=False)))


@contextlib.contextmanager
def _ending_as_interrupts() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that no process or half-written file is left."""

    def end(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
        raise SystemExit(128 + number)

    # What the caller wants ignored (nohup) or handles in its own way stays so.
    numbers = [number for number in ENDING if signal.getsignal(number) == signal.SIG_DFL]
    try:
        for number in numbers:
            signal.signal(number, end)
    except ValueError:  # not in the main thread: signals are not ours
        numbers = []
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


class _Run:
    def __init__(self, request: Request, engine: Engine, unseen: list[Unseen] | None = None) -> None:
        self.request, self.engine, self.unseen = request, engine, unseen
        self.show = _shower(request.paths)
        self.stdin = ""
        self.failed = self.would_change = self.has_changed = self.has_baseline = False
        # Whether files could not be read, so that entries of a baseline may or may not be fixed.
        self.has_unjudged = False
        self.unchanged_count = 0  # findings that --since leaves out
        # Findings of the baseline that the HTML page shows all the same.
        self.baseline_findings: frozenset[Finding] = frozenset()
        self.started = time.perf_counter()

    @cached_property
    def baselines(self) -> Baselines:
        """The baselines of the run, imported only when one is needed."""
        from gllint.run.baselines import Baselines

        return Baselines(self.engine)

    def run(self) -> int:
        """Do what the request asks: explain, list, fix, suppress or check. Return the exit status."""
        paths = self._paths()
        if self.request.why is not None:
            return self._why(*self.request.why)
        if self.request.show_files:
            return self._show_files(paths)
        # Errors of the command are reported before the work, not after it.
        self._check_targets()
        self._check_baselines(paths)
        if self.request.fixes or self.request.diff:
            outcome = self._fix(paths)
        elif self.request.add_noqa:
            outcome = self._add_noqa(paths)
        else:
            outcome = self.engine.check(paths)
        if not outcome.checked:
            self._note("No Python files were found at the paths given.")
        if self.request.add_noqa:
            return WRONG if self.failed or outcome.failures else NO_FINDINGS
        self._only_since(outcome, paths)
        if self.request.fix_only:  # other findings are not wanted; a file that cannot be read was not fixed
            outcome.findings = [finding for finding in outcome.findings if finding.code == "GL900"]
        if self.request.write_baseline:
            return self._write_baseline(outcome, self.request.write_baseline)
        self._compare(outcome)
        self._report(outcome)
        if self.unseen is not None:
            self.unseen.append(self.engine.unseen(outcome, self.show))
        if self.request.verbose:
            self._say_more()
        if self.request.timings:
            self._print_timings()
        return self._status(outcome)

    def _check_baselines(self, paths: Sequence[str]) -> None:
        """Check that the baselines can be read, or that the new one can be written. Raises :class:`UsageError`."""
        if self.request.write_baseline:
            from gllint.verdict import baseline

            baseline.target(absolute(self.request.write_baseline))
            return
        files = self.engine.baselines_of(map(absolute, paths))
        if self.request.prune_baseline and not files:
            raise UsageError(
                "--prune-baseline needs a baseline: --baseline FILE, or the key 'baseline' of the configuration"
            )
        for file in files:
            self.baselines.entries(file)

    def _check_targets(self) -> None:
        """Raise :class:`UsageError` if an output would overwrite a file of the project."""
        request, output = self.request, self.request.output_file
        for option, name in (
            ("--write-baseline", request.write_baseline),
            ("--prune-baseline", request.baseline if request.prune_baseline else None),
            ("--output-file", output if output and not _is_stream(output) else None),
        ):
            try:
                if name is not None:
                    check_inside(absolute(name), self.engine.top_of(absolute(name)))
            except OSError as error:
                raise UsageError(f"{option}: {name}: cannot be written: {error.strerror}") from None
            is_ours = (
                name is not None
                and (is_python_name(name) or name.endswith(FILE_NAMES))
                and os.path.exists(name)
            )
            if is_ours and option == "--output-file":
                raise UsageError(f"{option}: {name}: is a file of the project; not overwritten")

    # --- the steps -----------------------------------------------------------------------------------------

    def _paths(self) -> list[str]:
        """Return the paths to check. For ``-``, read standard input as the content of ``--stdin-filename``."""
        paths = list(self.request.paths) or ["."]
        if STDIN not in paths:
            return paths
        if len(paths) > 1:
            raise UsageError("'-' (standard input) cannot be combined with other paths")
        name = self.request.stdin_filename or "stdin"
        self.stdin = absolute(name)
        if sys.stdin is None:
            raise UsageError("standard input is closed: there is nothing to read")
        self.engine.sources.put(self.stdin, sys.stdin.buffer.read())
        self.show = _shower([name])
        return [name]

    def _why(self, path: str, line: int, code: str | None) -> int:
        """Print why a line has a finding or none, and return the exit status."""
        if not self.engine.sources.exists(absolute(path)):
            raise UsageError(f"--why: {path}: no such file")
        if code is not None and code not in RULES:
            raise UsageError(f"--why: unknown code '{code}'")
        try:
            lines = len(self.engine.sources.of(absolute(path)).data.splitlines())
        except OSError as error:
            raise UsageError(f"--why: {path}: cannot be read: {error.strerror}") from None
        if line > max(lines, 1):
            raise UsageError(f"--why: {path} has only {count_text(lines, 'line')}")
        from gllint.run.silences import silences

        sentences = [
            *self.engine.explain(path, line, code),
            *silences(self.engine, absolute(path), line, code),
        ]
        say("\n".join(map(visible, sentences)))
        return NO_FINDINGS

    def _show_files(self, paths: Sequence[str]) -> int:
        files = sorted(map(self.show, self.engine.files(paths)))
        self._write("".join(f"{visible(path)}\n" for path in files))
        if not files:
            self._note("No Python files were found at the paths given.")
        return NO_FINDINGS

    def _fix(self, paths: Sequence[str]) -> Outcome:
        """Apply the fixes, or print what they would change, and return the outcome of a check afterwards."""
        from gllint.run import fixer

        fixed = fixer.fix(self.engine, paths, self.request.unsafe_fixes)
        if self.request.diff:
            for path, data in fixed.new_data.items():
                self._write_bytes(fixer.diff(self.show(path), fixed.old_data[path], data))
            self.would_change = bool(fixed.new_data)
        written = list(fixed.new_data) if self.request.diff else self._put(fixed)
        if not self.request.diff and len(written) < len(fixed.new_data):
            fixer.undo(self.engine, fixed, written, paths)
        verb = "Would fix" if self.request.diff else "Fixed"
        count = sum(fixed.applied[path].total() for path in written)
        self.has_changed = bool(count)
        if count and self.request.show_fixes:
            self._note(f"{verb} {count_text(count, 'finding')}:")
            self._show_fixes(fixed, written)
        elif count:
            self._note(f"{verb} {count_text(count, 'finding')} in {count_text(len(written), 'file')}.")
        self._complain(fixed)
        return fixed.outcome

    def _show_fixes(self, fixed: Fixed, written: Iterable[str]) -> None:
        """List the fixes in each file."""
        for path in sorted(written):
            self._note(f"- {self.show(path)}:")
            for code, number in sorted(fixed.applied[path].items()):
                self._note(f"    {number} × {code} ({RULES[code].name})")

    def _add_noqa(self, paths: Sequence[str]) -> Outcome:
        """Write a suppression at each new finding, and return the outcome of a check afterwards."""
        from gllint.run import fixer

        fixed = fixer.suppress(self.engine, paths, lambda outcome: self._only_new(outcome, paths))
        written = self._put(fixed)
        self._complain(fixed)
        self._note(
            f"Added {count_text(sum(fixed.applied[path].total() for path in written), 'suppression')}."
        )
        return fixed.outcome

    def _put(self, fixed: Fixed) -> list[str]:
        """Write the changed files, and return those that could be written."""
        from gllint.run import fixer

        if not self.stdin:
            return fixer.write(self.engine, fixed)
        self._write_bytes(self.engine.sources.of(self.stdin).raw)
        return list(fixed.new_data)

    def _complain(self, fixed: Fixed) -> None:
        for error in fixed.errors:
            _complain(error)
        self.failed = bool(fixed.errors)

    def _only_new(self, outcome: Outcome, paths: Sequence[str]) -> None:
        """Drop the findings that ``--since`` or a baseline leaves out of the report."""
        self._only_since(outcome, paths)
        if self.engine.baselines_of(outcome.checked):
            self.baselines.leave_out(outcome)

    def _only_since(self, outcome: Outcome, paths: Sequence[str]) -> None:
        """Drop the findings that did not change since the revision of ``--since``."""
        if self.request.since is None:
            return
        from gllint.verdict.since import only_changed

        folders = [p if os.path.isdir(p) else os.path.dirname(p) for p in map(absolute, paths)]
        cell = self.engine.sources.cell
        findings = only_changed(outcome.findings, self.request.since, folders, cell)
        self.unchanged_count = len(outcome.findings) - len(findings)
        outcome.findings = findings

    def _report(self, outcome: Outcome) -> None:
        """Print the findings or the statistics, then the notices and the summary."""
        findings_report = self._findings_report(outcome)
        shows_findings = not self.request.diff and not (self.stdin and self.request.fixes)
        if shows_findings and not self._is_mute:
            self._write(statistics(findings_report, self.request.output_format) if self.request.statistics
                        else report.render(self.request.output_format, findings_report))  # fmt: skip
        if self.request.output_format == report.PAGE and self.request.output_file:
            self._note(f"Wrote {count_text(len(outcome.findings), 'finding')} to {self.request.output_file}.")
        for text in findings_report.failures:
            _complain(text)
        for notice in outcome.notices:
            self._note(notice.text(self.show))
        for what in ("name", "suppression"):
            if unjudged := [item for item in outcome.unjudged if item.what == what]:
                obstacles = [obstacle for item in unjudged for obstacle in item.obstacles]
                self._note(self._not_judged(len(unjudged), what, "", obstacles))
        if not self.request.quiet and self.request.output_format in _FOR_READERS:
            self._summarise(outcome)
        elif not findings_report.unseen.is_empty:
            self._note(f"{findings_report.unseen.line()}.")

    def _settled(self, outcome: Outcome) -> Settled:
        from gllint.verdict.advice import settled

        return settled(outcome.findings, self.engine.config_of)

    def _findings_report(self, outcome: Outcome) -> report.Report:
        """Collect what the output formats show."""
        is_screen = self.request.output_format == "full" and not self.request.verbose and outcome.findings
        settled = self._settled(outcome) if is_screen else None
        return report.Report(
            diagnostics=[self._diagnostic(finding) for finding in outcome.findings],
            lines=self.engine.sources.lines,
            show=self.show,
            fingerprints=lambda: self._identities(outcome),
            checked=outcome.checked,
            colour=_wants_colour(self.request.color) and not self.request.output_file,
            cell=self.engine.sources.cell,
            maps=self.engine.maps(outcome.checked) if self.request.output_format == report.PAGE else (),
            has_baseline=self.has_baseline,
            unseen=self.engine.unseen(outcome, self.show),
            failures=[
                failure_text(several[0], *(self.show(failure.path) for failure in several))
                for several in _alike(outcome.failures)
            ],
            settled=settled.findings if settled else (),
            setting=" and ".join(f"`{line}`" for line in settled.lines) if settled else "",
            verbose=self.request.verbose,
        )

    def _identities(self, outcome: Outcome) -> list[str]:
        from gllint.verdict.fingerprint import fingerprints

        return [
            fingerprint.hex()
            for fingerprint in fingerprints(outcome.findings, self.engine.sources.code, self.show)
        ]

    def _diagnostic(self, finding: Finding) -> report.Diagnostic:
        level = self.engine.config_of(finding.path).level(finding.code)
        cell = self.engine.sources.cell(finding.path, finding.span.line)
        return report.Diagnostic(
            finding, self.show(finding.path), level, cell, finding in self.baseline_findings
        )

    def _not_judged(self, number: int, noun: str, of: str, obstacles: Iterable[tuple[str, str]]) -> str:
        """Say how many names, suppressions or findings were not judged, and which unread files are the reason."""
        unread = sorted(set(obstacles))
        listed = ", ".join(f"{self.show(path)} ({why})" for path, why in unread[:_PATHS_IN_NOTE])
        tail = f" and {len(unread) - _PATHS_IN_NOTE} more" if len(unread) > _PATHS_IN_NOTE else ""
        verb = "was" if number == 1 else "were"
        return f"{count_text(number, noun)}{of} {verb} not judged, since these were not read: {listed}{tail}."

    def _summarise(self, outcome: Outcome) -> None:
        """Print how many findings there are, and what was not checked."""
        self._count_cuts()
        count = len(outcome.findings)
        gaps = self.engine.unseen(outcome, self.show)
        if not count:
            if outcome.checked and not self.would_change and not self.request.fix_only:
                new = "new " if self.has_baseline else ""
                looked = "" if gaps.is_empty else ", as far as gllint looked"
                checked_files = count_text(len(outcome.checked), "file")
                since = f"what changed since {self.request.since}, in " if self.request.since else ""
                if not outcome.failures:  # else a rule may have missed some
                    self._note(f"No {new}findings in {since}{checked_files}{looked}.")
                self._say_unchanged()
                self._say_plain(outcome)
                self._say_unseen(gaps)
                self._say_toolless(outcome, gaps)
            if not self.would_change and not self.request.fix_only:
                self._say_silenced(outcome)
            return
        files = len({finding.path for finding in outcome.findings})
        text = f"Found {count_text(count, 'finding')} in {count_text(files, 'file')}"
        checked = set(outcome.checked)
        candidates = [f for f in outcome.findings if f.path in checked] if self.engine.options.fixes else []
        fixes = [finding.fix.applicability for finding in candidates if finding.fix is not None]
        safe = 0 if self.request.fixes else fixes.count("safe")
        unsafe = 0 if self.request.fixes and self.request.unsafe_fixes else fixes.count("unsafe")
        hints = [
            f"{safe} fixable with --fix" if safe else "",
            f"{unsafe} {'more' if safe else 'fixable'} with --fix --unsafe-fixes" if unsafe else "",
        ]
        listed = ", ".join(hint for hint in hints if hint)
        self._note(f"{text} ({listed})." if listed else f"{text}.")
        self._say_unchanged()
        if self.request.output_format != "full" and (text := allowable(self._settled(outcome).findings)):
            self._note(text)
        self._say_caused(count - sum(finding.path in checked for finding in outcome.findings))
        self._say_plain(outcome)
        self._say_unseen(gaps)

    def _say_caused(self, count: int) -> None:
        """Say why there are findings in files that were not passed."""
        if count:
            where, it = ("is in a file", "it") if count == 1 else ("are in files", "them")
            self._note(
                f"{count_text(count, 'finding')} {where} that you did not pass; files that you passed cause {it}"
                " (--why explains). --fix edits only the files you pass."
            )

    def _say_unchanged(self) -> None:
        """Say how many findings ``--since`` leaves out."""
        if count := self.unchanged_count:
            verb = "is" if count == 1 else "are"
            self._note(
                f"{count_text(count, 'finding')} outside the changes since {self.request.since} {verb} not reported."
            )

    def _say_plain(self, outcome: Outcome) -> None:
        """Say how many numbers the project's ``plain-kinds`` leaves out."""
        if count := len(outcome.plain_numbers):
            verb = "is" if count == 1 else "are"
            self._note(f"{count_text(count, 'number')} of the kinds in `plain-kinds` {verb} not reported.")

    def _say_silenced(self, outcome: Outcome) -> None:
        """Say which findings comments and settings keep out of an empty report."""
        if count := outcome.suppressed:
            were = "is" if count == 1 else "are"
            self._note(f"{count_text(count, 'finding')} {were} suppressed by comments.")
        for config in self.engine.configurations([self.stdin] if self.stdin else self.request.paths or ["."]):
            for file, keys in config.narrowing.items():
                named = [f"`{key}`" for key in keys]
                listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
                verb = "limits" if len(keys) == 1 else "limit"
                self._note(f"{listed} in {self.show(file)} {verb} what is reported.")

    def _say_unseen(self, gaps: Unseen) -> None:
        """Say what was not checked, and how to have it checked."""
        if not gaps.is_empty:
            self._note(f"{gaps.line()}. {gaps.advice()}".rstrip())

    def _say_toolless(self, outcome: Outcome, gaps: Unseen) -> None:
        """Say that whole folders define no tool: gllint may not know their framework."""
        if outcome.has_tools or outcome.failures or not gaps.is_empty:
            return
        if any(map(os.path.isdir, self.request.paths or ["."])):
            self._note(
                "No tools found. `gllint frameworks` lists what counts as a tool; declare your own with the "
                "settings `tool-decorators`, `tool-classes` and `tool-methods`. "
                "If the agent has no tools, check its answers with `gllint audit`."
            )

    def _count_cuts(self) -> None:
        """Say how many values were too complex to follow, since each may hide findings."""
        cuts = sum(len(workspace.cuts()) for workspace in self.engine.workspaces())
        if cuts and not self.request.verbose:
            were = "was" if cuts == 1 else "were"
            self._note(f"{count_text(cuts, 'value')} {were} too complex to follow; --verbose shows where.")

    def _say_more(self) -> None:
        """Print what ``--verbose`` adds: each project with its configuration, its cache and its sizes."""
        for workspace in self.engine.workspaces():
            config = workspace.config.source or "none"
            cache = workspace.cache_folder or "none"
            if workspace.cache_folder is None and not self.request.no_cache and (trouble := signer().trouble):
                cache = f"none: {trouble}"
            self._note(f"project {workspace.root}: configuration {config}, cache {cache}")
            listed, parsed = workspace.counts()
            self._note(f"  {count_text(listed, 'file')}, {count_text(parsed, 'candidate')}")
            for cut in workspace.cuts():
                self._note(f"{self.show(cut.path)}:{cut.line}: {cut}")

    def _print_timings(self) -> None:
        stages = self.engine.clock.stages
        steps = [(name, seconds) for name, seconds in stages.items() if name not in RULES]
        rows = [*steps, *sorted(stages.items() - steps, key=lambda item: -item[1])]
        rows.append(("total", time.perf_counter() - self.started))
        for name, seconds in rows:
            say(f"{seconds * 1000:10.1f} ms  {name}", error=True)

    def _status(self, outcome: Outcome) -> int:
        """Return the exit status of a run."""
        if self.failed or outcome.failures:
            return WRONG
        is_done = not (self.request.prune_baseline and self.has_unjudged)
        is_changed = self.has_changed and self.request.exit_non_zero_on_fix
        is_blind = self.request.fail_on_unseen and not self.engine.unseen(outcome, self.show).is_empty
        fails = self.would_change or is_changed or not is_done or is_blind
        fails = fails or any(map(self._fails, outcome.findings))
        if self.request.output_format == report.PAGE:
            # Findings are no failure of an HTML report, but a file that was passed and cannot be read is.
            paths = set(map(absolute, self.request.paths))
            is_unread = any(f.code == "GL900" and f.path in paths for f in outcome.findings)
            return FOUND if is_unread else NO_FINDINGS
        return FOUND if fails and not self.request.exit_zero else NO_FINDINGS

    def _fails(self, finding: Finding) -> bool:
        config = self.engine.config_of(finding.path)
        return LEVELS.index(config.level(finding.code)) <= LEVELS.index(config.fail_level)

    # --- the baseline --------------------------------------------------------------------------------------

    def _write_baseline(self, outcome: Outcome, name: str) -> int:
        """Write all findings to a new baseline, and return the exit status."""
        from gllint.run import baselines
        from gllint.verdict import baseline

        path = absolute(name)
        old = baseline.target(path)
        count, unchecked_count = baselines.write(
            self.engine, outcome, path, old, covers_all=not self.request.since
        )
        self._note(f"Wrote {count_text(count, 'finding')} to {name}.")
        if unchecked_count:
            self._note(f"It keeps {count_text(unchecked_count, 'finding')} of files that were not checked.")
        if count < len(outcome.findings):
            rest = count_text(len(outcome.findings) - count, "finding")
            self._note(f"It leaves out {rest} of GL9: a baseline cannot contain what gllint cannot read.")
        return WRONG if outcome.failures else NO_FINDINGS

    def _compare(self, outcome: Outcome) -> None:
        """Drop the findings that the baseline has, and note which of its entries are fixed."""
        if not self.engine.baselines_of(map(os.path.dirname, outcome.checked)):
            return
        compared = self.baselines.compare(outcome, covers_all=not self.request.since)
        self.has_baseline = bool(compared)
        old_findings = {
            finding for finding in outcome.findings if self.engine.config_of(finding.path).baseline_file
        }
        old_findings.difference_update(*(comparison.new for comparison in compared.values()))
        if self.request.output_format == report.PAGE:
            self.baseline_findings = frozenset(old_findings)
        else:
            outcome.findings = [finding for finding in outcome.findings if finding not in old_findings]
        if old_findings:
            self._note(f"{count_text(len(old_findings), 'finding')} known from the baseline.")
        for file, comparison in compared.items():
            self._prune(file, comparison)

    def _prune(self, file: str, compared: Compared) -> None:
        """Print the fixed entries of a baseline, and remove them if asked."""
        from gllint.verdict import baseline

        fixed = Counter(f"{entry.path}: {entry.code} {entry.text}" for entry in compared.fixed)
        for entry_text, count in fixed.items():
            gone = "Would no longer be found" if self.would_change else "No longer found"
            text = f"{gone}: {entry_text}"[:_LONGEST_ENTRY]
            times = f" ({count} times)" if count > 1 else ""
            self._note(visible(text) + times)  # a baseline may contain any characters
        if compared.unjudged:
            obstacles = [obstacle for _, several in compared.unjudged for obstacle in several]
            self._note(self._not_judged(len(compared.unjudged), "finding", " of the baseline", obstacles))
            self.has_unjudged = True
        if not compared.fixed:
            return
        gone = count_text(len(compared.fixed), "finding")
        if not self.request.prune_baseline:
            is_one = len(compared.fixed) == 1
            them, entries = ("it", "entry is") if is_one else ("them", "entries are")
            would = " would be" if self.would_change else ""
            what = f"{len(compared.fixed)} {entries if not would else entries.split()[0]}{would} fixed"
            self._note(f"{what}: remove {them} with `--prune-baseline`.")
        else:
            baseline.write(file, [*compared.matches, *compared.unseen])
            self._note(f"Removed {gone} from {self.request.baseline or self.show(file)}.")

    @property
    def _is_mute(self) -> bool:
        """Return whether only the exit status reports findings. ``--silent`` still writes an output file."""
        return self.request.silent and self.request.output_file in (None, *_STANDARD_OUTPUT)

    # --- output --------------------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        """Print text, or write it to the output file."""
        self.engine.progress.clear()
        if self.request.output_file in (None, *_STANDARD_OUTPUT):
            say(text, end="")
            return
        try:
            write_output(os.path.abspath(self.request.output_file), text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise UsageError(f"{self.request.output_file}: cannot be written: {error.strerror}") from None

    def _write_bytes(self, data: bytes) -> None:
        self.engine.progress.clear()
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def _note(self, text: str) -> None:
        if not (self.request.quiet or self.request.silent):
            self.engine.progress.clear()
            say(visible(text), error=True)


def _shower(paths: Sequence[str]) -> Callable[[str], str]:
    """Return a function that shows an absolute path: relative to the current folder, or below one of ``paths`` as
    given there.

    ``/home/ann/project/src/a.py`` → ``src/a.py`` in ``/home/ann/project``.
    """
    base = absolute(".").rstrip("/") + "/"
    elsewhere: Mapping[str, str] = {
        absolute(path).rstrip("/"): path.replace(os.sep, "/").rstrip("/")
        for path in paths
        if not absolute(path).startswith(base)
    }

    def show(path: str) -> str:
        if path.startswith(base):
            return path.removeprefix(base)
        for top, name in elsewhere.items():
            if path == top or path.startswith(top + "/"):
                return name + path.removeprefix(top)
        return path

    return show


def _complain(text: str) -> None:
    say(f"gllint: {visible(text)}", error=True)


def _alike(failures: Iterable[Failure]) -> Iterable[Sequence[Failure]]:
    """Group the failures that have the same rule and the same error."""
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        groups.setdefault((failure.code, failure.error), []).append(failure)
    return groups.values()


def _is_stream(name: str) -> bool:
    """Return whether an output file is a device or a pipe, so that writing to it overwrites nothing."""
    try:
        return os.path.abspath(name).startswith("/dev/") or not stat.S_ISREG(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def _wants_colour(when: str) -> bool:
    """Return whether to print in colour: as the option says, else by the environment and the terminal."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    if os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()
