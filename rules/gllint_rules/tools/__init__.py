"""Which functions a framework hands to the model, and what is known of a value because it is a tool."""
