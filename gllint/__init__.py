"""gllint finds files, runs the rules of :mod:`gllint_rules` over them and tells people."""

__version__ = "0.1.0"
