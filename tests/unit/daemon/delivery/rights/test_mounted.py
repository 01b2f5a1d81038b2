"""Programs that see a staged set at its live path, or run as somebody else; nobody else sees what they do."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from syncret.config.resources.delivery.steps import DeliveryCheck
from syncret.daemon.core.delivery.phases import Outcome
from syncret.daemon.delivery import proving
from syncret.daemon.delivery.paths import Refused
from syncret.daemon.delivery.rights import allowed, mounted
from syncret.daemon.delivery.rights.allowed import check_rights
from syncret.daemon.delivery.units import ActionResult
from tests.unit.daemon.delivery.world import FakeUnits

NOBODY = 65534
SHELL = os.path.realpath("/bin/sh")
PYTHON = os.path.realpath("/usr/bin/python3")
MOUNTS = Path("/proc/self/mountinfo")
WHO = (
    "import ctypes, os; n = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(n)); "
    "held = [each for each in open('/proc/self/status') if each.startswith(('CapEff', 'CapPrm', 'CapAmb'))]; "
    "print(os.getresuid(), os.getgroups(), n.value, {each.split()[1] for each in held}, os.environ['USER'])"
)
needs_mounts = pytest.mark.skipif(not mounted.may("mounted"), reason="needs CAP_SYS_ADMIN")
needs_users = pytest.mark.skipif(not mounted.may("user"), reason="needs CAP_SETUID and CAP_SETGID")


def step(*command: str, **fields: Any) -> DeliveryCheck:  # noqa: ANN401  # any field
    return msgspec.convert({"exec": list(command), **fields}, DeliveryCheck)


async def checked(wanted: DeliveryCheck, *views: tuple[Path, Path]) -> ActionResult:
    paths = [(str(staged), str(live)) for staged, live in views]
    return await proving.check(wanted, FakeUnits(), views=paths, variables={}, values=())


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with a live set, and what other programs have beside it."""
    for name, content in {"tls": "old", "..syncret-next.tls": "new", "conf": "kept"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.pem").write_text(content)
    (tmp_path / "..syncret-next.env").write_text("new variables")
    (tmp_path / "readme").write_text("kept")
    (tmp_path / "link").symlink_to("conf/server.pem")
    return tmp_path


def seen(folder: Path) -> tuple[list[Path], str]:
    """The names in a folder, and the mounts of this process."""
    return sorted(folder.iterdir()), MOUNTS.read_text()


def pair(folder: Path, name: str = "tls") -> tuple[Path, Path]:
    return folder / f"..syncret-next.{name}", folder / name


@needs_mounts
@pytest.mark.slow
@pytest.mark.parametrize("is_first", [False, True], ids=["an old set is live", "nothing is live yet"])
async def test_a_program_finds_the_new_set_at_its_live_path(served: Path, *, is_first: bool) -> None:
    if is_first:
        (served / "tls" / "server.pem").unlink()
        (served / "tls").rmdir()
    before = seen(served)
    script = (
        'cd "$0" && test "$(cat tls/server.pem)" = new && test "$(cat env)" = "new variables" '
        '&& test "$(cat conf/server.pem readme link)" = "keptkeptkept"'
    )
    result = await checked(
        step(SHELL, "-c", script, str(served), view="mounted"), pair(served), pair(served, "env")
    )
    assert result == ActionResult(outcome=Outcome.DONE)
    assert seen(served) == before


@needs_mounts
@pytest.mark.slow
async def test_a_program_cannot_change_what_it_checks(served: Path) -> None:
    script = 'echo changed > "$0"/tls/server.pem'
    result = await checked(step(SHELL, "-c", script, str(served), view="mounted"), pair(served))
    assert result.outcome is Outcome.FAILED
    assert "Read-only file system" in result.message
    assert (served / "..syncret-next.tls/server.pem").read_text() == "new"


@needs_mounts
@pytest.mark.slow
async def test_a_folder_of_links_shows_the_new_files_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "..syncret-next").mkdir()
    (tmp_path / "..syncret-next/new.pem").write_text("new")
    result = await checked(
        step("/usr/bin/grep", "-q", "new", str(tmp_path / "new.pem"), view="mounted"),
        (tmp_path / "..syncret-next", tmp_path),
    )
    assert result.outcome is Outcome.DONE


@needs_mounts
@pytest.mark.slow
async def test_what_is_gone_before_the_check_is_told(served: Path) -> None:
    result = await checked(step("/usr/bin/true", view="mounted"), pair(served, "other"))
    assert result.outcome is Outcome.FAILED
    assert "/usr/bin/true was not run: [Errno 2] mount: No such file or directory" in result.message


@needs_users
@pytest.mark.slow
async def test_a_program_of_another_user_has_none_of_our_rights(served: Path) -> None:
    result = await checked(step(PYTHON, "-c", f"{WHO}; exit(3)", user=str(NOBODY)), pair(served))
    assert result.message == (
        f"exit code 3: ({NOBODY}, {NOBODY}, {NOBODY}) [{NOBODY}] 9 {{'{0:016x}'}} nobody"
    )


async def test_nobody_of_that_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="there is no user nobody-here on this host"):
        await checked(step("/usr/bin/true", user="nobody-here"), pair(tmp_path))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        pytest.param({"view": "mounted"}, "spec.check.view: the daemon has no right to mount", id="view"),
        pytest.param({"user": str(NOBODY)}, "spec.check.user: the daemon has no right to become", id="user"),
    ],
)
def test_without_the_rights_both_are_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, str], field: str
) -> None:
    def denied(_what: str) -> bool:
        return False

    monkeypatch.setattr(allowed, "may", denied)
    with pytest.raises(Refused, match=field) as refused:
        check_rights(step("/usr/bin/true", **fields))
    assert "deliver-as-root.conf" in refused.value.hint
    check_rights(step("/usr/bin/true", user=str(os.geteuid())))
    check_rights(None)
