"""The gate in ten lines: record what a tool returns, then check what the model writes."""

from gllint_runtime import GLError, Session

session = Session(mode="sourced")
session.user("How much heat did the north site use?")
session.record("meter", {"site": "north"}, {"heat_kwh": 12.5})

try:
    session.check("The north site used 14 kWh.")  # the model made this up
except GLError as error:
    hint = session.repair_hint(error)  # give this to the model and ask again

verified = session.check("The north site used 12.5 kWh.")

assert hint.startswith("[NO_SOURCE]")
assert verified.message == "The north site used 12.5 kWh."
print(verified.message)
