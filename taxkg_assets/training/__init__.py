"""Structure to model: pairs from the graph, negatives that are truly wrong, a tuned encoder and reranker."""
