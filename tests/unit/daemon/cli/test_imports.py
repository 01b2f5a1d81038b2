"""What a command imports, and how long --help takes: nobody waits for a library that is not used."""

import json
import os
import subprocess
import sys
import time
from statistics import median

import pytest

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
    "syncret.daemon.cli.arguments",
    "syncret.daemon.cli.exits",
    "syncret.daemon.cli.grammar",
    "syncret.daemon.cli.main",
}
"""And what the standard library imports for these."""

SLOW = {"aiohttp", "asyncio", "cryptography", "msgspec", "prometheus_client", "re2", "structlog", "yaml"}


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


HELP = "from syncret.daemon.cli.main import main; main(['--help'])"


def seconds(*command: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, *command], capture_output=True, check=True)
    return time.perf_counter() - begin


@pytest.mark.slow
def test_help_takes_at_most_six_times_the_start_of_python() -> None:
    pairs = [(seconds("-c", HELP), seconds("-c", "pass")) for _ in range(15)]
    assert median(took for took, _ in pairs) <= 6 * median(bare for _, bare in pairs)
