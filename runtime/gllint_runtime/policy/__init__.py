"""What may be said: value, text, unit, schema or claim path in, verdict out.

Knows nothing of tools, models or source. The rules ask these functions about what they read, the execution
about its subject; there is no second implementation of any decision.
"""
