"""The stages cut so that they can run apart: mappers and reducers over blocks, for engines of many machines.

What they compute is what the local pipeline computes, by the same functions; here is only what goes where.
"""

from __future__ import annotations
