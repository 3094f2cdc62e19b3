"""The ready tool ``calculate``: numbers that follow from others, computed over claims.

registry.register(calculate)             # of ToolRuntime
Agent(model, tools=[heat, calculate])    # of a framework, behind its gate

A model cites the numbers, the tool takes them from the session of the moment, checks their units and computes with
exact decimals. What it returns is a Quantity like any other; its provenance has the claims that it was made of.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any, Literal

from gllint_runtime.execution.approval import ToolCategory
from gllint_runtime.execution.claimed import current_session
from gllint_runtime.execution.session import Session
from gllint_runtime.execution.steps import read_claims
from gllint_runtime.policy.errors import GLDataError, GLError, GLRuntimeError, GLValidationError
from gllint_runtime.policy.schemas import CLAIM_SCHEMA, QUANTITY_REF, Claim, Quantity
from gllint_runtime.policy.unit_sizes import is_logarithm, quotient
from gllint_runtime.policy.units import Conversion, conversion, exact_value

Operation = Literal["sum", "difference", "ratio", "share", "percentage_change"]

_MOST_CLAIMS = 1000
_BARE = "1"  # gllint: ignore[GL501] the unit of a plain ratio is asked for at execution
_PLACES = 28  # significant digits of a decimal that does not end


def calculated(session: Session, operation: str, claims: Sequence[Any]) -> Quantity:
    """Return the result of ``operation`` on the numbers that ``claims`` cite: ``"share"`` of 5 kWh and 20 kWh → 25 %.

    * ``sum`` adds them, ``difference`` subtracts the second from the first.
    * ``ratio`` and ``share`` divide the first by the second; a share is a percentage.
    * ``percentage_change`` is from the first to the second.

    The unit is that of the first number, or the one that the operation gives (``1``, ``%``). Raises GLError for a wrong
    claim, a wrong number of claims, and units that do not fit together.
    """
    name = operation.strip().lower().replace(" ", "_").replace("-", "_")
    if name not in _OPERATIONS:
        raise _refusal(
            f"'{operation[:80]}' must be one of the operations {', '.join(_OPERATIONS)}", "operation"
        )
    count, compute = _OPERATIONS[name]
    read = read_claims(claims)
    if not 0 < len(read) <= _MOST_CLAIMS or (count and len(read) != count):
        many = f"{count} claims" if count else f"from one to {_MOST_CLAIMS} claims"
        raise _refusal(f"{name} takes {many}, not {len(read)}", "claims")
    terms = [_Term(quantity, basis, session) for quantity, basis in session.cited(read)]
    _require_one_basis(terms)
    exact, unit = compute(terms)
    quantity = Quantity(_like(exact, [term.quantity.value for term in terms]), unit)
    session.units.require(unit)
    return quantity


def calculate(operation: Operation, claims: list[Claim]) -> dict[str, Any]:
    """Calculate with numbers that tools have returned, each cited by a claim.

    Returns the result as a Quantity under ``$.result``, or an ``error`` that says what to mend.

    Args:
        operation: sum; difference (first less second); ratio (first by second); share (first of second, in percent);
            percentage_change (from first to second)
        claims: the numbers in order, each as a claim of the tool call that returned it
    """
    try:
        session = current_session()
        if session is None:
            text = "There is no current session: run the agent through its gate, or call this inside using(session)"
            raise GLRuntimeError("TOOL_FAILED", text)
        return {"result": calculated(session, operation, claims).to_dict()}
    except GLError as error:
        return {"error": Session.repair_hint(error)}


# A function is its own Tool where it has what a Tool has: frameworks take the function, a registry its schemas.
vars(calculate).update(
    name="calculate",
    description=(
        "Calculate with numbers that tools have returned: sum, difference (first less second), ratio (first by "
        "second), share (first of second, in percent), percentage_change (from first to second). Cite each number by "
        "a claim."
    ),
    args_schema={
        "type": "object",
        "properties": {
            "operation": {"enum": ["sum", "difference", "ratio", "share", "percentage_change"]},
            "claims": {"type": "array", "items": CLAIM_SCHEMA, "minItems": 1},
        },
        "required": ["operation", "claims"],
        "additionalProperties": False,
    },
    result_schema={
        "type": "object",
        "properties": {"result": {"$ref": QUANTITY_REF}, "error": {"type": "string"}},
        "additionalProperties": False,
    },
    fn=calculate,
    live_required=False,
    category=ToolCategory.READ_ONLY,
    timeout=None,
    preview=None,
)


# ----------------------------------------------------------------------------------------------- the operations


@dataclass(frozen=True)
class _Term:
    """A number to calculate with; its decimals are those that are shown, not those of the binary float."""

    quantity: Quantity
    basis: str | None
    session: Session

    @property
    def unit(self) -> str:
        return self.session.units.symbol(self.quantity.unit)

    @property
    def exact(self) -> Fraction:
        return exact_value(self.quantity.value)

    def within(self, unit: str) -> Fraction:
        """Return the number in another unit. Raises GLValidationError for another dimension, and for °C and °F."""
        converter = conversion(self.unit, unit)
        if converter is None:
            raise _refusal(
                f"{self.unit} and {unit} are units of different kinds and cannot be converted", "claims"
            )
        if converter.offset:
            raise _refusal(
                f"{self.unit} and {unit} start from different zeros: cite both numbers in the same unit",
                "claims",
            )
        return self.exact * converter.factor

    @property
    def kelvin(self) -> Conversion | None:
        """How it becomes a temperature in K where its zero is set by its scale, as that of degrees is."""
        way = conversion(self.unit, "K")
        return way if way is not None and way.offset else None


def _sum(terms: Sequence[_Term]) -> tuple[Fraction, str]:
    _refuse_levels(terms, "A sum")
    unit = terms[0].unit
    return sum((term.within(unit) for term in terms), Fraction(0)), unit


def _difference(terms: Sequence[_Term]) -> tuple[Fraction, str]:
    first, second = terms
    difference = first.exact - second.within(first.unit)
    if first.kelvin is None:
        return difference, first.unit
    return difference * first.kelvin.factor, "K"  # degrees between two temperatures are no temperature


def _ratio(terms: Sequence[_Term]) -> tuple[Fraction, str]:
    """Return the first number divided by the second and its unit: 10 kWh, 5 kWh → 2, ``1``; 10 EUR, 5 kWh → 2,
    ``EUR/kWh``.

    If the unit ``1`` is not allowed, a ratio is a percentage.
    """
    _refuse_levels(terms, "A ratio")
    first, second = terms
    if second.unit == _BARE:
        return _quotient(first.exact, second.exact), first.unit
    if conversion(second.unit, first.unit) is None:
        return _quotient(first.exact, second.exact), _quotient_unit(first.unit, second.unit)
    ratio = _quotient(first.exact, second.within(first.unit))
    if first.session.units.is_allowed(_BARE):
        return ratio, _BARE
    return ratio * 100, "%"


def _share(terms: Sequence[_Term]) -> tuple[Fraction, str]:
    _refuse_levels(terms, "A share")
    part, whole = terms
    return _quotient(part.within(whole.unit), whole.exact) * 100, "%"


def _percentage_change(terms: Sequence[_Term]) -> tuple[Fraction, str]:
    _refuse_levels(terms, "A percentage change")
    before, after = terms
    change = after.within(before.unit) - before.exact
    return _quotient(change, abs(before.exact)) * 100, "%"


_OPERATIONS: Mapping[str, tuple[int, Callable[[Sequence[_Term]], tuple[Fraction, str]]]] = {
    "sum": (0, _sum),
    "difference": (2, _difference),
    "ratio": (2, _ratio),
    "share": (2, _share),
    "percentage_change": (2, _percentage_change),
}


def _require_one_basis(terms: Sequence[_Term]) -> None:
    """Raise GLDataError BASIS for numbers of one dimension with different conventions: GWP100 of AR5 and of AR6."""
    first = terms[0]
    alike = [term for term in terms if conversion(term.unit, first.unit) is not None]
    bases = dict.fromkeys(term.basis[:100] for term in alike if term.basis is not None)
    if len(bases) > 1:
        listed = " and ".join(f"'{basis}'" for basis in [*bases][:2])
        raise GLDataError("BASIS", f"The numbers are of different bases: {listed}", path="$.claims")


def _refuse_levels(terms: Sequence[_Term], what: str) -> None:
    """Raise GLValidationError for numbers that cannot be added: temperatures in °C or °F, and logarithms (dB)."""
    for term in terms:
        if term.kelvin is not None:
            raise _refusal(
                f"{what} of temperatures in {term.unit} has no meaning: the zero of this unit is arbitrary",
                "claims",
            )
        if is_logarithm(term.unit):
            raise _refusal(f"{what} of numbers in {term.unit} has no meaning: they are logarithms", "claims")


def _quotient_unit(above: str, below: str) -> str:
    try:
        return quotient(above, below)
    except ValueError:
        raise _refusal(f"{above} and {below} cannot be divided into a unit", "claims") from None


def _quotient(above: Fraction, below: Fraction) -> Fraction:
    if not below:
        raise _refusal("The number to divide by is zero", "claims")
    return above / below


def _like(exact: Fraction, values: Sequence[Any]) -> Any:
    """Return a result in the type of its terms: a Fraction or Decimal if one is, an integer if all are and it can,
    else a float.
    """
    if any(isinstance(value, Fraction) for value in values):
        return exact
    if any(isinstance(value, Decimal) for value in values):
        return _decimal(exact)
    if exact.denominator == 1 and all(isinstance(value, int) for value in values):
        return exact.numerator
    try:
        number = float(exact)
    except OverflowError:
        raise _refusal("The result is too large", "claims") from None
    if exact and not number:
        raise _refusal("The result is too small", "claims")
    return number


def _decimal(exact: Fraction) -> Decimal:
    """Return a fraction as a Decimal: in full if its digits end, else to ``_PLACES`` digits."""
    numerator, denominator = map(Decimal, exact.as_integer_ratio())
    # A decimal that ends has no more digits than numerator and denominator have bits: try that many first.
    for digits in (exact.numerator.bit_length() + exact.denominator.bit_length(), _PLACES):
        context = Context(prec=digits, traps=[])
        result = context.divide(numerator, denominator)
        if not context.flags[Inexact]:
            break
    return result


def _refusal(message: str, path: str) -> GLValidationError:
    hint = "Cite other numbers, or answer without this one."
    return GLValidationError("ARGS_SCHEMA", message, hint, path=f"$.{path}")
