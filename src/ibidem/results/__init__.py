"""What the verbs give back: results, their tables, files and summaries."""
