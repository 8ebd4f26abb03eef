"""Typesets the bundled sample corpus: manuscripts to pages, and the truth about those pages to labels."""
