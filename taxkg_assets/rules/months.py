"""Months in texts: the first three letters of their English names, which abbreviations have, too."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""In the order of the year, in lower case."""
