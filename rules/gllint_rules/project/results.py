"""The numbers and Quantities in the results of tools, each with the place where it was put in."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gllint_rules.inference.values import (
    NEVER,
    NONE,
    Because,
    Container,
    Entry,
    Envelope,
    FunctionOf,
    Key,
    ListOf,
    Number,
    QuantityInstance,
    Record,
    Site,
    Text,
    UnionOf,
    Value,
    join,
    number,
    options,
    surely_not_text,
)
from gllint_rules.tools.tool import Tool
from gllint_rules.tuples import NamedTuple
from gllint_runtime.policy.schemas import QUANTITY_KEYS
from gllint_runtime.policy.settings import Policy


class Result(Struct, frozen=True, eq=False):
    """One value that a tool's callable can return, as the model sees it, and where it is given."""

    tool: Tool
    callable: FunctionOf
    site: Site
    value: Value

    @property
    def parameters(self) -> frozenset[str]:
        """The names under which the model's arguments reach the callable."""
        params = self.callable.function.params
        return frozenset(p.name for p in params[1 if self.callable.first else 0 :])


class Leaf(NamedTuple):
    """A definite number outside a Quantity, at the ``site`` where it was put into the result.

    * ``value``: all that may be at ``site``; None if that is the site of a container around the number
    * ``keys``: the path to it; ``lists`` has, for each list around the number, how many of the keys lead to the list
    * ``holder``: the record that it is in
    * ``what``: a "number" under ``key``, an "element" of the container there, or a container of numbers whose elements
      are not seen ("dict of numbers")
    """

    site: Site
    number: Number
    key: str | None
    value: Value | None
    keys: tuple[Key, ...] = ()
    lists: tuple[int, ...] = ()
    holder: Record | None = None
    what: str = "number"
    is_named: bool = True  # whether nothing but lists lies between ``key`` and the number

    @property
    def in_list(self) -> bool:
        """Return whether it is inside a list."""
        return bool(self.lists)

    def within(self, container: Container) -> tuple[int, ...]:
        """Return the ``lists`` of a number in a ``container`` at this place."""
        return (*self.lists, len(self.keys)) if isinstance(container, ListOf) else self.lists

    def is_of_shape(self, policy: Policy) -> bool:
        """Return whether it is the number of a Quantity in one of the project's `quantity-shapes`."""
        return (
            self.holder is not None and self.key is not None and shaped_key(self.holder, policy) == self.key
        )


def shaped_key(record: Record, policy: Policy) -> str | None:
    """Return the key of the number in a Quantity of one of the project's `quantity-shapes`; None for other records."""
    if not policy.quantity_shapes or record.open or isinstance(record, QuantityInstance):
        return None
    from gllint_runtime.policy.quantity_shapes import value_key

    return value_key([*record.entries], policy.quantity_shapes)


def is_quantity(record: Record) -> bool:
    """Return whether a record is meant as a Quantity, well-formed or not: it has ``value`` and ``unit``.

    An object of a project's class must have no other field, and its unit may be a text.
    """
    if isinstance(record, QuantityInstance):
        return True
    if record.of is None:
        return "value" in record.entries and "unit" in record.entries
    return set(record.entries) == {"value", "unit"} and not all(
        surely_not_text(entry.value) for entry in record.entries["unit"]
    )


def _may_be_quantity(record: Record) -> bool:
    """Return whether the unknown part of a record may contain the unit of its ``value``."""
    return (
        record.open
        and record.of is None
        and not isinstance(record, Envelope)
        and "value" in record.entries
        and "unit" not in record.entries
    )


def leaves(value: Value, site: Site) -> Iterator[Leaf]:
    """Yield the numbers of a result outside Quantities, each at the place where it was put in."""
    return _leaves(value, Leaf(site, _NO_NUMBER, None, value))


_NO_NUMBER = Number(Because("", None))


def _leaves(value: Value, at: Leaf, sure: bool = True) -> Iterator[Leaf]:
    """Yield the leaves in ``value``, for which ``at`` has the path.

    If the value is not ``sure`` to be there, only numbers that were put into a container count.
    """
    figure = figure_of(value)
    if figure is not None and sure:
        yield at._replace(number=figure)
    for option in options(value):
        if not isinstance(option, Container) or (isinstance(option, Record) and is_quantity(option)):
            continue
        if isinstance(option, ListOf) and (option.kind == "declared" or "." in option.kind):
            option = replace(option, items=(), rest=option.element())
        if isinstance(option, ListOf) and option.matrix and option.site is not None:
            yield from _first_of_matrix(option, at)
            continue
        has_leaf = False
        for key, entry in option.contents():
            if key == "value" and isinstance(option, Record) and _may_be_quantity(option):
                continue
            for leaf in _leaves(entry.value, _inside(at, option, key, entry)):
                has_leaf = True
                yield leaf
        # The annotation of an empty container describes what is put into it later: if nothing is, it has no numbers.
        if option.rest is not None and not (option.is_empty or (option.hinted and has_leaf)):
            is_list = isinstance(option, ListOf)
            inner = at._replace(
                site=option.returned or at.site,
                value=None,
                lists=at.within(option),
                is_named=is_list and at.is_named,
                what=_what(option),
            )
            yield from _leaves(option.rest, inner, sure and _known_throughout(value))


