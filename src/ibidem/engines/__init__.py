"""Engines: how stages run, never what they compute."""

from __future__ import annotations

from ibidem.engines.local import LocalEngine

__all__ = ["LocalEngine"]
