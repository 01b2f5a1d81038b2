"""What a command imports, and how long --help takes: nobody waits for a library that is not used."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest

from syncret.providers.builtin import STORES

LISTED = """
import json, sys
before = set(sys.modules)
from syncret.daemon.cli.main import main
try:
    main({arguments})
except SystemExit:
    pass
print()
print(json.dumps(sorted(set(sys.modules) - before)))
"""

HELP_MAY_IMPORT = {
    "argparse",
    "gettext",
    "locale",  # gettext asks for it on some platforms
    "shutil",
    "syncret",
    "syncret.daemon",
    "syncret.daemon.cli",
    "syncret.daemon.cli.parser",
    "syncret.daemon.cli.parser.arguments",
    "syncret.daemon.cli.parser.asking_flags",
    "syncret.daemon.cli.parser.cache_flags",
    "syncret.daemon.cli.dispatch",
    "syncret.daemon.cli.exit_codes",
    "syncret.daemon.cli.parser.eso_flags",
    "syncret.daemon.cli.parser.exec_flags",
    "syncret.daemon.cli.parser.export_flags",
    "syncret.daemon.cli.parser.migrate_flags",
    "syncret.daemon.cli.parser.operator_flags",
    "syncret.daemon.cli.parser.options",
    "syncret.daemon.cli.parser.release_flags",
    "syncret.daemon.cli.interrupts",
    "syncret.daemon.cli.main",
    "syncret.daemon.fatal_signal",
}
"""And what the standard library imports for these."""

SLOW = {"aiohttp", "asyncio", "cryptography", "msgspec", "prometheus_client", "re2", "structlog", "yaml"}

ONE_PASS_NEEDS_NONE_OF = {
    "aiohttp",
    "anyio",  # comes with watchfiles
    "cryptography",
    "importlib.metadata",  # what other distributions offer is asked only for names that are not ours
    "jsonschema",
    "prometheus_client",
    "re2",  # no manifest has a pattern
    "structlog",
    "syncret.daemon.core.templating",
    "syncret.providers.azurerm",
    "syncret.providers.secret_apis",
    "syncret.daemon.ops.metrics",
    "syncret.daemon.supervisor",
    "syncret.providers.generators",
    "syncret.providers.kit.golang.gjson.walk",
    "syncret.providers.kubernetes",
    "syncret.providers.vault",
    "tenacity",  # no call had to be made again
    "watchfiles",
}

ESTATE = """
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: store}
spec: {provider: {fake: {data: [{key: a, value: b}]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: one}
spec:
  secretStoreRef: {name: store}
  data: [{secretKey: a, remoteRef: {key: a}}]
"""


def imported(*arguments: str) -> set[str]:
    code = LISTED.format(arguments=list(arguments))
    environ = {**os.environ, "SYNCRET_SOCKET": "/nowhere/control.sock"}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
    )
    return set(json.loads(ran.stdout.splitlines()[-1]))


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["explain", "--help"]])
def test_help_imports_the_parser_and_nothing_else(command: list[str]) -> None:
    ours_and_others = {
        name for name in imported(*command) if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert ours_and_others <= HELP_MAY_IMPORT


@pytest.mark.parametrize("command", [["status"], ["explain", "es/database"], ["refresh", "es/database"]])
def test_commands_that_ask_the_daemon_import_no_library(command: list[str]) -> None:
    names = {name.partition(".")[0] for name in imported(*command)}
    assert not names & SLOW


def test_version_imports_no_library() -> None:
    assert not {name.partition(".")[0] for name in imported("--version")} & SLOW


@pytest.mark.parametrize("command", ["sync", "plan", "validate"])
def test_one_pass_imports_nothing_that_only_a_daemon_or_another_store_needs(
    command: str, tmp_path: Path
) -> None:
    manifests = tmp_path / "manifests.yaml"
    manifests.write_text(ESTATE)
    outputs = ["--output-dir", str(tmp_path / "out"), "--state", str(tmp_path / "state.db")]

    names = imported(command, "-f", str(manifests), *(outputs if command == "sync" else []))

    packages = {address.partition(":")[0] for address in STORES.values()}
    assert names & packages == {"syncret.providers.fake"}, "of the one store that is named"
    assert sorted(names & ONE_PASS_NEEDS_NONE_OF) == []


EVERY_SPEC = """
import json, sys
from syncret.providers import builtin
from syncret.providers.registry import Registry
registry = Registry()
for name in builtin.STORES:
    registry.store(name)
print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))
"""


@pytest.mark.slow
def test_a_spec_needs_no_library_of_its_provider() -> None:
    ran = subprocess.run([sys.executable, "-c", EVERY_SPEC], capture_output=True, text=True, check=True)
    others = {"aiobotocore", "aioboto3", "aiohttp", "botocore", "cryptography", "hvac", "pysequoia"}

    assert sorted(others & set(json.loads(ran.stdout))) == []


HELP = "from syncret.daemon.cli.main import main; main(['--help'])"


def seconds(*command: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, *command], capture_output=True, check=True)
    return time.perf_counter() - begin


@pytest.mark.slow
def test_help_takes_at_most_six_times_the_start_of_python() -> None:
    pairs = [(seconds("-c", HELP), seconds("-c", "pass")) for _ in range(15)]
    assert median(took for took, _ in pairs) <= 6 * median(bare for _, bare in pairs)
