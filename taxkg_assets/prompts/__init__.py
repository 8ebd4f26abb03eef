"""What is asked of language models: the contract, the typed tasks, and one Markdown file a task; never how or whom."""
