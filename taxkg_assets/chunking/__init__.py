"""Sections to retrieval units."""
