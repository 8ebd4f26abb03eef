"""Checks a draft against the library: statements and quotations in, verdicts with evidence out. Pure functions."""
