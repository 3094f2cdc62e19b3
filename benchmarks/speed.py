"""How long gllint takes beside other tools, as ratios of one run on one machine: medians of pairs, run in turn.

    python benchmarks/speed.py FOLDER [--pairs 5] [--most 120] [--sizes 1000 4000 16000]

FOLDER is a tree of Python sources, the larger the better. Tools that are not installed are left out, and a comparison
ends where a command takes more than ``--most`` seconds. Wall seconds are compared where several cores may be used, CPU
seconds for single files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

HERE = Path(sys.executable).parent
TOOL = """\
from crewai.tools import BaseTool


class Meter{n}(BaseTool):
    def _run(self, site: str, hours: float):
        load = self.load(site) * 1.5
        rows = [{{"hour": hour, "load": load * hour}} for hour in range(24)]
        return {{"site": site, "energy": load * hours, "rows": rows}}

    def load(self, site):
        return len(site) + 2.5
"""
# Lets flake8 see all installed packages but this one.
HIDDEN = (
    "import importlib.metadata as m; found = m.distributions; "
    "m.distributions = lambda **k: [d for d in found(**k) if d.name != 'gllint']; "
)


class Took(NamedTuple):
    """Seconds of wall clock and of CPU, children included; the largest child's memory in MB."""

    wall: float
    cpu: float
    memory: float


def run(command: Sequence[str], cwd: Path, most: float) -> Took:
    """Run a command to its end, whatever its exit status, and drop what it prints.

    Raises ``TimeoutExpired`` after ``most`` seconds.
    """
    start, quiet = time.perf_counter(), subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, stdout=quiet, stderr=quiet) as process:
        timer = threading.Timer(most, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)  # of this command alone, what it started included
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if wall > most:
        raise subprocess.TimeoutExpired(command, most)
    return Took(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compare(
    title: str,
    ours: Sequence[str],
    theirs: Sequence[str],
    cwd: Path,
    pairs: int,
    measure: Callable[[Took], float],
    most: float,
) -> None:
    """Print the median of the ratios of ``pairs`` runs of two commands, in turn."""
    if shutil.which(theirs[0]) is None:
        print(f"{title:58} left out: {theirs[0]} is not installed")
        return
    try:
        run(ours, cwd, most), run(theirs, cwd, most)  # both warm the file system
        both = [(measure(run(ours, cwd, most)), measure(run(theirs, cwd, most))) for _ in range(pairs)]
    except subprocess.TimeoutExpired as error:
        print(f"{title:58} left out: {Path(error.cmd[0]).name} takes more than {most:.0f} s")
        return
    ratio = statistics.median(mine / other for mine, other in both)
    mine, other = (statistics.median(column) for column in zip(*both, strict=True))
    print(f"{title:58} {ratio:6.2f}   ({mine:.3f} s to {other:.3f} s)")


def main() -> None:
    """Print all ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--most", type=float, default=120, help="seconds that one command may take")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 4000, 16000], help="generated files")
    options = parser.parse_args()
    gllint, ruff = str(HERE / "gllint"), str(HERE / "ruff")
    folder, pairs, most = options.folder.resolve(), options.pairs, options.most
    files = sum(name.endswith(".py") for _, _, names in os.walk(folder) for name in names)
    print(
        f"{folder.name}: {files:,} files of Python; Python {sys.version.split()[0]}, {os.cpu_count()} cores\n"
    )

    plain = [gllint, "check", "--output-format", "concise", "--quiet"]
    cold = [*plain, "--no-cache", "--isolated", "."]
    grep = ["grep", "-rlF", "--include=*.py", "Quantity", "."]

    def wall(took: Took) -> float:
        return took.wall

    def cpu(took: Took) -> float:
        return took.cpu

    compare("whole tree, cold: times grep -rlF (wall)", cold, grep, folder, pairs, wall, most)
    with_f = [ruff, "check", "--output-format", "concise", "--quiet"]
    with_f += ["--no-cache", "--isolated", "--select", "F", "."]
    compare("whole tree, cold: times ruff --select F (wall)", cold, with_f, folder, pairs, wall, most)
    for name, command in {
        "ast-grep": ["ast-grep", "run", "--lang", "python", "--pattern", "def $F($$$): $$$", "."],
        "semgrep": ["semgrep", "--metrics=off", "--lang", "python", "--pattern", "float(...)", "."],
        "fixit": ["fixit", "lint", "."],
    }.items():
        compare(f"whole tree, cold: times {name} (wall)", cold, command, folder, 1, wall, most)
    with tempfile.TemporaryDirectory() as cache:
        warm = [*plain, "--isolated", "--cache-dir", cache, "."]
        compare("whole tree, warm: times grep -rlF (wall)", warm, grep, folder, pairs, wall, most)
    with suppress(subprocess.TimeoutExpired):
        memory = run(cold, folder, most).memory
        print(f"{'whole tree, cold: memory of the largest process':58} {memory:6.0f} MB")

    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (top / "clean").mkdir()
        (top / "clean/a.py").write_text("def f(a):\n    return a\n")
        check = [*plain, "a.py"]
        compare(
            "one clean file: times python -c pass (CPU)",
            check,
            [sys.executable, "-c", "pass"],
            top / "clean",
            3 * pairs,
            cpu,
            most,
        )
        (top / "tool").mkdir()
        (top / "tool/a.py").write_text("\n\n".join(TOOL.format(n=n) for n in range(58)))
        parse = "import libcst; libcst.parse_module(open('a.py').read())"
        compare(
            "one tool file of 700 lines: times a bare parse (CPU)",
            [*check, "--no-cache"],
            [sys.executable, "-c", parse],
            top / "tool",
            pairs,
            cpu,
            most,
        )
        (top / "plain").mkdir()
        for number in range(200):
            (top / f"plain/m{number}.py").write_text(f"def f{number}(a):\n    return [a, {number}]\n" * 40)
        start = "from flake8.main.cli import main; main(['--isolated', '--max-line-length=120', '.'])"
        compare(
            "flake8 with the plugin: times flake8 without (CPU)",
            [sys.executable, "-c", start],
            [sys.executable, "-c", HIDDEN + start],
            top / "plain",
            pairs,
            cpu,
            most,
        )
        print()
        each = []
        for count in options.sizes:
            many = top / f"many{count}"
            for number in range(count):
                place = many / f"p{number % 40}"
                place.mkdir(parents=True, exist_ok=True)
                (place / f"m{number}.py").write_text(TOOL.format(n=number))
            try:  # in one process: what several take for the same work depends on the processor that they share
                took = run([*plain, "--no-cache", "--isolated", "--jobs", "1", "."], many, 3 * most)
            except subprocess.TimeoutExpired:
                print(f"{count:6} tool files: more than {3 * most:.0f} s")
                break
            each.append(took.cpu / count * 1000)
            print(f"{count:6} tool files: {each[-1]:6.2f} ms of CPU for each, {took.memory:5.0f} MB")
        if each:
            print(f"{'growth, the last to the first':58} {each[-1] / each[0]:6.2f}")


if __name__ == "__main__":
    main()
