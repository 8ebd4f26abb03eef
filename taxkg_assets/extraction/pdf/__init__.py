"""PDF bytes to pages as data: visible spans, drawings, form fields; nothing here knows what a form or a heading is."""
