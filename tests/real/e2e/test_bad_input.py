"""Bad manifests and bad surroundings: each is told with its place and a remedy, and stops nobody else."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.real.e2e.manifests import external, store, written
from tests.real.e2e.process import can_be_plain, daemon, faces, files, syncret

pytestmark = pytest.mark.slow

CANARY = "hush-hush-canary"
HEAD = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
KEY = "spec.data[0].secretKey: must match"

# What stands in the bad file; the line and a part of what is told.
DOCUMENTS: dict[str, tuple[str | bytes, int, str]] = {
    "malformed": ("kind: [\n", 2, "is not valid YAML"),
    "tab": ("a: 1\n\tb: 2\n", 2, "found a tab character"),
    "wrong type": (external("x", "k").replace("1h", "[1]"), 5, "spec.refreshInterval: must be a string"),
    "wrong duration": (external("x", "k").replace("1h", "1 hour"), 5, "(write a duration such as"),
    "unknown kind": (external("x", "k").replace("ExternalSecret", "ExternalSecrt"), 2, "(did you mean Ext"),
    "duplicate key": (HEAD + "type: a\ntype: b\n", 5, "type: the key appears twice (remove one"),
    "duplicate name": (external("good", "k"), 0, "is already defined at "),
    "alias bomb": (BOMB, 0, "aliases repeat too many values (write them out)"),
    "alias of itself": (
        "a: &a [*a]\n",
        1,
        "an alias refers to a value that contains it (write the value out)",
    ),
    "deep nesting": ("a: " + "[" * 100_000, 1, "is nested deeper than 100 levels (write it flatter)"),
    "not UTF-8": (b"a: 1\nb: \xff\xfe\n", 2, "is not UTF-8 text (save the file in UTF-8)"),
    "control character": ("a: \x01\n", 1, "has a character that YAML does not allow (#x01) (remove it"),
    "NUL": ("a: \x00\n", 1, "has a character that YAML does not allow (#x00) (remove it"),
    "no mapping": ("- a\n", 1, "must be an object with apiVersion and kind"),
    "no kind": ("apiVersion: v1\nmetadata: {name: x}\n", 1, "kind: is required (write kind: "),
    "kind no text": (HEAD.replace("Secret", "{a: b}"), 2, "kind: must be a string (write kind: "),
    "version no text": (HEAD.replace("v1", "[v1]"), 1, "apiVersion: must be a string (write apiVersion: "),
    "namespace no text": (HEAD.replace("x}", "x, namespace: {}}"), 3, "must be a string, not an object"),
    "no name": ("apiVersion: v1\nkind: Secret\n", 1, "metadata.name: is required"),
    "no DNS name": (HEAD.replace("x}", "../x}"), 3, "metadata.name: is not a DNS name (use lower case"),
    "way out": (external("x", "k").replace("secretKey: k", "secretKey: ../../etc/passwd"), 8, KEY),
    "slash in key": (external("x", "k").replace("secretKey: k", "secretKey: a/b"), 8, KEY),
    "NUL in key": (external("x", "k").replace("secretKey: k", 'secretKey: "a\\0b"'), 8, KEY),
    "long key": (external("x", "k").replace("secretKey: k", f"secretKey: {'k' * 300}"), 8, "at most 253"),
    "way out in a Secret": (HEAD + f'stringData: {{"../x": {CANARY}}}\n', 4, "must match"),
    "no base64": (HEAD + f'data: {{k: "&{CANARY}&"}}\n', 4, "data.k: must be base64 (encode"),
}


def tame(told: str) -> None:
    """Whatever is said, these are never."""
    assert "Traceback" not in told
    assert CANARY not in told


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    good = external("good", "k") + "---\n" + store(k="v1")
    return written(tmp_path / "manifests", **{"a-good": good})


@pytest.mark.parametrize(("text", "line", "part"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_bad_document_is_told_and_stops_nobody(
    tmp_path: Path, manifests: Path, text: str | bytes, line: int, part: str
) -> None:
    bad = manifests / "b-bad.yaml"
    bad.write_bytes(text if isinstance(text, bytes) else text.encode())
    place = f"{bad}:{line}: error: " if line else f"{bad}:"
    judged = syncret("validate", "-f", manifests)
    synced = syncret("sync", "-f", manifests, "--output-dir", tmp_path / "out")
    for done, told in ((judged, judged.stdout), (synced, synced.stderr)):
        assert done.returncode == 2, told
        (found,) = (text for text in told.splitlines() if text.startswith(place) and part in text)
        tame(done.stdout + done.stderr)
        assert found
    assert files(tmp_path / "out") == {"default/good/k": "v1"}


def test_the_daemon_tells_of_all_of_them_and_serves_the_good(tmp_path: Path, manifests: Path) -> None:
    for number, (text, _, _) in enumerate(DOCUMENTS.values()):
        data = text if isinstance(text, bytes) else text.encode()
        (manifests / f"b{number:02}.yaml").write_bytes(data)
    with daemon(tmp_path, manifests, "--set", "logFormat=json") as process:
        assert files(tmp_path / "out") == {"default/good/k": "v1"}
        assert process.stderr.count('"level": "error"') >= len(DOCUMENTS)
        assert process.stop() == 0
    tame(process.stderr)


def test_a_file_of_100_megabytes(tmp_path: Path, manifests: Path) -> None:
    with (manifests / "b-bad.yaml").open("wb") as file:
        file.truncate(100 << 20)
    done = syncret("sync", "-f", manifests, "--output-dir", tmp_path / "out")
    assert done.returncode == 2
    assert "b-bad.yaml:1: error: is larger than 33554432 bytes (split it" in done.stderr
    assert files(tmp_path / "out") == {"default/good/k": "v1"}


@pytest.mark.parametrize("text", ["", "# nothing\n---\n"])
def test_an_empty_file_is_nothing(manifests: Path, text: str) -> None:
    (manifests / "b-empty.yaml").write_text(text)
    assert syncret("validate", "-f", manifests).returncode == 0


# ------------------------------------------------------------------------------------------- surroundings
class Place:
    """What a case may spoil."""

    def __init__(self, folder: Path, manifests: Path) -> None:
        self.folder, self.manifests = folder, manifests
        self.out, self.state = folder / "out", folder / "state" / "state.db"
        self.more: list[str] = []

    def sync(self, *, plain: bool = False) -> "tuple[int, str]":
        places = ["--output-dir", str(self.out), "--state", str(self.state)]
        done = syncret("sync", "-f", self.manifests, *places, *self.more, plain=plain)
        tame(done.stdout + done.stderr)
        return done.returncode, done.stdout + done.stderr


def garbage(place: Place) -> None:
    place.state.parent.mkdir()
    place.state.write_bytes(b"garbage" * 1000)


def newer(place: Place) -> None:
    place.sync()
    shutil.rmtree(place.out)
    with sqlite3.connect(place.state) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def read_only(place: Place) -> None:
    place.out.mkdir(mode=0o500)


def closed_state(place: Place) -> None:
    place.state.parent.mkdir(mode=0o500)


def unreadable(place: Place) -> None:
    written(place.manifests, bad="a: 1\n")
    (place.manifests / "bad.yaml").chmod(0)


def link(place: Place) -> None:
    (place.folder / "real").mkdir()
    place.out.symlink_to(place.folder / "real")


def link_inside(place: Place) -> None:
    (place.folder / "real").mkdir()
    place.out.mkdir(mode=0o700)
    (place.out / "default").symlink_to(place.folder / "real")


def theirs(place: Place) -> None:
    place.out.mkdir()
    os.chown(place.out, 65534, 65534)


def their_secret(place: Place) -> None:
    folder = place.out / "default" / "good"
    folder.mkdir(parents=True, mode=0o700)
    os.chown(folder, 65534, 65534)


def settings(place: Place) -> None:
    file = place.folder / "settings.yaml"
    file.write_text("fileMode: 640\nworkers: none\nworker: 1\n")
    place.more = ["--config", str(file)]


def no_settings(place: Place) -> None:
    place.more = ["--config", str(place.folder / "nowhere.yaml")]


def nowhere(place: Place) -> None:
    place.manifests = place.folder / "nowhere"


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PLAIN_ONLY = pytest.mark.skipif(not can_be_plain(), reason="needs root and setpriv")


@pytest.mark.parametrize(
    ("spoil", "code", "parts", "plain"),
    [
        pytest.param(
            garbage, 3, ["state.db: the state file is damaged (move it away"], False, id="state corrupt"
        ),
        pytest.param(newer, 3, ["by a newer version", "(run that version"], False, id="state newer"),
        pytest.param(
            closed_state, 3, ["Permission denied (let the user"], True, id="state", marks=PLAIN_ONLY
        ),
        pytest.param(
            read_only, 3, ["permission denied (let the user"], True, id="read-only", marks=PLAIN_ONLY
        ),
        pytest.param(unreadable, 2, ["bad.yaml: error: cannot be read"], True, id="unread", marks=PLAIN_ONLY),
        pytest.param(link, 3, ["is a symbolic link (name the folder"], False, id="target a link"),
        pytest.param(link_inside, 1, ["is in the way", "move it away"], False, id="namespace a link"),
        pytest.param(theirs, 3, ["another user (uid 65534) (give it"], False, id="theirs", marks=ROOT_ONLY),
        pytest.param(
            their_secret, 1, ["good: the folder belongs"], False, id="their secret", marks=ROOT_ONLY
        ),
        pytest.param(
            settings,
            2,
            [".yaml:1: fileMode: is no", ".yaml:2: workers: ", ".yaml:3: worker: "],
            False,
            id="settings",
        ),
        pytest.param(
            no_settings, 2, ["nowhere.yaml: cannot be read", "(correct the path)"], False, id="no settings"
        ),
        pytest.param(
            nowhere, 2, ["nowhere: error: there is no such file or folder (correct"], False, id="no manifests"
        ),
    ],
)
def test_bad_surroundings(
    tmp_path: Path,
    manifests: Path,
    spoil: Callable[[Place], None],
    code: int,
    parts: list[str],
    plain: bool,  # noqa: FBT001  # a column
) -> None:
    place = Place(tmp_path, manifests)
    spoil(place)
    found, told = place.sync(plain=plain)
    assert found == code, told
    for part in parts:
        assert part in told
    real = tmp_path / "real"
    assert not real.exists() or not list(real.iterdir()), "nothing is written through a link"


@pytest.mark.parametrize("which", ["port", "socket too long", "socket is a file"])
def test_the_daemon_cannot_be_asked(tmp_path: Path, manifests: Path, which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (tmp_path / "file").write_text("x")
        more, part = {
            "port": (["--listen", f"127.0.0.1:{taken.getsockname()[1]}"], "another process listens there"),
            "socket too long": (["--set", f"socket={tmp_path}/{'x' * 120}"], "longer than 107 bytes (choose"),
            "socket is a file": (["--set", f"socket={tmp_path}/file"], "is not a socket (remove it"),
        }[which]
        with daemon(tmp_path, manifests, *more, ready=False) as process:
            assert process.process.wait(60) == 3
    assert part in process.stderr
    tame(process.stderr)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """An output folder on a disk of 64 KiB."""
    folder = tmp_path / "out"
    folder.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "syncret-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root, and a machine that lets it mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_the_last_good_set_whole(small_disk: Path, manifests: Path) -> None:
    def sync(**values: str) -> "subprocess.CompletedProcess[str]":
        written(manifests, **{"a-good": external("good", *values) + "---\n" + store(**values)})
        state = small_disk.parent / "state.db"
        return syncret("sync", "-f", manifests, "--output-dir", small_disk, "--state", state)

    assert sync(k="v1", small="a").returncode == 0
    before = faces(small_disk)
    full = sync(k="v2", small="b", large="v" * 100_000)
    assert full.returncode == 1
    assert "no space is left on the file system" in full.stdout
    assert "free some space; the last complete set stays in place" in full.stdout
    tame(full.stdout + full.stderr)
    assert files(small_disk) == {"default/good/k": "v1", "default/good/small": "a"}
    assert faces(small_disk).keys() == before.keys(), "nothing half written is left"
    assert sync(k="v3").returncode == 0
    assert files(small_disk) == {"default/good/k": "v3"}


@pytest.mark.parametrize(
    ("key", "told", "made"),
    [
        pytest.param("../../etc/passwd", "must not be '.' or begin with '..'", set[str](), id="way out"),
        pytest.param("..", "must not be '.' or begin with '..'", set[str](), id="parent"),
        pytest.param("k" * 300, "has length 300 but max is 253", set[str](), id="long"),
        pytest.param("/etc/passwd", "secret synced", {"_etc_passwd", "fine"}, id="absolute"),
        pytest.param("a/b", "secret synced", {"a_b", "fine"}, id="slash"),
        pytest.param("a\0b", "secret synced", {"a_b", "fine"}, id="NUL"),
    ],
)
def test_a_key_of_a_secret_manager_is_no_way_out(
    tmp_path: Path, manifests: Path, key: str, told: str, made: set[str]
) -> None:
    whole = json.dumps(json.dumps({key: CANARY, "fine": CANARY}))
    bad = external("bad", store="other", more="  dataFrom: [{extract: {key: whole}}]\n")
    written(manifests, b=bad + "---\n" + store("other", whole=whole))
    done = syncret("sync", "-f", manifests, "--output-dir", tmp_path / "deep" / "out")
    assert done.returncode == (0 if made else 1)
    assert told in done.stdout
    tame(done.stdout + done.stderr)
    assert set(files(tmp_path / "deep")) == {
        "out/default/good/k",
        *(f"out/default/bad/{name}" for name in made),
    }


def test_an_invalid_manifest_is_seen_wherever_one_looks(tmp_path: Path) -> None:
    typo = external("inv", "k").replace("1h", "1hour")
    manifests = written(tmp_path / "manifests", store=store(k=CANARY), good=external("good", "k"), inv=typo)
    place = f"{manifests / 'inv.yaml'}:5"
    with daemon(tmp_path, manifests) as running:
        for arguments in (("status",), ("status", "--failing")):
            shown = running.ask(*arguments)
            assert shown.returncode == 1
            assert "1 failing" in shown.stdout.splitlines()[0]
            assert "inv" in shown.stdout
        explained = running.ask("explain", "es/inv").stdout
        assert f"InvalidManifest, {place}: spec.refreshInterval:" in explained
        assert running.get("/readyz") == f"ok\n1 manifest is invalid: {place}\n"
        assert (
            running.metric("syncret_manifests_invalid", file=str(manifests / "inv.yaml"), reason="invalid")
            == 1
        )

        (manifests / "inv.yaml").write_text(typo.replace("1hour", "1h"))
        running.until(lambda: running.get("/readyz") == "ok\n", "corrected")
        running.until(lambda: running.ask("status").returncode == 0, "in order")
        failing = running.ask("status", "--failing")
        assert failing.stdout.splitlines()[1:] == ["", "nothing is failing"]

        (manifests / "inv.yaml").write_text(typo)
        running.until(
            lambda: running.ask("status").returncode == 1, "seen, though the last version is in force"
        )
        assert "its manifest is invalid: spec.refreshInterval:" in running.ask("status", "--failing").stdout
        assert "the last valid version is in force" in running.ask("explain", "es/inv").stdout


def test_a_bad_template_is_told_with_its_very_line_wherever_one_looks(tmp_path: Path) -> None:
    text = "|\n          first\n          {{ .k | toBase64 }}"
    target = f"target:\n    template:\n      data:\n        url: {text}"
    bad = external("bad", "k").replace("target: {}", target)
    manifests = written(tmp_path / "manifests", store=store(k=CANARY), bad=bad)
    file = manifests / "bad.yaml"
    line = bad[: bad.index("toBase64")].count("\n") + 1
    with daemon(tmp_path, manifests) as running:
        assert running.status("bad")["manifest"] == f"{file}:{line}"
        assert f"{file}:{line}" in running.ask("status", "-o", "wide").stdout
        explained = running.ask("explain", "es/bad").stdout
        assert f"{file}:{line}" in explained
        assert "did you mean b64enc?" in explained
        assert f'"manifest": "{file}:{line}"' in running.stderr or f"manifest={file}:{line}" in running.stderr

        (tmp_path / "moved").write_text("# one line more\n" + bad)
        (tmp_path / "moved").rename(file)
        running.until(lambda: running.status("bad")["manifest"] == f"{file}:{line + 1}", "the line has moved")
    assert CANARY not in running.stderr
