"""The dashboard as the JSON that Grafana imports, from version 10 on.

Where the metrics are, and of which daemons, is chosen by variables: no data source is named.
"""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

from syncret.config.meta import Document
from syncret.daemon.dashboard.panel import Panel, Row
from syncret.daemon.dashboard.rows import ROWS

SCHEMA: Final = 38
"""Of Grafana 10; later versions convert it."""

COLUMNS: Final = 24
_HEIGHTS: Final = {"stat": 4, "timeseries": 8, "table": 8}
_SOURCE: Final[Document] = {"type": "prometheus", "uid": "${datasource}"}
_HIDDEN: Final = ("Time", "__name__", "job", "service", "condition", "status")
"""Labels that are no columns of a table."""


def dashboard(rows: Iterable[Row] = ROWS) -> Document:
    """The dashboard, with an id neither of its own nor of a data source: Grafana gives it one."""
    return {
        "title": "syncret",
        "description": "Daemons that keep secrets in sync. Made by: syncret export dashboard",
        "tags": ["syncret", "secrets"],
        "schemaVersion": SCHEMA,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "annotations": {"list": []},
        "templating": {"list": [*_variables()]},
        "panels": [*_panels(rows)],
    }


def _variables() -> Iterator[Document]:
    yield {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    selected = {"job": "syncret_build_info", "instance": 'syncret_build_info{job=~"$job"}'}
    for name, series in selected.items():
        query = f"label_values({series}, {name})"
        yield {
            "name": name,
            "label": name.capitalize(),
            "type": "query",
            "datasource": _SOURCE,
            "query": {"query": query, "refId": "StandardVariableQuery"},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        }


def _panels(rows: Iterable[Row]) -> Iterator[Document]:
    """Headlines and panels: from left to right, and in the next line where there is no room left."""
    ids, y = count(1), 0
    for row in rows:
        yield {
            "id": next(ids),
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
            "panels": [],
        }
        x, y, height = 0, y + 1, 0
        for panel in row.panels:
            if x + panel.width > COLUMNS:
                x, y, height = 0, y + height, 0
            place = {"x": x, "y": y, "w": panel.width, "h": _HEIGHTS[panel.form]}
            yield {"id": next(ids), "gridPos": place, **_panel(panel)}
            x, height = x + panel.width, max(height, _HEIGHTS[panel.form])
        y += height


def _panel(panel: Panel) -> Document:
    shown: Document = {
        "type": panel.form,
        "title": panel.title,
        "description": panel.text,
        "datasource": _SOURCE,
        "targets": [*_targets(panel)],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _options(panel),
    }
    if panel.form == "table":
        hidden = _HIDDEN if panel.value else (*_HIDDEN, "Value")
        columns = {"excludeByName": dict.fromkeys(hidden, True), "renameByName": {"Value": panel.value}}
        shown["transformations"] = [{"id": "organize", "options": columns}]
    return shown


def _targets(panel: Panel) -> Iterator[Document]:
    momentary = panel.form != "timeseries"
    for letter, query in zip("ABCDEF", panel.queries, strict=False):
        yield {
            "refId": letter,
            "datasource": _SOURCE,
            "editorMode": "code",
            "expr": query.expr,
            "legendFormat": query.legend or "__auto",
            "instant": momentary,
            "range": not momentary,
            "format": "table" if panel.form == "table" else "time_series",
        }


def _defaults(panel: Panel) -> Document:
    steps: list[Document] = [{"color": "green", "value": None}]
    if panel.alarm is not None:
        steps.append({"color": "red", "value": panel.alarm})
    defaults: Document = {
        "unit": panel.unit,
        "min": 0,
        "color": {"mode": "palette-classic" if panel.form == "timeseries" else "thresholds"},
        "thresholds": {"mode": "absolute", "steps": steps},
    }
    if panel.form == "timeseries":
        stacking = {"mode": "normal" if panel.stacked else "none", "group": "A"}
        defaults["custom"] = {
            "drawStyle": "line",
            "fillOpacity": 30 if panel.stacked else 0,
            "showPoints": "never",
            "stacking": stacking,
        }
    return defaults


def _options(panel: Panel) -> Document:
    match panel.form:
        case "stat":
            reduced = {"calcs": ["lastNotNull"], "fields": "", "values": False}
            return {"reduceOptions": reduced, "colorMode": "value", "graphMode": "none", "textMode": "value"}
        case "table":
            return {"showHeader": True, "cellHeight": "sm"}
        case "timeseries":
            legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
            return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
