"""What is known by name, as data."""
