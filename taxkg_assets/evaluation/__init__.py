"""Runs to numbers: metrics, significance, ablation, labelled scores. No model, no index."""
