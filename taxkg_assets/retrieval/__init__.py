"""Query to ranked, cited passages."""
