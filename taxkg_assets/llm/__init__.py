"""Language models behind the contract of `prompts`: rules as the default, call cache, providers, evidence check."""
