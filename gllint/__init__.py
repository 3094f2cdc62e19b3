"""gllint finds files, runs the rules of :mod:`gllint_rules` over them and reports the findings."""


def __getattr__(name: str) -> str:
    """``__version__``, once someone asks: till :mod:`gllint.__main__` runs, no one hears an interrupt."""
    if name != "__version__":
        raise AttributeError(f"module 'gllint' has no attribute {name!r}")
    from gllint_runtime import __version__

    return __version__
