"""Spans to printed lines, columns and paragraphs: geometry and type, no document structure."""