def figure_of(value: Value) -> Number | None:
    """Return the number that a value is, or is on one path if on the others it is nothing or a text (``"N/A"``)."""
    if not isinstance(value, UnionOf) or value.source == "elements":
        return number(value)
    return number(join(*_numbers_in(value))) if value.source == "arms" else figure_shown(value)


def figure_shown(value: Value) -> Number | None:
    """Return the number that a value may be, if its other alternatives are None or known texts (``"N/A"``).

    A type that allows numbers and texts (``float | str``) shows no number.
    """
    is_known = all(
        isinstance(option, Number)
        or option is NONE
        or (isinstance(option, Text) and (option.is_put_together or option.parts is not None))
        for option in options(value)
    )
    return number(join(*_numbers_in(value))) if is_known else None


def _numbers_in(value: Value) -> list[Number]:
    return [option for option in options(value) if isinstance(option, Number)]


def _first_of_matrix(matrix: ListOf, at: Leaf) -> Iterator[Leaf]:
    """Yield one leaf for a list of lists of numbers, at the outer list, or where a constant with it is used."""
    is_constant = any(entry.constant for entry in matrix.items)
    site = at.site if is_constant or matrix.site is None else matrix.site
    place = at._replace(site=site, value=None, lists=at.within(matrix), what=_what(matrix))
    inner = next((leaf for entry in matrix.items for leaf in _leaves(entry.value, place)), None)
    if inner is not None:
        yield place._replace(number=inner.number)


def _known_throughout(value: Value) -> bool:
    """Return whether each alternative is a container of numbers or of known elements, None aside."""
    if not isinstance(value, UnionOf):
        return True
    for option in value.options:
        if option is NONE or option is NEVER:
            continue
        if not isinstance(option, Container):
            return False
        if option.rest is not None and number(option.rest) is None:
            return False
    return True


def _inside(at: Leaf, container: Container, key: Key | None, entry: Entry) -> Leaf:
    """Return the path to ``entry`` of a container at ``at``. The place of a constant's parts is where it is used."""
    if entry.constant:
        lists = at.within(container)
        name = as_text(key)
        keys = at.keys if key is None else (*at.keys, key)
        if name is None:
            is_named = at.is_named and isinstance(container, ListOf)
            return at._replace(value=None, lists=lists, keys=keys, what=_what(container), is_named=is_named)
        return at._replace(value=None, lists=lists, keys=keys, key=name, what="number", is_named=True)
    if isinstance(container, ListOf) and container.kind == "pair":
        return at._replace(value=None, lists=at.within(container), what="element")  # next to its key
    value = entry.value if entry.site not in (container.site, entry.key) else None
    if isinstance(container, ListOf):
        return at._replace(site=entry.site, value=value, lists=at.within(container), what="element")
    keys = (*at.keys, key) if key is not None else at.keys
    name = as_text(key)
    return at._replace(
        site=entry.site,
        value=value,
        holder=container if isinstance(container, Record) else None,
        keys=keys,
        key=at.key if name is None else name,
        is_named=name is not None,
        what="element" if name is None else "number",
    )


def _what(container: Container) -> str:
    if isinstance(container, ListOf):
        return f"{container.kind if container.kind in ('tuple', 'set') else 'list'} of numbers"
    return "dict of numbers"


def as_text(key: Key | None) -> str | None:
    """Return a key that is text; ``None`` for any other."""
    return key if isinstance(key, str) else None


class QuantityLeaf(Struct, frozen=True, eq=False):
    """A Quantity in a result: where it is put in, under which key, and the place of the list around it, if any."""

    record: Record
    site: Site
    key: str | None
    entry: Entry | None
    list_site: Site | None

    @property
    def has_more(self) -> bool:
        """Return whether it is a dict with other keys next to ``value`` and ``unit``."""
        is_call = isinstance(self.record, QuantityInstance)
        return not is_call and not self.record.entries.keys() <= QUANTITY_KEYS

    @property
    def key_site(self) -> Site:
        """The place of its key, else the place where the value is put in."""
        return self.entry.key if self.entry is not None and self.entry.key is not None else self.site


def quantities(
    value: Value,
    site: Site,
    key: str | None = None,
    entry: Entry | None = None,
    list_site: Site | None = None,
    policy: Policy | None = None,
) -> Iterator[QuantityLeaf]:
    """Yield the Quantities in a result, well-formed or not, with a ``policy`` also those in its `quantity-shapes`."""
    for option in options(value):
        if isinstance(option, Record) and (
            is_quantity(option) or (policy is not None and shaped_key(option, policy) is not None)
        ):
            yield QuantityLeaf(option, site, key, entry, list_site)
        elif isinstance(option, Container):
            is_list = isinstance(option, ListOf)
            inner = (option.site or site) if isinstance(option, ListOf) else list_site
            for name, item in option.contents():
                under = key if is_list else as_text(name)
                yield from quantities(item.value, item.site, under, item, inner, policy)
            if option.rest is not None:
                yield from quantities(option.rest, site, key, entry, inner, policy)
