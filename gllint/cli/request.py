"""What ``gllint check`` is asked for: its options under their own names, and which of them go together."""

from __future__ import annotations

from typing import Any

from gllint import report
from gllint.errors import UsageError
from gllint.files.config import COMMAND_LINE, Config, inline
from gllint.files.paths import absolute
from gllint.files.places import fixed_config
from gllint.run.engine import Options
from gllint_rules.tuples import NamedTuple

STDIN = "-"


class Request(NamedTuple):
    """The options of ``gllint check`` under their own names."""

    paths: tuple[str, ...] = ()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    extend_ignore: tuple[str, ...] | None = None
    fail_level: str | None = None
    output_format: str = "full"
    output_file: str | None = None
    fix: bool = False
    fix_only: bool = False
    unsafe_fixes: bool = False
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] | None = None
    show_fixes: bool = False
    diff: bool = False
    baseline: str | None = None
    write_baseline: str | None = None
    prune_baseline: bool = False
    since: str | None = None
    add_noqa: bool = False
    ignore_noqa: bool = False
    config: str | None = None
    settings: tuple[str, ...] = ()
    isolated: bool = False
    exclude: tuple[str, ...] = ()
    force_exclude: bool | None = None
    stdin_filename: str | None = None
    statistics: bool = False
    show_files: bool = False
    watch: bool = False
    exit_zero: bool = False
    strict: bool = False
    fail_on_unseen: bool = False
    exit_non_zero_on_fix: bool = False
    no_cache: bool = False
    cache_dir: str | None = None
    jobs: int | None = None
    why: tuple[str, int, str | None] | None = None
    timings: bool = False
    color: str = "auto"
    quiet: bool = False
    silent: bool = False
    verbose: bool = False

    @property
    def fixes(self) -> bool:
        """Return whether fixes are to be applied."""
        return self.fix or self.fix_only


def check_together(request: Request) -> None:
    """Raise :class:`UsageError` where options contradict each other."""
    for option in ("config", "baseline", "write_baseline", "output_file"):
        if getattr(request, option) == "":
            # An empty variable in a script must not turn the option off.
            raise UsageError(f"--{option.replace('_', '-')} needs a file name, got an empty text")
    if request.config and request.isolated:
        raise UsageError("--config and --isolated cannot both be given")
    if request.stdin_filename is not None and STDIN not in request.paths:
        raise UsageError(
            "--stdin-filename needs '-' as the path: "
            f"gllint check - --stdin-filename {request.stdin_filename or 'NAME'}"
        )
    if request.add_noqa and request.ignore_noqa:
        raise UsageError("--add-noqa and --ignore-noqa cannot both be given")
    if request.diff and (request.add_noqa or request.write_baseline or request.prune_baseline):
        raise UsageError("--diff changes nothing: it cannot be combined with an option that writes a file")
    if request.write_baseline and request.baseline:
        raise UsageError(
            "--baseline and --write-baseline cannot both be given; --prune-baseline removes fixed findings"
        )


def options(request: Request) -> Options:
    """Return the options of the engine for a request."""
    overrides: dict[str, Any] = {
        "select": request.select,
        "ignore": request.ignore,
        "extend-select": request.extend_select,
        "extend-ignore": request.extend_ignore,
        "fixable": request.fixable,
        "unfixable": request.unfixable,
        "fail-level": request.fail_level,
        "extend-exclude": request.exclude or None,
        "force-exclude": request.force_exclude,
        "baseline": absolute(request.baseline) if request.baseline else None,
        "cache-dir": absolute(request.cache_dir) if request.cache_dir else None,
    }
    settings = inline(request.settings, absolute(".")) if request.settings else None

    def overridden_config(config: Config) -> Config:
        config = config.under(settings) if settings is not None else config
        if request.strict:
            config = config.with_rules({"plain-kinds": ()})
        return config.overridden(overrides, COMMAND_LINE)

    return Options(
        fixed=fixed_config(request.config, request.isolated),
        override=overridden_config,
        cache=not request.no_cache,
        jobs=request.jobs,
        comments=not request.ignore_noqa,
        progress=not (request.quiet or request.silent),
        time_rules=request.timings,
        fixes=_needs_fixes(request),
        bound=STDIN in request.paths,
        once=not (
            request.fixes
            or request.diff
            or request.add_noqa
            or request.verbose
            or request.timings
            or request.output_format == report.PAGE
        ),
    )


def _needs_fixes(request: Request) -> bool:
    """Return whether the fixes are applied or shown, so that the rules must work them out."""
    counts_alone = request.statistics or request.add_noqa or bool(request.write_baseline)
    shows_fixes = (
        report.FORMATS.get(request.output_format, False) and not counts_alone and request.why is None
    )
    return request.fixes or request.diff or shows_fixes
