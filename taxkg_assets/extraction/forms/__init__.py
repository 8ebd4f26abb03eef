"""Faces of forms: boxes, numbered lines, labels in the margin."""
