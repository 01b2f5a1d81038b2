"""The panels of the dashboard that comes with the External Secrets operator, as far as a host can fill them.

Each query here asks for the series and labels that a panel asks for. Left out are its panels of the admission
webhook, which a host does not have.
"""

import shutil
from collections.abc import Generator

import pytest

from tests.real.e2e.process import until
from tests.real.prometheus.server import SECONDS
from tests.real.prometheus.troubled import Scraped, troubled

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's prometheus"),
]

ANYWHERE = 'service=~".*external-secrets.*"'
AT_THE_START = 'service=~"external-secrets.*"'
KINDS = "secretstore|clustersecretstore|externalsecret|clusterexternalsecret|pushsecret"


def share(metric: str, labels: str, fraction: str, *, function: str = "increase", over: str = "15m") -> str:
    """The part of a counter's increase that has one more label."""
    part, whole = (
        f"sum({function}({metric}{{{each}}}[{over}]))" for each in (f"{labels},{fraction}", labels)
    )
    return f"{part} / {whole}"


def failing(controller: str, *, function: str = "increase") -> str:
    """The error rate of a controller, as a gauge that is empty while there is none."""
    labels = f'{ANYWHERE},controller=~"{controller}"'
    return share("controller_runtime_reconcile_total", labels, 'result="error"', function=function) + " > 0"


CALLS = "externalsecret_provider_api_calls_count"
RECONCILES = f'controller_runtime_reconcile_total{{{ANYWHERE},controller=~"{KINDS}"}}'
NOT_READY = 'externalsecret_status_condition{condition="Ready",status="False"}'
LATENCY = "controller_runtime_reconcile_time_seconds_bucket"


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Generator[Scraped, None, None]:
    with troubled(tmp_path_factory.mktemp("troubled")) as both:
        yield both


@pytest.mark.parametrize(
    "query",
    [
        *(
            pytest.param(failing(kind), id=f"1 error rate of the controller {kind}")
            for kind in KINDS.split("|")
            if kind != "clusterexternalsecret"
        ),
        pytest.param(
            failing("clusterexternalsecret", function="irate"),
            id="1 error rate of the controller clusterexternalsecret",
        ),
        pytest.param(share(CALLS, ANYWHERE, 'status="error"') + " > 0", id="2 error rate of providers"),
        pytest.param(f'increase({CALLS}{{{ANYWHERE},status="error"}}[15m])', id="2 errors of providers"),
        pytest.param(
            f"sum by (provider, call, status) (increase({CALLS}{{{ANYWHERE}}}[1m])) > 0", id="2 calls"
        ),
        pytest.param(f"sum by (name) (workqueue_depth{{{AT_THE_START}}})", id="3 depth of the work queue"),
        pytest.param(
            f"histogram_quantile(0.99, sum by (le) (rate({LATENCY}{{{AT_THE_START}}}[5m])))",
            id="4 latency, 99th percentile",
        ),
        pytest.param(f"rate({LATENCY}{{{ANYWHERE}}}[1m]) > 0", id="4 latency as a heat map"),
        pytest.param(
            f"sum by (namespace, name) ({NOT_READY}) == 1",
            id="5 ExternalSecrets that are not ready",
        ),
        pytest.param(
            "sum by (name, namespace) (increase(externalsecret_sync_calls_error[15m])) > 0",
            id="6 errors by ExternalSecret",
        ),
        pytest.param(
            f"sum by (controller) (controller_runtime_active_workers{{{ANYWHERE}}})", id="7 workers in use"
        ),
        pytest.param(
            f"sum by (controller) (controller_runtime_max_concurrent_reconciles{{{ANYWHERE}}}) > 0",
            id="7 workers",
        ),
        pytest.param(f"sum by (result) (increase({RECONCILES}[1m])) > 0", id="7 runs per minute, by result"),
    ],
)
def test_a_panel_has_data(scraped: Scraped, query: str) -> None:
    until(lambda: scraped.server.numbers(query), f"data for {query}", SECONDS)


def test_the_variable_of_controllers_offers_those_of_the_operator(scraped: Scraped) -> None:
    query = f"controller_runtime_active_workers{{{ANYWHERE}}}"
    offered = {each["metric"]["controller"] for each in scraped.server.samples(query)}
    assert offered == {*KINDS.split("|"), "clusterpushsecret", "delivery", "generatorstate"}


def test_calls_have_the_names_that_the_operator_gives_them(scraped: Scraped) -> None:
    query = f'{CALLS}{{{ANYWHERE},provider="Webhook",call="HTTPRequest",status="error"}}'
    until(lambda: scraped.server.numbers(query), "failed calls", SECONDS)
