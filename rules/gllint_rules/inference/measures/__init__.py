"""The units of numbers: a second reading of a body, in which a variable stands for the unit that it holds.

It is asked for by the rules that speak of units, and by nothing else: what is a number, the evaluator says. A
*meaning* is what is known of an expression; unknown is contagious. Dimension and size are floor 1's.
"""
