"""In which unit an expression is: one reading on demand, over names, definitions and what is computed.

The rules on units ask for single expressions; nothing is executed for them. Dimension and size are layer 1's.
"""
