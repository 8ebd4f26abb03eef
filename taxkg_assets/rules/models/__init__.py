"""Typed rule families: one module per family, whose model says which keys its file has and of what type.

A module loads its own family only, because a table is stale when a family changes that its code reads.
"""
