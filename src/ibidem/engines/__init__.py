"""Engines: how stages run, never what they compute."""

from __future__ import annotations

from ibidem.engines.local import LocalEngine
from ibidem.engines.memory import machine_memory

__all__ = ["LocalEngine", "machine_memory"]
