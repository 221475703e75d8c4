"""Lockstep for Python: its files are in a package, so that none can hide a module that others import."""
