"""Each query of our own dashboard has data in a real Prometheus that scrapes a real daemon."""

import shutil
from collections.abc import Generator

import pytest

from syncret.daemon.dashboard.panel import Query
from syncret.daemon.dashboard.rows import ROWS
from tests.real.e2e.process import until
from tests.real.prometheus.server import SECONDS
from tests.real.prometheus.troubled import Scraped, troubled

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's prometheus"),
]

QUERIES = [
    pytest.param(query, id=f"{panel.title}: {query.legend}")
    for row in ROWS
    for panel in row.panels
    for query in panel.queries
]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scraped, None, None]:
    with troubled(tmp_path_factory.mktemp("troubled")) as both:
        yield both


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_data(scraped: Scraped, query: Query) -> None:
    chosen = query.expr.replace("$job", "syncret").replace("$instance", ".*")
    asked = chosen.replace("$__rate_interval", "4s")
    until(lambda: scraped.server.numbers(asked), f"data for {asked}", SECONDS)


def test_what_fails_is_named_with_its_kind(scraped: Scraped) -> None:
    [query] = next(panel.queries for row in ROWS for panel in row.panels if panel.title == "What fails now")
    asked = query.expr.replace("$job", "syncret").replace("$instance", ".*")

    def failing() -> set[tuple[str, str]]:
        return {(each["metric"]["kind"], each["metric"]["name"]) for each in scraped.server.samples(asked)}

    expected = {
        ("externalsecret", "broken-0"),
        ("pushsecret", "locked"),
        ("secretstore", "locked"),
        ("clustersecretstore", "locked"),
        ("clusterexternalsecret", "nowhere"),
    }
    until(lambda: expected <= failing(), "all that fails", SECONDS)
