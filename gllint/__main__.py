"""``python -m gllint``."""

from gllint.cli import main

if __name__ == "__main__":
    main()
