"""The index: passages with their columns, levels and scores, in memory or over LanceDB; its releases."""
