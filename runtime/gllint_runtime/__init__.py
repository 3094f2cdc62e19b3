"""The policy on numbers, units and claims, and its enforcement when tools run."""
