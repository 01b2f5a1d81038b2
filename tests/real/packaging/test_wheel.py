"""The wheel holds what the tree holds, under `syncret.` and nowhere else."""

from configparser import ConfigParser
from zipfile import ZipFile

import pytest

from tests.support.debian import ROOT
from tests.support.wheel import ROOMS, build_wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    return ZipFile(build_wheel(tmp_path_factory.mktemp("dist")))


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
