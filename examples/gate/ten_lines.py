"""The gate in an agent of your own: record what a tool returned, check what the model wants to say."""

from gllint_runtime import GLError, Session

session = Session()
call_id = session.record("meter", {"site": "north"}, {"heat": {"value": 12.5, "unit": "kWh"}})

try:
    session.check("The house uses about 13 kWh.")  # what a model makes up
except GLError as error:
    told = session.repair_hint(error)  # give this to the model, and let it try again

claim = {"source_call_id": call_id, "path": "$.heat", "quantity": {"value": 12.5, "unit": "kWh"}}
verified = session.check("The house uses {{claim:0}}.", [claim])

assert told.startswith("[NO_NAKED_NUMBERS]")
assert verified.message == "The house uses 12.50 kWh."
print(verified.message)
