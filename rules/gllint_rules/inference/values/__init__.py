"""The small domain of the inference: what an expression may contain, and why we think so.

A rule fires on what is shown, never on :data:`UNKNOWN`. Containers keep the *site* of each element, the place
where it was put in, because that is where a finding about it belongs.
"""

from gllint_rules.inference.values.base import *
from gllint_rules.inference.values.callables import *
from gllint_rules.inference.values.changes import *
from gllint_rules.inference.values.collections import *
from gllint_rules.inference.values.instances import *
from gllint_rules.inference.values.references import *
from gllint_rules.inference.values.scalars import *
