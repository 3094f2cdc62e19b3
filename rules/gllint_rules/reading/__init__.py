"""From text to what a file says: outline, then the facts of each section on demand, then places.

In: the text of one file. Out: a :class:`~gllint_rules.reading.facts.Module`, whose outline
(:mod:`~gllint_rules.reading.outline`) says what each section defines, binds and calls; a section is parsed by Python
itself and read (:mod:`~gllint_rules.reading.sections`) on demand. Expressions are facts with numbers,
no syntax; :class:`~gllint_rules.reading.positions.Positions` finds the place of a number by reading its section again.
What is newer than the running Python is put in older words, of the same length (:mod:`~gllint_rules.reading.newer`).

This room sees one file at a time. It knows nothing of imports' targets, of values, tools or rules.
"""
