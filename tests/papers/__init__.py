"""The papers as they are printed: their presets and their own examples."""
