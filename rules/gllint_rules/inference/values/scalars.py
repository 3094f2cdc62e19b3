"""Values without keys: truth values, numbers, and texts with what is formatted into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from gllint_rules.inference.values.base import (
    NEVER,
    NONE,
    Because,
    Holder,
    Site,
    UnionOf,
    Value,
    join,
    measure,
    options,
    over,
)


class Boolean(Value, frozen=True):
    """A truth value, which is no number; ``literal`` if it is ``True`` or ``False`` in the source."""

    literal: bool | None = None

    @property
    def identity(self) -> object:
        return Boolean


BOOL = Boolean()


class Number(Value, frozen=True):
    """Definitely a number; ``real`` if it is no integer, so that no list or text can be multiplied by it."""

    because: Because
    real: bool = False
    literal: object = None

    @property
    def identity(self) -> object:
        return Number

    def merged(self, others: Sequence[Number]) -> Number:
        # If one may be an integer, so may the result. Of several such numbers, the last has the best reason.
        result = self
        for other in others:
            if result.real or not other.real:
                result = other
        return result


class Literal(Struct, frozen=True, eq=False):
    """A literal part of a text. ``offsets`` maps its characters to those of the string at ``site``."""

    text: str
    site: Site
    offsets: tuple[int, ...] | None = None


class Interpolation(Struct, frozen=True, eq=False):
    """A value that is formatted into a text, with its format ``spec``: ``.2f``.

    ``path`` is the code that leads from the expression at ``site`` to the value, if a field of the text names a part
    of it: ``["load"]`` for ``"{load}".format(**row)``.
    """

    value: Value
    site: Site
    spec: str = ""
    path: tuple[str, ...] = ()

    @property
    def field(self) -> str | None:
        """The name of the part that a field of the text names: ``load``."""
        return self.path[-1].strip('."[]') if self.path else None


class Text(Holder, frozen=True):
    """A string of literals and interpolations: ``f"{x} kWh"``; without ``parts`` its content is unknown.

    Bytes count as text of unknown content.
    """

    parts: tuple[Literal | Interpolation, ...] | None = None
    is_bytes: bool = False

    def __post_init__(self) -> None:
        measure(self, (part.value for part in self.parts or () if isinstance(part, Interpolation)))
        # Only of a text that is one value (`f"{x}"`) an argument of the call may show more. A value within prose is
        # resolved where it is reported.
        force_setattr(self, "gap", self.gap and self.parts is not None and len(self.parts) == 1)

    @property
    def is_put_together(self) -> bool:
        """Return whether values are formatted into the text."""
        return any(isinstance(part, Interpolation) for part in self.parts or ())

    @property
    def is_partly_unknown(self) -> bool:
        """Return whether the text, or a value that is formatted into it, is unknown."""
        if self.parts is None:
            return True
        return any(
            isinstance(part, Interpolation)
            and (
                part.value.gap
                or any(isinstance(o, Text) and o.is_partly_unknown for o in options(part.value))
            )
            for part in self.parts
        )

    @property
    def identity(self) -> object:
        if self.parts is None:
            return Text, self.is_bytes
        # In a later round of a loop, the same expression is the same text, with values that are known better.
        return tuple(part.site for part in self.parts) or self

    @property
    def family(self) -> object:
        return (Text, *_part_key(self.parts[0])) if self.parts else None

    def merged(self, others: Sequence[Text]) -> Text:
        if self.parts is None or not others:
            return self
        if all(other.identity == self.identity for other in others):
            return others[-1]
        return _with_alternatives([self, *others])

    @property
    def literal(self) -> str | None:
        """The text, if all its parts are literal: ``"a" "b"`` → ``ab``; else ``None``."""
        if self.parts is None:
            return None
        texts = []
        for part in self.parts:
            if not isinstance(part, Literal):
                return None
            texts.append(part.text)
        return "".join(texts)


class SerialisedText(Text, frozen=True):
    """The text that a serialiser makes of a value, ``json.dumps(value)``; the value is its only part."""

    @property
    def content(self) -> Interpolation:
        assert self.parts is not None
        [part] = self.parts
        assert isinstance(part, Interpolation)
        return part

    @property
    def value(self) -> Value:
        """The value that was serialised."""
        return self.content.value

    @property
    def identity(self) -> object:
        return SerialisedText, self.content.site

    @property
    def family(self) -> object:
        return None

    def merged(self, others: Sequence[Text]) -> SerialisedText:
        values = (other.value for other in others if isinstance(other, SerialisedText))
        return self.holding(join(self.value, *values))

    def holding(self, value: Value) -> SerialisedText:
        """Return the serialised text of another ``value`` at the same site."""
        return self if value is self.value else serialised(value, self.content.site)


def _with_alternatives(texts: Sequence[Text]) -> Text:
    """Return one text for several with a common beginning: ``"a: 1"``, ``"a: x"`` → ``"a: "`` and then ``1`` or ``x``.

    A text that ends where the others go on adds no alternative.
    """
    rows = [text.parts or () for text in texts]
    count = 0  # of the parts that all texts begin with
    for column in zip(*rows, strict=False):
        if len({_part_key(part) for part in column}) > 1:
            break
        count += 1
    # `join` would merge the endings that begin alike, and nest them as deep as the texts are long.
    endings: dict[object, Text] = {}
    for row in rows:
        if len(row) > count:
            ending = Text(row[count:])
            endings[ending.identity] = ending
    parts = rows[-1][:count]
    if not endings:
        return Text(parts)
    union = UnionOf(tuple(endings.values())) if len(endings) > 1 else next(iter(endings.values()))
    return Text((*parts, Interpolation(union, parts[-1].site)))


def _part_key(part: Literal | Interpolation) -> tuple[object, ...]:
    """Return a key that is equal for two parts of the same source: its site, and the text of a literal."""
    return part.site, part.text if isinstance(part, Literal) else None


def serialised(value: Value, site: Site) -> SerialisedText:
    """Return the text that a serialiser makes of ``value``, which is at ``site``."""
    return SerialisedText((Interpolation(value, site),))


TEXT = Text()
BYTES = Text(is_bytes=True)


def literal_of(value: Value | None) -> str | None:
    """Return the text of a value, if all of it is literal: ``"kWh"``; else ``None``."""
    return value.literal if isinstance(value, Text) else None


def pieces(
    value: Value, site: Site, spec: str | None = None, path: tuple[str, ...] = ()
) -> tuple[Literal | Interpolation, ...]:
    """Return the parts that a value adds to a text at ``site``: ``f"{x}"`` → an interpolation of ``x``.

    A text adds its own parts, unless it is formatted by a ``spec``: ``f"{name:>10}"``.
    """
    if spec is None and isinstance(value, Text) and value.parts is not None:
        return value.parts
    return (Interpolation(value, site, spec or "", path),)


def number(value: Value) -> Number | None:
    """Return ``value`` as a number, if it is a number or ``None`` on every path; else ``None``."""
    if isinstance(value, Number):
        return value
    if isinstance(value, UnionOf):
        result = None
        for option in value.options:
            if isinstance(option, Number):
                result = option
            elif option is not NONE and option is not NEVER:
                return None
        return result
    return None


def is_text(value: Value) -> bool:
    """Return whether all options of a value are texts."""
    return all(isinstance(option, Text) for option in options(value))


def is_scalar(value: Value) -> bool:
    return all(isinstance(o, (Number, Text, Boolean)) or o is NONE for o in options(value))


def explained(value: Value, message: str) -> Value:
    """Return ``value`` with ``message`` as the reason why it is a number."""
    return _with_reason(value, lambda because: Because(message, because.site))


def passed_on(value: Value, message: str, site: Site) -> Value:
    """Return ``value`` with a further step in the evidence of a number: ``site`` passes it on to another file."""

    def extend(because: Because) -> Because:
        # Within one file the reader sees the steps; a line for each call would hide where the number comes from.
        is_here = because.site is None or because.site.module is site.module
        return because if is_here else Because(message, site, (because,))

    return _with_reason(value, extend)


def _with_reason(value: Value, reason: Callable[[Because], Because]) -> Value:
    """Return ``value`` with another reason if it is a number: ``reason`` maps the old one to the new one."""
    if number(value) is None:
        return value

    def reasoned(option: Value) -> Value:
        if not isinstance(option, Number):
            return option
        because = reason(option.because)
        return option if because is option.because else replace(option, because=because)

    return over(value, reasoned)
