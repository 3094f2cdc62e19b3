"""What is known by name, as data: frameworks, tool classes and decorators, settings, needles.

In: the settings of a project (:class:`~gllint_rules.words.settings.Settings`), the table of frameworks
(``frameworks.toml``, loaded from its JSON form). Out: :class:`~gllint_rules.words.names.Names`, the names that the
other rooms look for, and the screen (:mod:`~gllint_rules.words.screen`), which decides from a file's bytes alone
whether any rule could report in it.

A framework is one row of the table. This room knows nothing of any other: not of syntax, values, tools or rules.
"""
