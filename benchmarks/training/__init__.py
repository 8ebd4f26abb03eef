"""Does a graph teach an encoder its domain? Folds over form families, near misses, labeled negatives, speed."""
