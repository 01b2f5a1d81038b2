"""The wheel holds what the tree holds, under `syncret.` and nowhere else; equal sources give equal bytes."""

import os
import re
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from email import message_from_bytes
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.debian import ROOT
from tests.support.wheel import ROOMS, build_dist

pytestmark = pytest.mark.slow  # it is built


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_dist(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built: tuple[Path, Path]) -> ZipFile:
    return ZipFile(built[0])


@pytest.fixture(scope="module")
def source(built: tuple[Path, Path]) -> set[str]:
    """The files of the source distribution, below its folder."""
    with tarfile.open(built[1]) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


@pytest.fixture(scope="module")
def description(wheel: ZipFile) -> str:
    """What an index page shows."""
    (path,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = message_from_bytes(wheel.read(path))
    assert metadata["Description-Content-Type"] == "text/markdown"
    return str(metadata.get_payload())


def tree_files(suffix: str) -> set[str]:
    files = (path for room in ROOMS for path in (ROOT / room).rglob(f"*{suffix}"))
    return {
        f"syncret/{path.relative_to(ROOT).as_posix()}" for path in files if "__pycache__" not in path.parts
    }


def test_every_module_of_the_tree_is_in_the_wheel_and_no_other(wheel: ZipFile) -> None:
    assert {name for name in wheel.namelist() if name.endswith(".py")} == tree_files(".py")


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


@pytest.mark.parametrize("suffix", ["py.typed", ".yaml", ".json"])
def test_data_files_travel_with_their_packages(wheel: ZipFile, suffix: str) -> None:
    assert {
        name for name in wheel.namelist() if name.endswith(suffix) and ".dist-info/" not in name
    } == tree_files(suffix)


def test_nothing_is_installed_beside_the_package(wheel: ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"syncret"}


def test_the_command_is_installed(wheel: ZipFile) -> None:
    (path,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    scripts = ConfigParser()
    scripts.read_string(wheel.read(path).decode())
    assert dict(scripts["console_scripts"]) == {"syncret": "syncret.daemon.cli.main:main"}


def test_the_source_distribution_has_what_it_takes_to_build_install_and_read(source: set[str]) -> None:
    code = {name.removeprefix("syncret/") for name in (tree_files(".py") | tree_files(".yaml"))}
    assert code <= source
    assert {"Dockerfile", "requirements/runtime.txt", "systemd/syncret.service", "docs/index.md"} <= source
    assert not {name for name in source if name.startswith(("tests/", "src/", "."))}


def test_a_page_without_the_tree_has_no_link_into_it(description: str) -> None:
    assert [link for link in re.findall(r"\]\(([^)]*)\)", description) if ":" not in link] == []


def test_files_that_the_description_names_are_in_the_source_distribution(
    description: str, source: set[str]
) -> None:
    named = set(re.findall(r"\(`([^`]+)`\)", description))
    assert {"docs/getting-started.md", "docs/providers/vault.md", "CHANGELOG.md"} <= named
    folders = {os.path.dirname(name) for name in source}  # noqa: PTH120  # names in an archive
    assert named - source - folders == set()


def test_equal_sources_give_equal_bytes(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Whatever the umask, the time, the zone and the order in which the file system lists names."""
    mask = os.umask(0o077)
    try:
        again = build_dist(tmp_path, TZ="Asia/Tokyo", PYTHONHASHSEED="7", LC_ALL="C")
    finally:
        os.umask(mask)
    assert [sha256(path.read_bytes()).hexdigest() for path in again] == [
        sha256(path.read_bytes()).hexdigest() for path in built
    ]


EXPLAIN = """
from syncret.config.resources import external_secret
from syncret.daemon.cli.main import main
assert {place!r} in external_secret.__file__, external_secret.__file__
main(["explain", "--field", "externalsecret.spec.refreshInterval"])
"""


def test_descriptions_of_fields_come_from_the_sources_in_the_wheel(wheel: ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)  # noqa: S202  # a wheel of our own
    ran = subprocess.run(
        [sys.executable, "-c", EXPLAIN.format(place=str(tmp_path))],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "How often the values are read again" in ran.stdout
