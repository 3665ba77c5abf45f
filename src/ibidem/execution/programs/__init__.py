"""The verbs in parts, on disk and on Spark: which stages follow one another, and what is sent between them."""
