"""The growing index: documents on disk, and what new ones share with them."""
