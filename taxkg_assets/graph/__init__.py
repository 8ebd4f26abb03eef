"""Text to structure: registry, nodes, edges and their laws."""
