"""Values without keys: truth values, numbers, and texts with what is formatted into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    pass


class Boolean(Value, frozen=True):
    """A truth value, no number; ``literal`` where it is written out."""

    literal: bool | None = None

    @property
    def identity(self) -> object:
        return Boolean


BOOL = Boolean()


class Number(Value, frozen=True):
    """Definitely a number; ``real`` where it is known to be a float, which no sequence can be multiplied by."""

    because: Because
    real: bool = False
    literal: object = None

    @property
    def identity(self) -> object:
        return Number

    def merged(self, others: Sequence[Number]) -> Number:
        # Where one may be an integer, so may the whole: a float alone would make a number of its product with a list.
        speaker = self
        for other in others:
            if speaker.real or not other.real:
                speaker = other
        return speaker


class Literal(Struct, frozen=True, eq=False):
    """A stretch of literal text. ``offsets`` maps its characters to those of the string at ``site``."""

    text: str
    site: Site
    offsets: tuple[int, ...] | None = None


class Interpolation(Struct, frozen=True, eq=False):
    """A value formatted into a text, as ``spec`` says: ``.2f``.

    ``path`` is the code that leads from the expression at ``site`` to the value, step by step, where a field of the
    text names a part of it: ``["load"]`` of ``"{load}".format(**row)``.
    """

    value: Value
    site: Site
    spec: str = ""
    path: tuple[str, ...] = ()

    @property
    def field(self) -> str | None:
        """The name of the part which a field of the text names."""
        return self.path[-1].strip('."[]') if self.path else None


class Text(Holder, frozen=True):
    """A string; ``parts`` is ``None`` where its text is unknown. Bytes count as text of unknown content."""

    parts: tuple[Literal | Interpolation, ...] | None = None
    is_bytes: bool = False

    def __post_init__(self) -> None:
        measure(self, (part.value for part in self.parts or () if isinstance(part, Interpolation)))
        # For a text that is only one value the argument says more; a value within prose is asked for by name.
        force_setattr(self, "gap", self.gap and self.parts is not None and len(self.parts) == 1)

    @property
    def is_put_together(self) -> bool:
        """Return whether something is filled into it, or may be."""
        return any(isinstance(part, Interpolation) for part in self.parts or ())

    @property
    def is_unfilled(self) -> bool:
        """Return whether it, or something that is filled in, is unknown."""
        if self.parts is None:
            return True
        return any(
            isinstance(part, Interpolation)
            and (part.value.gap or any(isinstance(o, Text) and o.is_unfilled for o in options(part.value)))
            for part in self.parts
        )

    @property
    def identity(self) -> object:
        if self.parts is None:
            return Text, self.is_bytes
        # The same expression in a later round of a loop is the same text with better known parts.
        return tuple(part.site for part in self.parts) or self

    @property
    def family(self) -> object:
        return (Text, *_beginning(self.parts[0])) if self.parts else None

    def merged(self, others: Sequence[Text]) -> Text:
        if self.parts is None or not others:
            return self
        if all(other.identity == self.identity for other in others):
            return others[-1]
        return _with_alternatives([self, *others])

    @property
    def literal(self) -> str | None:
        """The whole text where all of it is literal."""
        if self.parts is None:
            return None
        texts = []
        for part in self.parts:
            if not isinstance(part, Literal):
                return None
            texts.append(part.text)
        return "".join(texts)


class SerialisedText(Text, frozen=True):
    """The text that a serialiser makes of a value, which is its one part."""

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
        """Return the text of ``value``, given to the serialiser at the same place."""
        return self if value is self.value else serialised(value, self.content.site)


def _with_alternatives(texts: Sequence[Text]) -> Text:
    """Merge texts with a common beginning: the shared parts, then one interpolation that is the union of the rests.

    A text that ends where the others go on adds no rest: its parts are the shared ones.
    """
    rows = [text.parts or () for text in texts]
    count = 0
    for column in zip(*rows, strict=False):
        if len({_beginning(part) for part in column}) > 1:
            break
        count += 1
    # Not joined: what goes on alike once more would be made one within the other, as deep as texts are long.
    rests: dict[object, Text] = {}
    for row in rows:
        if len(row) > count:
            rest = Text(row[count:])
            rests[rest.identity] = rest
    parts = rows[-1][:count]
    if not rests:
        return Text(parts)
    union = UnionOf(tuple(rests.values())) if len(rests) > 1 else next(iter(rests.values()))
    return Text((*parts, Interpolation(union, parts[-1].site)))


def _beginning(part: Literal | Interpolation) -> tuple[object, ...]:
    """Return what two parts at the same place have in common."""
    return part.site, part.text if isinstance(part, Literal) else None


def serialised(value: Value, site: Site) -> SerialisedText:
    """Return the text that a serialiser makes of ``value``, which is at ``site``."""
    return SerialisedText((Interpolation(value, site),))


TEXT = Text()
BYTES = Text(is_bytes=True)


def literal_of(value: Value | None) -> str | None:
    """Return the text that a value is known to be."""
    return value.literal if isinstance(value, Text) else None


def pieces(
    value: Value, site: Site, spec: str | None = None, path: tuple[str, ...] = ()
) -> tuple[Literal | Interpolation, ...]:
    """Return the parts that a value adds to a text at ``site``.

    A text adds its own parts, unless a ``spec`` changes it.
    """
    if spec is None and isinstance(value, Text) and value.parts is not None:
        return value.parts
    return (Interpolation(value, site, spec or "", path),)


def number(value: Value) -> Number | None:
    """Return the number that ``value`` surely is, ``None`` aside."""
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
    """Return whether it is a text, whichever of several it is."""
    return all(isinstance(option, Text) for option in options(value))


def is_scalar(value: Value) -> bool:
    return all(isinstance(o, (Number, Text, Boolean)) or o is NONE for o in options(value))


def explained(value: Value, message: str) -> Value:
    """``value`` with a better reason where it is a number because of an annotation."""
    return _with_reason(value, lambda because: Because(message, because.site))


def passed_on(value: Value, message: str, site: Site) -> Value:
    """Return ``value`` with a file in its evidence that passes it on."""

    def extend(because: Because) -> Because:
        # Within one file the reader sees the way; a line for each call on it would bury the two ends.
        is_here = because.site is None or because.site.module is site.module
        return because if is_here else Because(message, site, (because,))

    return _with_reason(value, extend)


def _with_reason(value: Value, reason: Callable[[Because], Because]) -> Value:
    """``value`` with another reason where it is a number."""
    if number(value) is None:
        return value

    def reasoned(option: Value) -> Value:
        if not isinstance(option, Number):
            return option
        because = reason(option.because)
        return option if because is option.because else replace(option, because=because)

    return over(value, reasoned)
