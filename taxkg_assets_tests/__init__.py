"""Tests, mirroring the tree of taxkg_assets."""
