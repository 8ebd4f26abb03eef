"""Tables: where they lie, their grid, their header paths."""
