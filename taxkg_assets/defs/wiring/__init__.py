"""How builders become assets and conditions become gates. Nothing here knows a stage."""
