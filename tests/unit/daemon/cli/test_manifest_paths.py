"""Paths of manifests that lead nowhere, to nothing, or to something that is no file, for each command."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from syncret.daemon.cli.main import main

STORE: Final = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec: {provider: {fake: {data: []}}}
"""


def ran(capsys: pytest.CaptureFixture[str], *command: str | Path) -> tuple[int, str]:
    code = main([str(word) for word in command])
    told = capsys.readouterr()
    return code, told.out + told.err


@pytest.mark.parametrize("command", ["validate", "sync", "plan"])
def test_a_path_that_is_missing_is_told_with_its_remedy(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = ran(capsys, command, "-f", tmp_path / "missing")
    assert code == 2
    assert (
        f"{tmp_path}/missing: error: there is no such file or folder (correct the path, or create it)\n"
        in told
    )


def test_with_a_state_what_a_missing_path_said_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (manifests := tmp_path / "m.yaml").write_text(STORE)
    sync = ("sync", "-f", manifests, "--state", tmp_path / "state.db", "-o", "json")
    assert ran(capsys, *sync)[0] == 0
    manifests.unlink()
    code, told = ran(capsys, *sync)
    assert code == 2
    assert "(what it said last stays in force; correct the path, or create it)" in told
    assert '"name":"demo"' in told


APP: Final = """\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec: {secretStoreRef: {name: demo}, data: [{secretKey: k, remoteRef: {key: a}}]}
"""


class Host:
    """A folder of manifests that was synced once."""

    def __init__(self, folder: Path) -> None:
        self.manifests = folder / "manifests"
        self.out = folder / "out"
        self.manifests.mkdir()
        (self.manifests / "app.yaml").write_text(STORE.replace("[]", "[{key: a, value: b}]") + APP)
        self.places = ("--output-dir", self.out, "--state", folder / "state.db")
        assert main(["sync", "-f", str(self.manifests), *map(str, self.places)]) == 0

    @property
    def written(self) -> list[str]:
        return [path.relative_to(self.out).as_posix() for path in self.out.rglob("*") if path.is_file()]


@pytest.fixture
def host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Host:
    host = Host(tmp_path)
    capsys.readouterr()
    return host


def emptied(host: Host) -> Path:
    (host.manifests / "app.yaml").unlink()
    return host.manifests


def only_foreign(host: Host) -> Path:
    (host.manifests / "app.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n")
    return host.manifests


def file_emptied(host: Host) -> Path:
    (host.manifests / "app.yaml").write_text("# nothing\n")
    return host.manifests / "app.yaml"


def another_empty_one(host: Host) -> Path:
    (host.manifests.parent / "checkout").mkdir()
    return host.manifests.parent / "checkout"


@pytest.mark.parametrize("make", [emptied, only_foreign, file_emptied, another_empty_one])
def test_a_pass_on_an_empty_path_deletes_nothing_unless_it_is_told_to(
    make: Callable[[Host], Path], host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(host)
    error = (
        f"{path}: error: holds no manifests, so the 2 objects that are known from earlier passes would be "
        "deleted (they stay in force; correct the path, or say --allow-empty if nothing is wanted)\n"
    )
    for command in ("plan", "sync"):
        code, told = ran(capsys, command, "-f", path, *host.places)
        assert (code, told.count(error)) == (2, 1)
        assert "- Secret/" not in told
        assert host.written == ["default/app/k"]

    code, told = ran(capsys, "plan", "-f", path, *host.places, "--allow-empty")
    assert code == 0
    assert "- Secret/default/app\n" in told
    code, told = ran(capsys, "sync", "-f", path, *host.places, "--allow-empty")
    assert (code, host.written) == (0, [])
    assert "0 created, 0 changed, 1 deleted, 0 failed, 0 invalid in " in told
    assert ran(capsys, "sync", "-f", path, *host.places)[0] == 0, "nothing is known any more"


def test_a_missing_path_deletes_nothing_of_others_either(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--allow-empty"]):
        code, told = ran(capsys, "sync", "-f", host.manifests.parent / "missing", *host.places, *more)
        assert code == 2
        assert "there is no such file or folder (what it said last stays in force; correct" in told
        assert host.written == ["default/app/k"]


def test_one_empty_path_of_several_keeps_what_came_from_it(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more.yaml").write_text(APP.replace("app", "more"))
    both = ("-f", host.manifests, "-f", tmp_path / "more.yaml")
    assert ran(capsys, "sync", *both, *host.places)[0] == 0
    (tmp_path / "more.yaml").write_text("")
    code, told = ran(capsys, "sync", *both, *host.places)
    assert code == 2
    assert f"{tmp_path}/more.yaml: error: holds no manifests, so the object that is known from " in told
    assert sorted(host.written) == ["default/app/k", "default/more/k"]


@pytest.mark.parametrize("command", ["validate", "sync", "plan"])
def test_a_folder_without_manifests_is_told(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store.txt").write_text(STORE)
    code, told = ran(capsys, command, "-f", tmp_path)
    assert code == 0
    assert f"{tmp_path}: warning: the folder contains no manifests (their names end in .yaml," in told


@pytest.mark.parametrize("command", ["validate", "sync", "plan"])
def test_a_pipe_in_a_folder_is_told_and_not_read(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(STORE)
    os.mkfifo(tmp_path / "pipe.yaml")
    code, told = ran(capsys, command, "-f", tmp_path)
    assert code == 2
    assert f"{tmp_path}/pipe.yaml: error: is a pipe, not a file, and is not read (remove or" in told


@pytest.mark.parametrize("command", ["validate", "sync", "plan"])
def test_a_pipe_that_is_named_is_read(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.write(writer, STORE.replace("{name: demo}", "{name: Demo_}").encode())
    os.close(writer)
    code, told = ran(capsys, command, "-f", f"/dev/fd/{reader}")
    os.close(reader)  # nothing is left in it, and nothing was waited for
    assert code == 2
    assert f"/dev/fd/{reader}:3: error: metadata.name: is not a DNS name" in told


@pytest.mark.parametrize("name", ["/dev/stdin", "-"])
def test_the_input_is_read_by_its_name(name: str) -> None:
    command = [sys.executable, "-c", "import sys; from syncret.daemon.cli.main import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "validate", "-f", name],
        input=STORE,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "1 document: 0 errors, 0 warnings\n")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        pytest.param(
            ["simulate", "{}/missing"], "there is no such file or folder (correct", id="no scenario"
        ),
        pytest.param(["simulate", "{}"], "Is a directory (name a file)", id="folder of scenarios"),
        pytest.param(
            ["template", "{}/missing"], "there is no such file or folder (correct", id="no template"
        ),
        pytest.param(["template", "{}"], "Is a directory (name a file)", id="folder of templates"),
        pytest.param(["template", "/dev/null", "--data", "{}"], "Is a directory (name", id="folder of data"),
    ],
)
def test_commands_that_take_files_say_so(
    words: list[str], part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = ran(capsys, *(word.format(tmp_path) for word in words))
    assert code == 2
    assert part in told
