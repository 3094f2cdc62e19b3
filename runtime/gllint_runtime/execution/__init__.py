"""Tools are run and messages let through: a model's steps in, a verified message with its provenance out.

``tools`` and ``registry`` verify one call, ``calls`` runs it, ``session`` is the gate for outputs and messages,
``runtime`` the loop with a model around both. Knows nothing of source.
"""
