"""Named tuples that cost little to make."""

from gllint_runtime.policy.tuples import NamedTuple as NamedTuple
