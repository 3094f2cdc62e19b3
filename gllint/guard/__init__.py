"""The guard: between a client and any MCP server, the protocol unchanged but for the numbers.

``exchange`` decides about messages and knows of no process, ``unit_places`` gives a server's bare numbers the units
that a configuration names, ``relay`` moves the messages, ``streamable`` over HTTP,
``transcript`` keeps them, ``clients`` and ``draft`` print
what to write where.
"""
