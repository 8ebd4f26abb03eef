"""Dagster only: one file per stage with its assets and its gates. Nothing is computed here."""
