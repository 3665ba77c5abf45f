"""Views of results: pairs, passages, families, documents; as a single page to share, or served by the web app."""
