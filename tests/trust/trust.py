"""What the suites share: a limit of time, real files, and the row that each of them adds to the table."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was tried, how much of it, and what went wrong."""

    suite: str
    tried: str
    wrong: list[str] = field(default_factory=list)


def standard_libraries() -> tuple[Path, ...]:
    """Those of the Pythons that lie beside this one, their tests included: nothing in them has to do with agents."""
    beside = Path(sys.base_prefix).parent.glob("*/lib/python3.*")
    return tuple(dict.fromkeys((Path(sysconfig.get_path("stdlib")), *sorted(beside))))


class Budget:
    """How long a suite may take, and what it draws from. The same seed tries the same things, as far as it comes.

    Without ``folders`` the corpus is what every machine has: the standard libraries, and the packages installed.
    """

    def __init__(self, seconds: float, seed: int = 0, folders: tuple[Path, ...] = ()) -> None:
        self._end = time.monotonic() + seconds
        self.seconds, self.seed = seconds, seed
        self.random = random.Random(seed)
        self.unrelated = frozenset(standard_libraries())
        self._folders = folders or (*standard_libraries(), Path(sysconfig.get_path("purelib")))

    def left(self) -> bool:
        """Whether there is time for one more."""
        return time.monotonic() < self._end

    def rounds(self) -> Iterator[int]:
        """Count the rounds for which there is time; there is always one."""
        yield 0
        number = 1
        while self.left():
            yield number
            number += 1

    def folders(self) -> list[Path]:
        """The folders of the corpus, in an order drawn at random."""
        return self.random.sample(self._folders, len(self._folders))

    def files(self) -> list[Path]:
        """The Python files of the corpus, in an order drawn at random."""
        found = [
            Path(folder, name)
            for top in self._folders
            for folder, folders, names in os.walk(top)
            if folders.sort() is None
            for name in sorted(names)
            if name.endswith(".py")
        ]
        self.random.shuffle(found)
        return found


def gllint(
    *arguments: str, cwd: Path, timeout: float = 120, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in ``cwd``, where its configuration and its home are, too."""
    return subprocess.run(
        [sys.executable, "-m", "gllint", *arguments],
        cwd=cwd,
        env={**os.environ, "HOME": str(cwd), **variables},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=timeout,
        check=False,
    )


# Two files that have findings of several rules, fixes and suppressions, and that refer to each other.
AGENT = {
    "plant/__init__.py": "",
    "plant/tools.py": """from langchain_core.tools import tool


@tool
def heat(site):
    return {"site": site, "heat_kwh": survey(site) * 80.0}


@tool
def loss(site):
    return {"loss": {"value": survey(site) + 1, "unit": "kwh"}}


def survey(site):
    return len(site)  # noqa: GL101
""",
    "plant/agent.py": """from plant.tools import heat, loss

FINAL_MESSAGE = "It uses 5 kWh"
agent = Agent(tools=[heat, loss])
heat.invoke({"site": "a"})
""",
}


def write(top: Path, files: dict[str, str]) -> None:
    """Write ``files`` below ``top``."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
