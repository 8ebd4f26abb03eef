"""Arithmetic that labels of form lines state: text to data, and ranges to keys. No table is known here."""
