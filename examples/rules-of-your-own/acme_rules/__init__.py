"""The rules of ACME, found by gllint through the entry points of this package."""
