"""Behind the contract of `prompts`: rules that stand in for models, the cache, the providers, the evidence check."""
