"""A real Prometheus, with the settings of the documentation."""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from tests.real.e2e.process import ROOT, free_port
from tests.suites.docs.pages import blocks

ALERTS: Final = ROOT / "deploy" / "prometheus" / "alerts.yaml"
SECONDS: Final = 15.0


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

    def numbers(self, query: str) -> list[float]:
        """The values that a query gives now, without those that are no numbers."""
        values = [float(each["value"][1]) for each in self.samples(query)]
        return [value for value in values if not isnan(value)]

    def samples(self, query: str) -> list[dict[str, Any]]:
        """What a query gives now."""
        samples: list[dict[str, Any]] = self.get("query", query=query).get("result", [])
        return samples


def settings_of_the_page(scraped: str) -> dict[str, Any]:
    """The settings that docs/guides/monitoring.md shows, with our target and rules, and in a hurry."""
    page = ROOT / "docs" / "guides" / "monitoring.md"
    [block] = [block for block in blocks(page, "yaml") if block.title == "prometheus.yml"]
    settings: dict[str, Any] = yaml.safe_load(block.text)
    [[static]] = [job["static_configs"] for job in settings["scrape_configs"]]
    static["targets"] = [scraped]
    quick = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    return settings | {"global": quick, "rule_files": [str(ALERTS)]}


@contextmanager
def prometheus(folder: Path, scraped: str) -> Generator[Prometheus, None, None]:
    """It, with one target and our rules; killed at the end."""
    settings = settings_of_the_page(scraped)
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
