"""Places where text points at something, with relation and polarity."""
