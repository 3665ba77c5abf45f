"""`python -m ibidem.web.openapi FILE` writes the description of the API, which the repository keeps as docs/openapi.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import cast

from ibidem.views.store import ViewStore
from ibidem.web.app import make_app
from ibidem.web.arrivals import ArrivalLog
from ibidem.web.security import Access
from ibidem.web.served import Served


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
