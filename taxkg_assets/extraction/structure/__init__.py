"""Blocks with roles, the outline of headings, and who owns each paragraph."""
