"""The rules run over a project.

In: a :class:`~gllint_rules.project.project.Project`, the path of one of its modules, the codes that are asked for.
Out: findings with their places, evidence and fixes (:mod:`~gllint_rules.check.check`), a failure for a rule that
raised; or, for one line, the evidence in words (:mod:`~gllint_rules.check.why`).

This room knows nothing of suppressions, baselines, caches or output.
"""
