"""The page itself: one file with everything in it, or the frame that the app fills."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from contextlib import suppress
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ibidem.errors import ResourceError
from ibidem.execution.durable_files import replace_file
from ibidem.viewer.charts import chart_specs, vega_script
from ibidem.viewer.side_by_side import harmless

_ASSETS = files("ibidem.viewer") / "assets"
_MOST_PLAIN_BYTES = 2_000_000
_HEAD = """<!DOCTYPE html>
<html lang="en" data-mode="{mode}">
<head>
<meta charset="utf-8">
{policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
"""


def report_page(data: dict[str, Any]) -> str:
    """Return a report as one self-contained page: no network, no other files, no scripts but its own."""
    scripts = [content for name, (_, content) in assets().items() if name.endswith(".js")]
    return _whole_page("report", data["summary"]["title"], _embedded(data) + _charts(), scripts)


def reading_page(title: str, data: dict[str, Any]) -> str:
    """Return two texts to read as one self-contained page."""
    scripts = [asset(name) for name in asset("two_texts.txt").split()]
    text = f'<script type="application/json" id="ibidem-data">{_json(data)}</script>\n'
    return _whole_page("two-texts", title, text, scripts)


def _whole_page(mode: str, title: str, embedded: str, scripts: list[str]) -> str:
    style = styles()
    script_hashes = " ".join(f"'{_digest(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {script_hashes}; style-src '{_digest(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    pieces = [
        _head(mode, title, f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'),
        f"<style>{style}</style>\n</head>\n<body>\n",
        _NO_SCRIPT,
        embedded,
        *(f"<script>{script}</script>\n" for script in scripts),
        "</body>\n</html>\n",
    ]
    return "".join(pieces)


def app_page(title: str) -> str:
    """Return the page of the app; styles and scripts are under `assets/`."""
    links = "".join(f'<script src="assets/{name}" defer></script>\n' for name in assets() if name.endswith(".js"))
    return "".join(
        [
            _head("app", title, ""),
            '<link rel="icon" href="data:,">\n<link rel="stylesheet" href="assets/page.css">\n',
            links,
            "</head>\n<body>\n",
            _NO_SCRIPT,
            _charts(),
            "</body>\n</html>\n",
        ]
    )


def write_page(path: Path, page: str) -> None:
    """Write a page under a temporary name and rename it, so that a partial page is never visible."""
    aside = path.with_name(f"{path.name}.part")
    try:
        aside.write_text(page, "utf-8")
        replace_file(aside, path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        message = f"cannot write {path}: {error.strerror or error}"
        raise ResourceError(message, "Check disk space and permissions.") from error


def assets() -> dict[str, tuple[str, str]]:
    """Return the files of the page by name, each with its media type; scripts are in the order they must run."""
    scripts = {name: ("text/javascript", asset(name)) for name in asset("order.txt").split()}
    return {"page.css": ("text/css", styles()), "vega.js": ("text/javascript", vega_script()), **scripts}


def styles() -> str:
    """Return the look of every page."""
    return "".join(map(asset, ("page.css", "reading.css", "front.css", "check.css")))


def asset(name: str) -> str:
    """Return one of the files beside this module."""
    return (_ASSETS / name).read_text("utf-8")


def _head(mode: str, title: str, policy: str) -> str:
    return _HEAD.format(mode=mode, title=escape(harmless(title)), policy=policy)


def _embedded(data: dict[str, Any]) -> str:
    """Return the data as a script element of JSON; large data is compressed, and browsers can unpack it."""
    text = _json(data)
    encoding = "plain"
    if len(text) > _MOST_PLAIN_BYTES:
        # No timestamp: the same results give the same page.
        text = base64.b64encode(gzip.compress(text.encode("utf-8"), 6, mtime=0)).decode()
        encoding = "gzip+base64"
    return f'<script type="application/json" id="ibidem-data" data-encoding="{encoding}">{text}</script>\n'


def _charts() -> str:
    return f'<script type="application/json" id="ibidem-charts">{_json(chart_specs())}</script>\n'


def _json(value: Any) -> str:
    """Return JSON that cannot end its script element: `<` is escaped, and everything is ASCII."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


_NO_SCRIPT = "<noscript><p>This page needs JavaScript; its scripts are part of the file.</p></noscript>\n"
