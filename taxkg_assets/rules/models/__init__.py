"""Typed rule families: one module per family, whose model states the keys of its file and their types.

Comments in the YAML file explain values that the model does not explain. A module loads its own family only: a table is
outdated when a family that its code loads changes.
"""
