"""status, explain and refresh as a person sees them: what they print, and where they end."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncret.config.durations import span
from syncret.config.meta import Document, ObjectRef
from syncret.daemon.cli import daemon_client
from syncret.daemon.cli.main import main
from syncret.daemon.engine.queue.workqueue import WorkQueue
from syncret.daemon.ops.control import control_service
from syncret.daemon.ops.view import View
from tests.unit.daemon.ops.objects import CANARY, Apply, external_secret, named, serving, store


async def asked(view: View, *arguments: str) -> int:
    """Run a command beside the daemon."""
    async with serving(control_service, view):
        return await asyncio.to_thread(main, [*arguments, "--socket", view.settings.socket])


async def test_status(view: View, apply: Apply, capsys: pytest.CaptureFixture[str]) -> None:
    await apply(store(database=CANARY), external_secret(), external_secret("lost", key="nowhere"))
    assert await asked(view, "status") == 1
    text = capsys.readouterr().out
    head, _, titles, *rows = text.splitlines()
    assert head.startswith("syncret ")
    assert "ready; 0 due, 0 running" in head
    assert titles.split() == ["KIND", "NAMESPACE", "NAME", "READY", "AGE", "NEXT", "STATUS"]
    told = {row.split()[2]: row for row in rows}
    assert told.keys() == {"demo", "database", "lost"}
    assert "secret synced" in told["database"]
    assert " NO " in told["lost"]
    assert "lost" in rows[0], "what fails comes first"
    assert "does not exist" in told["lost"]
    assert CANARY not in text


async def test_status_tells_of_a_run_that_takes_long(
    view: View, apply: Apply, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PushSecret of 200,000 entries is at work for an hour, and had nothing to say all the while."""
    await apply(store(database=CANARY), external_secret())

    def running_for(_queue: WorkQueue, ref: ObjectRef) -> float | None:
        return 90.0 if ref.name == "database" else None

    monkeypatch.setattr(WorkQueue, "running_for", running_for)
    assert await asked(view, "status") == 0
    told = {row.split()[2]: row for row in capsys.readouterr().out.splitlines() if "default" in row}
    assert "its run has gone on for 90s" in told["database"]
    assert "its run" not in told["demo"]


async def test_status_of_a_daemon_where_all_is_well(view: View, apply: Apply) -> None:
    await apply(store(database=CANARY), external_secret())
    assert await asked(view, "status") == 0


async def test_an_object_that_is_ready_without_a_word_is_ready(
    view: View, apply: Apply, capsys: pytest.CaptureFixture[str]
) -> None:
    spec: Document = {"namespaces": [], "externalSecretSpec": external_secret()["spec"]}
    await apply(named("ClusterExternalSecret", "everywhere", spec))
    assert await asked(view, "status") == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[-1] == "ready"


async def test_status_can_be_narrowed(view: View, apply: Apply, capsys: pytest.CaptureFixture[str]) -> None:
    await apply(store(database=CANARY), external_secret(), external_secret("lost", key="nowhere"))
    assert await asked(view, "status", "--failing", "-o", "json") == 1
    document = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in document["objects"]] == ["lost"]
    assert document["stores"] == []
    assert await asked(view, "status", "-n", "other") == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["", "nothing in namespace other"]


async def test_explain(view: View, apply: Apply, capsys: pytest.CaptureFixture[str]) -> None:
    await apply(store(database=CANARY), external_secret())
    assert await asked(view, "explain", "ExternalSecret/database") == 0
    text = capsys.readouterr().out
    assert text.startswith("ExternalSecret default/database\n  ready   yes: SecretSynced, secret synced\n")
    assert "  next    in " in text
    titles, row = text.splitlines()[-2:]
    assert titles.split()[:2] == ["KEY", "FROM"]
    assert row.split() == ["password", "SecretStore/demo", "database", "-", "spec.data[0]"]
    assert re.search(r"^  age     \d+s, last known to be good at ", text, re.MULTILINE)
    assert CANARY not in text


