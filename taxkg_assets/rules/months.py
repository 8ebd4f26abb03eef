"""Months: the first three letters of their English names, with which abbreviations begin, too."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""Months in the order of the year, in lower case."""
