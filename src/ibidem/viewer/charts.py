"""The charts of the report and of the web app, made by Altair, and the script that draws them.

The specifications contain no data: each names data sets that the scripts in `assets` fill and change. Colours come from the
style sheet, which handles light and dark pages; those given here only matter without it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

_ACCENT = "#0b57b0"
_FONT = "system-ui, sans-serif"


def chart_specs() -> dict[str, Any]:
    """Return the Vega-Lite specification of every chart by name.

    Data sets: `bars` (start, end, count, base, is_kept) and `cut` (value) of the distributions. What follows times, outlets and
    links is drawn by the scripts themselves.
    """
    return {
        "similarity": _distribution("decimal"),
        "coverage": _distribution("percent"),
        "longest": _distribution("characters"),
    }


@lru_cache(maxsize=1)
def vega_script() -> str:
    """Return a classic script that defines `window.vegaEmbed` and no other global name.

    It comes from vl-convert, whose wheel contains Vega, Vega-Lite and Vega-Embed, so no network is needed. The Vega-Lite
    version is the one that Altair's specifications are written for (vl-convert knows only major and minor numbers). The bundle
    is the body of a module; a function around it keeps its hundreds of one-letter names out of the page. It can go into a
    script element unchanged: this function checks that it contains no end tag.
    """
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    script = f'(function(){{"use strict";{bundle}\n}})();\n'
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _distribution(unit: str) -> dict[str, Any]:
    """Return a histogram of similarity or length: bars below the cut-off are pale, and a line marks the cut-off.

    Bars start at `base`, not at zero, because the reader may choose a logarithmic scale.
    """
    import altair as alt

    if unit != "characters":
        scale = alt.Scale(zero=False, nice=False)
        axis = alt.Axis(format="%" if unit == "percent" else ".2~f", tickCount=5, grid=False, title=None)
    else:
        scale = alt.Scale(type="log", nice=False)
        axis = alt.Axis(format="~s", tickCount=5, grid=False, title=None, labelOverlap=True)
    x = alt.X("start:Q", scale=scale, axis=axis)
    count = alt.Axis(tickCount=3, tickMinStep=1, format="~s", title=None, domain=False, ticks=False)
    bars = (
        alt.Chart(alt.NamedData("bars"))
        .mark_bar(color=_ACCENT, cursor="pointer")
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("count:Q", axis=count, scale=alt.Scale(nice=False)),
            y2="base:Q",
            opacity=alt.condition("datum.is_kept", alt.value(1), alt.value(0.3)),
            tooltip=alt.Tooltip("says:N"),
        )
    )
    cut = alt.Chart(alt.NamedData("cut")).mark_rule(strokeWidth=2).encode(x=alt.X("value:Q", scale=scale, axis=axis))
    return _finished(alt.layer(bars, cut), 104)


def _finished(chart: Any, height: int) -> dict[str, Any]:
    """Return the specification of a frameless chart that fills the width of its container."""
    import altair as alt

    whole = chart.properties(width="container", height=height, background="transparent")
    whole = whole.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    whole = whole.configure(font=_FONT).configure_view(stroke=None).configure_axis(labelFontSize=11, labelFlush=False)
    spec: dict[str, Any] = whole.to_dict()
    return spec
