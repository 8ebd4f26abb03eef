"""What a question names: form, year, box, corrected words; and which parts of the search answer it."""
