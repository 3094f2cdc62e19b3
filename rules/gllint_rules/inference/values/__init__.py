"""The small domain of the inference: what an expression may hold, and why we think so.

A rule fires on what is shown, never on :data:`UNKNOWN`. Containers keep the *site* of each element, the place
where it was put in, because that is where a finding about it belongs.
"""

from gllint_rules.inference.values.base import (
    MOST_OF_A_FAMILY,
    MOST_OPTIONS,
    NEVER,
    NONE,
    UNKNOWN,
    Because,
    Holder,
    Site,
    UnionOf,
    Value,
    are_same,
    join,
    options,
    over,
)
from gllint_rules.inference.values.callables import (
    Arguments,
    Env,
    Flow,
    Frame,
    FunctionOf,
    Own,
    ToolData,
    ToolValue,
    Variable,
    is_reference,
)
from gllint_rules.inference.values.changes import (
    as_constant,
    condensed,
    filled_elsewhere,
    filled_unseen,
    holds_constants,
    moved,
    returned_at,
)
from gllint_rules.inference.values.collections import (
    Container,
    DictOf,
    Entry,
    Key,
    ListOf,
    OtherKey,
    Record,
    Slots,
    Unnamed,
    as_keys,
    lacks_key,
    surely_not_number,
    surely_not_text,
)
from gllint_rules.inference.values.instances import (
    Envelope,
    Instance,
    ModelInstance,
    QuantityInstance,
    class_of,
)
from gllint_rules.inference.values.references import ClassOf, External, ExternalInstance, Method, ModuleOf
from gllint_rules.inference.values.scalars import (
    BOOL,
    BYTES,
    TEXT,
    Boolean,
    Interpolation,
    Literal,
    Number,
    Text,
    explained,
    is_scalar,
    literal_of,
    number,
    passed_on,
    pieces,
)
