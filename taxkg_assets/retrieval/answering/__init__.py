"""Answers in the documents' own words: what a passage states, what each statement needs, which of them answer."""
