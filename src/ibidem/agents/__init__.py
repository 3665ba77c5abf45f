"""An index as tools for agents: check a text, find passages, verify a quotation, compare, add."""
