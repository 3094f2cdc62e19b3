"""``gllint init``: what a project does (:mod:`survey`), what fits it (:mod:`proposal`), and the files that say so.

In: the folder of a project. Out: files written all at once or not at all. Knows nothing of how findings are shown.
"""
