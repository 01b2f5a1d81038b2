"""Each module exists once in a process, whatever imports it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOMS = ("config", "daemon", "providers")

LOAD_EVERYTHING = """
import importlib, json, pathlib, pkgutil, sys
import syncret.config, syncret.daemon, syncret.providers

for room in (syncret.config, syncret.daemon, syncret.providers):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
files = {name: str(pathlib.Path(path).resolve())
         for name, module in sys.modules.items() if (path := getattr(module, "__file__", None))}
json.dump(files, sys.stdout)
"""


@pytest.mark.slow
def test_a_process_that_loads_everything_loads_each_file_once() -> None:
    loaded = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOAD_EVERYTHING],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert loaded.returncode == 0, loaded.stderr
    names: dict[str, list[str]] = {}
    for name, path in json.loads(loaded.stdout).items():
        if Path(path).is_relative_to(ROOT) and ".venv" not in path:
            names.setdefault(path, []).append(name)
    assert names
    assert {path: found for path, found in names.items() if len(found) > 1} == {}
    assert [name for found in names.values() for name in found if not name.startswith("syncret.")] == []


def test_the_tests_themselves_load_each_file_once() -> None:
    tops = {name.partition(".")[0] for name in sys.modules}
    assert tops.isdisjoint(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_the_links_for_the_type_checkers_are_relative_and_lead_to_the_room(room: str) -> None:
    link = ROOT / "src" / "syncret" / room
    assert str(link.readlink()) == f"../../{room}"
    assert link.resolve() == ROOT / room