@pytest.mark.parametrize(
    "named",
    [
        pytest.param(["ExternalSecret", "payments", "-n", "team-a"], id="kind-and-name"),
        pytest.param(["es", "-n", "team-a", "payments"], id="flags-between"),
        pytest.param(["-n", "team-a", "es/payments"], id="flags-first"),
        pytest.param(["es/team-a/payments"], id="with-the-namespace"),
        pytest.param(["externalsecrets", "team-a/payments"], id="kind-and-place"),
    ],
)
async def test_an_object_may_be_named_as_for_kubectl(
    named: list[str], view: View, apply: Apply, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = external_secret("payments")
    elsewhere["metadata"]["namespace"] = "team-a"
    await apply(elsewhere)
    assert await asked(view, "explain", *named) == 0
    assert capsys.readouterr().out.startswith("ExternalSecret team-a/payments\n")
    assert await asked(view, "refresh", *named) == 0
    assert "ExternalSecret/team-a/payments" in capsys.readouterr().out


async def test_explain_a_failure(view: View, apply: Apply, capsys: pytest.CaptureFixture[str]) -> None:
    await apply(store(), external_secret("lost", key="nowhere"))
    assert await asked(view, "explain", "es/lost") == 0
    text = capsys.readouterr().out
    said = r"^  error   \d+s ago: spec\.data\[0\]: nowhere does not exist in SecretStore/demo$"
    assert re.search(said, text, re.MULTILINE)
    assert "retry after failure" in text


async def test_refresh(view: View, apply: Apply, capsys: pytest.CaptureFixture[str]) -> None:
    await apply(store(database=CANARY), external_secret())
    assert await asked(view, "refresh", "es/database") == 0
    assert capsys.readouterr().out == "ExternalSecret/default/database: is refreshed now\n"
    await apply()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["explain", "es/databse"], 1, "did you mean database?", id="unknown-name"),
        pytest.param(["refresh", "es/databse"], 1, "did you mean database?", id="unknown-name-to-refresh"),
        pytest.param(["explain", "Secrte/x"], 1, "there is no kind Secrte", id="unknown-kind"),
        pytest.param(["explain", "database"], 2, "write KIND/NAME", id="no-kind"),
        pytest.param(["explain", "es/"], 2, "write KIND/NAME", id="no-name"),
    ],
)
async def test_what_cannot_be_told(
    view: View,
    apply: Apply,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    await apply(store(database=CANARY), external_secret())
    assert await asked(view, *arguments) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err


COMMANDS = pytest.mark.parametrize("command", [["status"], ["explain", "es/x"], ["refresh", "es/x"]])


@COMMANDS
def test_without_a_daemon(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "control.sock")
    assert main([*command, "--socket", where]) == 3
    assert capsys.readouterr().err == (
        f"syncret: no daemon listens at {where} "
        "(start one with `syncret run`, or name its socket with --socket PATH)\n"
    )


def test_the_socket_of_a_dead_daemon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "control.sock")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(where)
    assert main(["status", "--socket", where]) == 3
    assert "no daemon listens" in capsys.readouterr().err


@pytest.fixture(
    params=[
        pytest.param(b"220 mail.example ESMTP\r\n\r\n", id="mail"),
        pytest.param(b'HTTP/1.0 404 Not Found\r\n\r\n{"message": "page not found"}', id="containers"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n[]", id="another answer"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n<html>", id="web"),
        pytest.param(b"", id="silence"),
    ]
)
def impostor(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Something that listens, and is no daemon."""
    said: bytes = request.param
    where = str(tmp_path / "other.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(where)
        listener.listen()

        def answer() -> None:
            caller, _ = listener.accept()
            with caller:
                caller.recv(1000)
                caller.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        yield where
        thread.join()


def test_a_program_that_is_no_daemon(impostor: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--socket", impostor]) == 3
    assert "no sensible answer" in capsys.readouterr().err


def test_a_daemon_that_hangs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_client, "ANSWER_TIMEOUT", 0.05)
    where = str(tmp_path / "hangs.sock")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(where)
        listener.listen(0)
        assert main(["status", "--socket", where]) == 3
        assert f"{where}: no answer in time (it may still be starting, hang, or" in capsys.readouterr().err
        first.setblocking(False)  # noqa: FBT003  # as the standard library has it
        first.connect_ex(where)
        assert main(["status", "--socket", where]) == 3
        assert "no answer in time" in capsys.readouterr().err


def test_a_socket_below_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["status", "--socket", str(tmp_path / "file" / "control.sock")]) == 3
    assert "no daemon listens at" in capsys.readouterr().err


def test_the_settings_name_the_socket(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCRET_SOCKET", "/nowhere/of-environment.sock")
    file = tmp_path / "syncret.yaml"
    file.write_text("socket: /nowhere/of-file.sock\n")
    for arguments, where in (
        ([], "/nowhere/of-environment.sock"),
        (["--config", str(file)], "/nowhere/of-environment.sock"),
        (["--set", "socket=/nowhere/of-flag.sock"], "/nowhere/of-flag.sock"),
    ):
        assert main(["status", *arguments]) == 3
        assert where in capsys.readouterr().err
    monkeypatch.delenv("SYNCRET_SOCKET")
    assert main(["status", "--config", str(file)]) == 3
    assert "/nowhere/of-file.sock" in capsys.readouterr().err
    assert main(["status", "--set", "sokcet=x"]) == 2
    assert "did you mean socket?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.4, "0s"), (90, "90s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172800, "2d")],
)
def test_spans(seconds: float, expected: str) -> None:
    assert span(seconds) == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["es/x", "--set", "socket="], "socket: there is none", id="none"),
        pytest.param(["es/x", "--socket", "x" * 108], "longer than 107 bytes", id="too long"),
        pytest.param(["es/x/y/z"], "es/x/y/z names no object", id="three slashes"),
        pytest.param(["es", ""], "es  names no object", id="empty name"),
        pytest.param(["es/x/y", "-n", "z"], "is in another namespace than -n z", id="two namespaces"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments]) == 2
    assert told in capsys.readouterr().err


async def test_the_wide_table_has_the_remedy(
    view: View, apply: Apply, capsys: pytest.CaptureFixture[str]
) -> None:
    await apply(store(), external_secret("lost", key="nowhere"))
    assert await asked(view, "status", "-o", "wide") == 1
    text = capsys.readouterr().out
    assert re.search(r"^KIND .* STATUS +REMEDY$", text, re.MULTILINE)
    assert re.search(r"^ExternalSecret .* correct the key or the property, or say ", text, re.MULTILINE)
