"""Answers in the documents' own words: statements of passages, the context that each needs, and their selection."""
