"""From text to what a file says: outline, then the facts of each section on demand, then places.

In: the text of one file. Out: a :class:`~gllint_rules.reading.facts.Module`, whose outline
(:mod:`~gllint_rules.reading.outline`) says what each section defines, binds and calls; a section is parsed with LibCST
and read (:mod:`~gllint_rules.reading.reader`) when somebody asks for it. Expressions are facts with numbers, no
syntax; :class:`~gllint_rules.reading.positions.Positions` tells where a number stands, parsing its line again.

This room sees one file at a time. It knows nothing of imports' targets, of values, tools or rules.
"""
