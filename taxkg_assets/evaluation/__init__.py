"""Runs to numbers: metrics, significance, ablation, scores on labeled data. No model, no index."""
