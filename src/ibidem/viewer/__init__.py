"""Views: what people look at. Pairs, passages, families, one document; as one page to send on, or page by page in the app."""
