"""A real Prometheus scrapes a running daemon, takes every line of its metrics, and loads the alert rules."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.real.e2e.process import ROOT, daemon, until
from tests.real.prometheus.server import ALERTS, SECONDS, prometheus

QUICKSTART = ROOT / "config" / "samples" / "quickstart"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's prometheus"),
]


def test_it_scrapes_and_loads_the_rules(tmp_path: Path) -> None:
    manifests = tmp_path / "manifests"
    shutil.copytree(QUICKSTART, manifests)
    expected = [rule["alert"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]]
    with daemon(tmp_path, manifests) as running:
        host, port = running.address
        with prometheus(tmp_path, f"{host}:{port}") as server:
            until(lambda: server.target().get("health") == "up", "scraped", SECONDS)
            assert server.target()["lastError"] == ""
            calls = 'externalsecret_sync_calls_total{job="syncret"}'
            until(lambda: server.samples(calls), "samples of what was synced", SECONDS)
            synced = {each["metric"]["name"] for each in server.samples(calls)}
            assert {"database", "payments", "banner", "session-key"} <= synced
            (overdue,) = server.samples("syncret_oldest_overdue_seconds")
            assert 0 <= float(overdue["value"][1]) < SECONDS

            def rules() -> list[dict[str, Any]]:
                return [rule for group in server.get("rules").get("groups", []) for rule in group["rules"]]

            until(lambda: rules() and all(rule["health"] == "ok" for rule in rules()), "evaluated", SECONDS)
            assert [rule["name"] for rule in rules()] == expected
            until(lambda: not server.get("alerts")["alerts"], "content with the quickstart", SECONDS)
        assert running.stop() == 0
