"""PDF bytes to text with a place on the page."""
