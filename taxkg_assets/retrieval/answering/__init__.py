"""Answers in the documents' own words: split passages into statements, select some, and add the context they need."""
