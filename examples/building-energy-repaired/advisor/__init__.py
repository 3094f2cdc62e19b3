"""A small agent that advises on the energy of buildings."""
