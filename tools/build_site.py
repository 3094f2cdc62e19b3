"""Build the documentation into ``site/``: its pages as HTML, and beside each the Markdown that a model reads.

python tools/build_site.py [zensical's options]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path


def main(folder: Path, options: list[str]) -> int:
    """Build the site of the documentation in ``folder``; return zensical's exit status."""
    zensical = Path(sys.executable).parent / "zensical"
    status = subprocess.run([zensical, "build", *options], cwd=folder, check=False).returncode
    if status == 0:
        docs = folder / "docs"
        for page in docs.rglob("*.md"):
            target = folder / "site" / page.relative_to(docs)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target)
    return status


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), sys.argv[1:]))
