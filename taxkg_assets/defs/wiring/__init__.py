"""How builders become assets and laws become gates. Nothing here knows a stage."""
