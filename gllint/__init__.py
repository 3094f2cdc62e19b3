"""gllint finds files, runs the rules of :mod:`gllint_rules` over them and tells people."""

from gllint_runtime import __version__ as __version__
