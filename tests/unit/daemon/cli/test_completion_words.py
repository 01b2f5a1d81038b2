"""What a shell offers for objects of the running daemon; nothing, and no word about it, without one."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from syncret.daemon.cli.main import main
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.completion import SHELLS
from syncret.daemon.ops.control import control_service
from syncret.daemon.ops.view import View
from tests.support.shells import completed
from tests.unit.daemon.ops.objects import Apply, external_secret, serving, store


@pytest.fixture
async def daemon(view: View, apply: Apply) -> str:
    """The socket of a daemon that knows some objects."""
    elsewhere = external_secret("payments")
    elsewhere["metadata"]["namespace"] = "team-a"
    cluster_store = store("everywhere") | {"kind": "ClusterSecretStore", "metadata": {"name": "everywhere"}}
    await apply(store(database="x"), external_secret(), external_secret("mailer"), elsewhere, cluster_store)
    return view.settings.socket


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        pytest.param(["explain", "es/"], ["es/database", "es/mailer", "es/team-a/payments"], id="kind/name"),
        pytest.param(
            ["refresh", "-n", "team-a", "ExternalSecrets/d"],
            [f"ExternalSecrets/{each}" for each in ("payments", "default/database", "default/mailer")],
            id="as-it-was-typed",
        ),
        pytest.param(["explain", "es", ""], ["database", "mailer"], id="kind-and-name"),
        pytest.param(["explain", "-n", "team-a", "es", ""], ["payments"], id="in-a-namespace"),
        pytest.param(["explain", "--namespace", "=", "team-a", "es", ""], ["payments"], id="split-by-bash"),
        pytest.param(["explain", "css/"], ["css/everywhere"], id="cluster-wide"),
        pytest.param(["status", "-n", ""], ["default", "team-a"], id="namespaces"),
        pytest.param(["explain", ""], [], id="kinds-are-in-the-script"),
        pytest.param(["explain", "nothing/"], [], id="unknown-kind"),
        pytest.param(["explain", "es", "database", ""], [], id="nothing-more"),
        pytest.param(["explain", "--f"], [], id="flags-are-in-the-script"),
        pytest.param(["explain", "-o", ""], [], id="values-of-other-flags"),
        pytest.param([], [], id="nothing"),
    ],
)
async def test_what_is_offered(
    words: list[str], offers: list[str], view: View, daemon: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = [words[0], "--socket", daemon, *words[1:]] if words else []
    async with serving(control_service, view):
        assert await asyncio.to_thread(main, ["__complete", *at]) == 0
    out, err = capsys.readouterr()
    assert (out.split(), err) == (offers, "")


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(["--socket", "/nowhere/control.sock"], id="no-daemon"),
        pytest.param(["--socket", ""], id="no-socket"),
        pytest.param(["--config", "/nowhere.yaml"], id="no-settings"),
        pytest.param(["--set", "sokcet=x"], id="wrong-setting"),
    ],
)
def test_without_a_daemon_nothing_is_said(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["__complete", "explain", *flags, "es/"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param('explain "es/d"', ["es/database"], id="kind/name"),
        pytest.param('explain es "mai"', ["mailer"], id="kind-and-name"),
        pytest.param('status -n "te"', ["team-a"], id="namespace"),
        pytest.param('explain "Ext"', ["ExternalSecret/"], id="kind"),
    ],
)
async def test_bash_asks_the_daemon(
    words: str, expected: list[str], view: View, daemon: str, tmp_path: Path
) -> None:
    folder = Path(sys.executable).parent
    environ = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "SYNCRET_SOCKET": daemon}
    async with serving(control_service, view):
        offered = await asyncio.to_thread(completed, f"syncret {words}", tmp_path, environ)
    assert offered == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_asks_the_daemon(shell: str) -> None:
    assert "syncret __complete " in SHELLS[shell](parser())


def test_it_offers_nothing_that_a_shell_interprets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [["default", each] for each in ("good", "$(reboot)", "a b", "a;b", "`x`", "\x1b[31m", "é", "")]

    def answer(*_: object, **__: object) -> dict[str, list[list[str]]]:
        return {"objects": names}

    monkeypatch.setattr("syncret.daemon.cli.completion_words.request", answer)
    assert main(["__complete", "explain", "es/"]) == 0
    assert capsys.readouterr().out == "es/good\n"
