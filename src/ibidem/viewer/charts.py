"""The charts of the report and of the web app, made by Altair, and the script that draws them.

The specifications contain no data: each names data sets that the scripts in `assets` fill and change. Colours come from the
style sheet, which handles light and dark pages; those given here only matter without it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

_ACCENT = "#0b57b0"
_FONT = "system-ui, sans-serif"


def chart_specs() -> dict[str, Any]:
    """Return the Vega-Lite specification of every chart by name.

    Data sets: `bars` (start, end, count, base, is_kept) and `cut` (value) of the distributions; `lanes`, `dots`, `ordered`,
    `unordered`, `heads` of the flow; `edges`, `nodes`, `labels_left`, `labels_right` of the network.
    """
    return {
        "similarity": _distribution("decimal"),
        "coverage": _distribution("percent"),
        "longest": _distribution("characters"),
        "flow": _flow(),
        "network": _network(),
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


def _flow() -> dict[str, Any]:
    """Return a chart of time from left to right with a lane per group and a curve from each earlier to each later document.

    Curves reach their lanes horizontally, so that all arrowheads point to the right and need no angle.
    """
    import altair as alt

    time = alt.X(
        "time:T", scale=alt.Scale(type="utc", padding=14), axis=alt.Axis(title=None, grid=True, labelOverlap=True, tickCount=6)
    )
    lane = alt.Y("lane:Q", scale=alt.Scale(reverse=True, zero=False, nice=False, padding=22), axis=None)
    width = alt.StrokeWidth("shared:Q", scale=alt.Scale(type="sqrt", range=[1, 7], zero=True), legend=None)
    lanes = alt.Chart(alt.NamedData("lanes"))
    rules = lanes.mark_rule(strokeWidth=1, opacity=0.5).encode(y=lane)
    labels = lanes.mark_text(align="right", baseline="middle", limit=130, fontSize=12).encode(
        x=alt.value(-10), y=lane, text="name:N", tooltip=alt.Tooltip("says:N")
    )

    def curves(name: str, dash: list[int]) -> Any:
        data = alt.Chart(alt.NamedData(name))
        return data.mark_line(color=_ACCENT, opacity=0.45, strokeDash=dash, cursor="pointer", strokeCap="butt").encode(
            x=time, y=lane, detail="pair:N", order="step:Q", strokeWidth=width, tooltip=alt.Tooltip("says:N")
        )

    heads = (
        alt.Chart(alt.NamedData("heads"))
        .mark_point(shape="triangle-right", filled=True, color=_ACCENT, opacity=1, cursor="pointer")
        .encode(
            x=time,
            y=lane,
            size=alt.Size("shared:Q", scale=alt.Scale(type="sqrt", range=[30, 130], zero=True), legend=None),
            tooltip=alt.Tooltip("says:N"),
        )
    )
    dots = (
        alt.Chart(alt.NamedData("dots"))
        .mark_circle(size=26, opacity=1, cursor="pointer")
        .encode(x=time, y=lane, tooltip=alt.Tooltip("says:N"))
    )
    chart = alt.layer(rules, labels, curves("unordered", [5, 4]), curves("ordered", [1, 0]), dots, heads)
    return _finished(chart.resolve_scale(size="independent", strokeWidth="shared"), 400)


def _network() -> dict[str, Any]:
    """Return nodes on a circle, joined by curves whose width shows how much they share. The scripts compute the positions."""
    import altair as alt

    x = alt.X("x:Q", scale=alt.Scale(domain=[-1.75, 1.75], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-1.15, 1.15], nice=False), axis=None)
    edges = (
        alt.Chart(alt.NamedData("edges"))
        .mark_line(color=_ACCENT, opacity=0.45, cursor="pointer")
        .encode(
            x=x,
            y=y,
            detail="edge:N",
            order="step:Q",
            strokeWidth=alt.StrokeWidth("shared:Q", scale=alt.Scale(type="sqrt", range=[1, 10], zero=True), legend=None),
            tooltip=alt.Tooltip("says:N"),
        )
    )
    nodes = alt.Chart(alt.NamedData("nodes")).mark_circle(size=80, opacity=1).encode(x=x, y=y, tooltip=alt.Tooltip("says:N"))

    def labels(name: str, align: Literal["left", "right"], away: int) -> Any:
        data = alt.Chart(alt.NamedData(name))
        return data.mark_text(align=align, dx=away, baseline="middle", limit=150, fontSize=12).encode(
            x=x, y=y, text="name:N", tooltip=alt.Tooltip("says:N")
        )

    return _finished(alt.layer(edges, nodes, labels("labels_left", "right", -10), labels("labels_right", "left", 10)), 520)


def _finished(chart: Any, height: int) -> dict[str, Any]:
    """Return the specification of a frameless chart that fills the width of its container."""
    import altair as alt

    whole = chart.properties(width="container", height=height, background="transparent")
    whole = whole.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    whole = whole.configure(font=_FONT).configure_view(stroke=None).configure_axis(labelFontSize=11, labelFlush=False)
    spec: dict[str, Any] = whole.to_dict()
    return spec
