"""From an expression to the values that it may have, with the evidence for each.

In: an expression of a module's facts and the frame that it is in. Out: a value
(:mod:`~gllint_rules.inference.values`): a number, text, record, list, class, function, tool, or unknown; each
element of a container with the place where it was put in.

:mod:`~gllint_rules.inference.evaluator` joins the parts, which see one another through the small protocol in
:mod:`~gllint_rules.inference.protocol`. What imports lead to and which values are tools is given from above, through
the same protocol. Every question has a budget; where it runs out, the value is unknown and the place is noted.

This room knows nothing of how tools are recognised, of files on disk, or of rules.
"""
