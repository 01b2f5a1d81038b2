"""A real Prometheus scrapes a running daemon, takes every line of its metrics, and loads the alert rules."""

import json
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from tests.real.e2e.process import ROOT, daemon, free_port, until

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
QUICKSTART = ROOT / "config" / "samples" / "quickstart"
SECONDS = 15.0
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Debian's prometheus"),
]


class Prometheus:
    """A running Prometheus, asked by its HTTP API."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str, **parameters: str) -> dict[str, Any]:
        """The data of an answer; nothing as long as it does not answer."""
        try:
            asked = f"{path}?{urlencode(parameters)}"
            with urlopen(f"http://127.0.0.1:{self._port}/api/v1/{asked}", timeout=SECONDS) as answer:
                data: dict[str, Any] = json.load(answer)["data"]
                return data
        except (URLError, ConnectionError):  # it has only just begun
            return {}

    def target(self) -> dict[str, Any]:
        """How scraping goes."""
        targets: list[dict[str, Any]] = self.get("targets").get("activeTargets", [])
        return targets[0] if targets else {}

    def samples(self, query: str) -> list[dict[str, Any]]:
        """What a query gives now."""
        samples: list[dict[str, Any]] = self.get("query", query=query).get("result", [])
        return samples


@contextmanager
def prometheus(folder: Path, scraped: str) -> Generator[Prometheus, None, None]:
    """It, with one target and our rules; killed at the end."""
    settings = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ALERTS)],
        "scrape_configs": [{"job_name": "syncret", "static_configs": [{"targets": [scraped]}]}],
    }
    config, log, port = folder / "prometheus.yaml", folder / "prometheus.log", free_port()
    config.write_text(yaml.safe_dump(settings))
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield Prometheus(port)
    except TimeoutError as error:
        raise TimeoutError(f"{error}\n{log.read_text()[-3000:]}") from None
    finally:
        process.kill()
        process.wait()


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
