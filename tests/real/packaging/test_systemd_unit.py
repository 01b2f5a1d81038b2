"""The service as systemd itself judges it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "systemd" / "syncret.service"
MOST_EXPOSURE = 1.8

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unit as installed, but with a command that exists on this machine too."""
    text = UNIT.read_text()
    assert "ExecStart=/usr/bin/syncret run --config /etc/syncret/syncret.yaml\n" in text
    path = tmp_path_factory.mktemp("units") / UNIT.name
    path.write_text(text.replace("/usr/bin/syncret", "/bin/true"))
    return path


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", "--no-pager", *arguments], check=False, capture_output=True, text=True
    )


def test_systemd_finds_nothing_wrong_with_the_unit(unit: Path) -> None:
    found = analyze("verify", "--man=no", "--recursive-errors=no", unit)
    assert (found.returncode, found.stderr.strip()) == (0, "")


def test_systemd_finds_nothing_wrong_with_the_socket_of_credentials(unit: Path) -> None:
    socket = unit.with_name("syncret-credentials.socket")
    socket.write_text(UNIT.with_name(socket.name).read_text())
    found = analyze("verify", "--man=no", "--recursive-errors=no", socket)
    assert (found.returncode, found.stderr.strip()) == (0, "")


def test_the_unit_exposes_no_more_than_the_house_allows(unit: Path) -> None:
    threshold = f"--threshold={round(MOST_EXPOSURE * 10)}"
    found = analyze("security", "--offline=true", threshold, unit)
    assert found.returncode == 0, found.stdout


def test_each_remaining_point_is_explained_in_the_unit(unit: Path) -> None:
    found = analyze("security", "--offline=true", "--json=short", unit)
    points = json.loads(found.stdout)
    assert points
    remaining = {point["name"].partition("=")[0] for point in points if point["set"] is False}
    head, _, _ = UNIT.read_text().partition("[Unit]")
    assert {name for name in remaining if f"{name}=" not in head} == set()


def test_systemd_understands_the_root_profile(unit: Path, tmp_path: Path) -> None:
    drop_in = UNIT.with_name("deliver-as-root.conf").read_text()
    folder = tmp_path / f"{UNIT.name}.d"
    folder.mkdir()
    (folder / "deliver-as-root.conf").write_text(drop_in)
    shutil.copy(unit, tmp_path)
    found = analyze("verify", "--man=no", "--recursive-errors=no", tmp_path / UNIT.name)
    assert (found.returncode, found.stderr.strip()) == (0, "")
    lists = dict(line.split("=", 1) for line in drop_in.splitlines() if line.startswith(("Cap", "Amb")))
    assert lists["CapabilityBoundingSet"] == lists["AmbientCapabilities"]


def test_systemd_understands_the_helper_of_a_unit(tmp_path: Path) -> None:
    for ending in ("path", "service"):
        text = UNIT.with_name(f"syncret-reload@.{ending}").read_text()
        (tmp_path / f"syncret-reload@nginx.service.{ending}").write_text(text)
    found = analyze("verify", "--man=no", "--recursive-errors=no", *sorted(tmp_path.iterdir()))
    assert (found.returncode, found.stderr.strip()) == (0, "")


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="needs systemd-sysusers")
def test_the_user_can_be_made() -> None:
    made = subprocess.run(
        ["systemd-sysusers", "--dry-run", UNIT.with_name("syncret.sysusers.conf")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert "Creating user 'syncret'" in made.stderr
