"""Table lookup: from a question to the cell whose row and column headers match it."""
