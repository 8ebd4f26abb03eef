"""Where documents come from and what they are."""
