"""The reference pages: written from the code, or held against it."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from mkdocs.structure.files import Files

from syncret.config.settings_table import describe
from syncret.daemon.cli.main import main
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.completion import commands_of
from syncret.daemon.install.chart.keys import leaves
from syncret.daemon.install.chart.values import VALUES
from syncret.daemon.ops.metric_families import FAMILIES
from syncret.daemon.ops.releases import FieldStatus, Origin, ReleaseStatus
from syncret.daemon.ops.status import API_VERSION, ObjectStatus, QueueStatus, Summary
from syncret.providers.azurerm.types import TYPES

ROOT = Path(__file__).parents[3]
STATUS = (ROOT / "docs/reference/status.md").read_text()


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """What the site's build writes, as it is asked for."""
    hook = loaded(ROOT / "docs/hooks/reference.py")
    return {
        "cli": "".join(hook._commands(parser())),
        "settings": "".join(hook._settings()),
        "metrics": "".join(hook._metrics()),
        "chart": "".join(hook._chart_values()),
        "providers": "".join(hook._providers(Files([]))),
        "secret-apis": "".join(hook._secret_apis()),
    }


def loaded(file: Path) -> ModuleType:
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_has_its_part(pages: dict[str, str]) -> None:
    assert re.findall(r"^## (\S+)$", pages["cli"], re.MULTILINE) == [
        command.name for command in commands_of(parser())
    ]


def test_every_setting_has_its_row(pages: dict[str, str]) -> None:
    rows = [row.split("`")[1] for row in pages["settings"].splitlines()]
    assert [row for row in rows if "[]" not in row] == [setting.name for setting in describe()]
    assert "manifests[].namespaces" in rows
    assert "ownIdentity.receivers.<key>[].url" in rows


def test_every_secret_api_has_its_row_with_all_names(pages: dict[str, str]) -> None:
    rows = pages["secret-apis"].splitlines()
    assert len(rows) == sum(len(each.calls) + bool(each.fields) for each in TYPES)
    for each in TYPES:
        of_kind = "".join(row for row in rows if row.startswith(f"| {each.kind} (`{each.group}`)"))
        names = [name for call in each.calls for name in call.names]
        assert all(f"`{name}`" in of_kind for name in [*names, *each.fields]), each.kind


def test_every_value_of_the_chart_has_its_row_or_is_in_a_group_that_has(pages: dict[str, str]) -> None:
    rows = [row.split("`")[1] for row in pages["chart"].splitlines() if row.startswith("| `")]
    for path, _ in leaves(VALUES):
        assert any(path == row or path.startswith(f"{row}.") for row in rows), path
    assert len(rows) == len(set(rows))


def test_every_provider_and_generator_has_its_row(
    pages: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The page says what the command says."""
    assert main(["providers", "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = {
        name.strip("| "): [cell.strip("| ") for cell in cells]
        for name, *cells in (row.split(" | ") for row in pages["providers"].splitlines() if row)
    }
    for row in told["providers"]:
        *can, batch, _ = rows[row["name"]]
        assert can.count("✓") == len(row["can"])
        assert (batch == str(row["batch"])) == (row["reachable"] and row["batch"] > 1)
    for row in told["generators"]:
        assert (rows[row["kind"]][0] == "✓") == row["reachable"]


def test_every_metric_has_its_row(pages: dict[str, str]) -> None:
    rows = {row.split("`")[1]: row for row in pages["metrics"].splitlines()}
    assert {family.name for family in FAMILIES} < rows.keys()
    assert "syncret_provider_call_seconds" in rows
    assert "`provider` `call`" in rows["syncret_provider_call_seconds"]
    assert "syncret_bugs_total" in rows


def keys_of(model: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(model)}


def test_the_status_document_is_as_it_is_shown() -> None:
    block, one = re.findall(r"```json\n(.*?)```", STATUS, re.DOTALL)
    shown: dict[str, Any] = json.loads(block)
    assert shown.keys() == keys_of(Summary) | {"apiVersion", "stores", "objects", "releases"}
    assert shown["apiVersion"] == API_VERSION
    assert shown["queue"].keys() == keys_of(QueueStatus)
    for each in [*shown["stores"], *shown["objects"]]:
        assert each.keys() == keys_of(ObjectStatus)
    release: dict[str, Any] = json.loads(one)
    assert release.keys() == keys_of(ReleaseStatus) | {"secrets"}
    for each in release["secrets"]:
        assert each.keys() == keys_of(FieldStatus)
        assert each["from"].keys() <= keys_of(Origin)


def test_every_address_is_told() -> None:
    assert set(re.findall(r"^\| `(/\w+)`", STATUS, re.MULTILINE)) == {
        "/healthz",
        "/readyz",
        "/status",
        "/metrics",
    }
