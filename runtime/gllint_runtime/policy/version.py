"""The version of the distribution, which a configuration may ask for."""

__version__ = "0.1.0"
