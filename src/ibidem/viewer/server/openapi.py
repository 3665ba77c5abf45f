"""`python -m ibidem.viewer.server.openapi FILE` writes the description of the API, docs/openapi.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import cast

from ibidem.viewer.server.app import make_app
from ibidem.viewer.server.arrivals import ArrivalLog
from ibidem.viewer.server.security import Access
from ibidem.viewer.server.served import Served
from ibidem.viewer.store import ViewStore


def description() -> str:
    """Return the OpenAPI description as JSON."""
    log, nothing = ArrivalLog(None), cast(ViewStore, None)
    try:
        content = make_app(Served(nothing, log), Access()).openapi()
    finally:
        log.close()
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(description(), encoding="utf-8")
