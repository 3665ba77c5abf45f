"""The version, in one place: the package, `run.json` and `--version` take it from here."""

__version__ = "0.1.0"
