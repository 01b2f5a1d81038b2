"""The dashboard: Grafana's JSON, made from a table of panels that ask for metrics that there are."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.daemon.cli.main import main
from syncret.daemon.dashboard.grafana import COLUMNS, dashboard
from syncret.daemon.dashboard.panel import Panel
from syncret.daemon.dashboard.rows import ROWS
from tests.support.metrics import known_metrics, metrics_of

PANELS = [panel for row in ROWS for panel in row.panels]
QUERIES = [query.expr for panel in PANELS for query in panel.queries]


def places() -> list[Document]:
    """All panels of the JSON, headlines included."""
    found: list[Document] = dashboard()["panels"]
    return found


def values_of(document: object, key: str) -> Iterator[Any]:
    """Every value under that key, at any depth."""
    if isinstance(document, dict):
        for name, value in document.items():  # pyright: ignore[reportUnknownVariableType]
            if name == key:
                yield value
            yield from values_of(value, key)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(document, list):
        for value in document:  # pyright: ignore[reportUnknownVariableType]
            yield from values_of(value, key)  # pyright: ignore[reportUnknownArgumentType]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_metrics_that_there_are(query: str) -> None:
    asked = metrics_of(query)
    assert asked <= known_metrics()
    assert asked or "_status_condition" in query


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_about_the_chosen_daemons(query: str) -> None:
    assert query.count("{") == query.count('job=~"$job",instance=~"$instance"')
    variables = set(re.findall(r"\$(?!1\b)(\w+)", query))
    assert variables <= {"job", "instance", "__rate_interval"}


def test_no_data_source_is_named() -> None:
    sources = [each for each in values_of(dashboard(), "datasource") if each]
    assert sources
    assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)
    assert not {"id", "uid"} & dashboard().keys()


def test_panels_lie_side_by_side() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in places():
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < COLUMNS
        taken |= cells
    ids = [panel["id"] for panel in places()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: str(panel.title))
def test_all_queries_of_a_panel_are_there(panel: Panel) -> None:
    [found] = [each for each in places() if (each["type"], each["title"]) == (panel.form, panel.title)]
    assert [each["expr"] for each in found["targets"]] == [query.expr for query in panel.queries]
    assert len({each["refId"] for each in found["targets"]}) == len(panel.queries)
    assert all(each["instant"] != each["range"] for each in found["targets"])


def test_it_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "dashboard"]) == 0
    assert json.loads(capsys.readouterr().out) == dashboard()
    assert main(["export", "dashboard", "json"]) == 2
    assert "syncret export dashboard" in capsys.readouterr().err
