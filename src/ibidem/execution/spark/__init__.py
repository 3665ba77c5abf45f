"""The Spark engine: the same stages on many machines."""

from __future__ import annotations
