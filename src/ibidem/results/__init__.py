"""What the verbs return: results, their tables, files and summaries."""
