"""Writes docs/settings.md from the settings themselves, so that the page cannot say anything else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from ibidem.cli.options import flag
from ibidem.config import setting_fields

PAGE = Path(__file__).parent / "settings.md"
HEAD = """# Settings

Every setting has one name: `--min-sentences` on the command line is `min_sentences=` in Python and `min_sentences` in the
section of its stage in a TOML file (`--config`). Flags win over the file, the file over the defaults. Limits are inclusive.
This page is made by `python docs/make_settings.py`.
"""


def settings_page() -> str:
    """Return the page as Markdown."""
    lines, last_stage = [HEAD], ""
    for stage, setting in setting_fields():
        if stage != last_stage:
            lines.append(f"\n## [{stage}]\n\n| setting | default | meaning |\n|---|---|---|")
            last_stage = stage
        default = setting.default
        shown = {True: "on", False: "off"}[default] if isinstance(default, bool) else default
        shown = float(shown) if isinstance(shown, Fraction) else shown
        choices = f" One of {', '.join(setting.metadata['choices'])}." if setting.metadata["choices"] else ""
        lines.append(f"| `{flag(setting.name)}` | {shown} | {setting.metadata['help']}{choices} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")
