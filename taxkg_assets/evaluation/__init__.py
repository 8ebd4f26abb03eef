"""Evaluation: metrics of runs, significance, ablation, and scores on labeled data. Uses no model and no index."""
