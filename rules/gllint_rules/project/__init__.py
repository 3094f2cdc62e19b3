"""The facts of all modules of a project together: what a rule may ask for.

In: modules, as they are announced, and three questions to the host (load a file, does it exist, which files contain a
word). Out: a :class:`~gllint_rules.project.project.Project`, with the imports, the tools and the evaluator, and a
:class:`~gllint_rules.project.context.Context` for each module: its tools, their results, and a way to report.

What the rules have in common to ask is in a module each: results, schemas, templates, units, effects, categories,
the names that tools are needed by. Answers are remembered until another module is announced.

This room knows nothing of which rules there are, of fixes, or of who asks.
"""
