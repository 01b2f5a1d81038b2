"""What the targets of a Delivery are to hold."""

from collections.abc import Mapping
from typing import Literal

import pytest

from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.targets import (
    CredentialTarget,
    DeliveryTarget,
    DirectoryTarget,
    EnvFileTarget,
    FileTarget,
    SocketTarget,
)
from syncret.config.resources.kinds import DELIVERY
from syncret.daemon.core.delivery.assemble import SetFile, SourceMissing, Unfit
from syncret.daemon.core.delivery.file_targets import ALONE, WantedTarget, file_targets, folder_mode

FILES = {
    "pguser": SetFile(content=b"app", source="Secret/db", key="user"),
    "tls.key": SetFile(content=b"one\ntwo", source="Secret/tls", key="tls.key"),
}
WEB = DELIVERY.ref("shop", "web")


def rendered(field: str, text: str, data: Mapping[str, bytes]) -> bytes:
    return f"{field} {text} {sorted(data)}".encode()


def wanted(*targets: DeliveryTarget) -> list[WantedTarget]:
    return file_targets(DeliverySpec(sources=(), to=targets), FILES, WEB, rendered)


def test_a_folder_holds_all_files_or_some() -> None:
    whole, part = wanted(
        DeliveryTarget(directory=DirectoryTarget(path="/a", mode="0440", layout="links")),
        DeliveryTarget(
            directory=DirectoryTarget(path="/b", only=("pguser",), directory_mode="0755", adopt=True)
        ),
    )
    assert (whole.files, whole.layout) == ({"pguser": b"app", "tls.key": b"one\ntwo"}, "links")
    assert (whole.mode, whole.folder_mode, whole.adopt) == (0o440, 0o710, False)
    assert (part.files, part.mode, part.folder_mode, part.adopt) == ({"pguser": b"app"}, 0o400, 0o755, True)


def test_a_file_is_a_copy_or_a_template() -> None:
    copy, template = wanted(
        DeliveryTarget(file=FileTarget(path="/a", key="pguser", owner="app", group="users")),
        DeliveryTarget(file=FileTarget(path="/b", template="x")),
    )
    assert (copy.files, copy.layout, copy.owner, copy.group) == ({ALONE: b"app"}, "file", "app", "users")
    assert template.files == {ALONE: b"spec.to[1].file.template x ['pguser', 'tls.key']"}


def test_an_env_file_has_a_variable_for_each_file() -> None:
    (target,) = wanted(
        DeliveryTarget(env_file=EnvFileTarget(path="/e", prefix="X_", names={"pguser": "PGUSER"}))
    )
    assert target.files == {
        ALONE: b'# written by syncret; Delivery shop/web\nPGUSER="app"\nX_TLS_KEY="one\ntwo"\n'
    }


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        pytest.param(
            DeliveryTarget(env_file=EnvFileTarget(path="/e", format="docker")),
            Unfit,
            'spec.to[0].envFile: key "tls.key" has a line feed, which format docker cannot hold '
            "(use format: systemd, or a directory)",
            id="a value that the format cannot hold",
        ),
        pytest.param(
            DeliveryTarget(env_file=EnvFileTarget(path="/e", names={"no": "NO"})),
            SourceMissing,
            'spec.to[0].envFile.names: no source gives "no"',
            id="a variable without a file",
        ),
        pytest.param(
            DeliveryTarget(file=FileTarget(path="/e", key="no")),
            SourceMissing,
            'spec.to[0].file.key: no source gives "no"',
            id="a file without a key",
        ),
        pytest.param(
            DeliveryTarget(directory=DirectoryTarget(path="/e", only=("no",))),
            SourceMissing,
            'spec.to[0].directory.only: no source gives "no"',
            id="a folder without a file",
        ),
    ],
)
def test_what_cannot_be_made_says_where(target: DeliveryTarget, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        wanted(target)
    assert str(caught.value) == message


def test_credentials_to_be_asked_for_are_a_folder_of_our_own() -> None:
    socket = DeliveryTarget(socket=SocketTarget(units=("a.service", "b@*.service"), names={"pguser": "u"}))
    (target,) = file_targets(DeliverySpec(sources=(), to=(socket,)), FILES, WEB, rendered, "/own")
    assert (target.path, target.name, target.sort) == ("/own/0", "a.service,b@*.service", "socket")
    assert (target.files, target.mode, target.folder_mode) == ({"u": b"app"}, 0o400, 0o700)


@pytest.mark.parametrize(
    ("encrypt", "folder"), [("host", "/etc/credstore.encrypted"), ("none", "/run/credstore")]
)
def test_credentials_that_systemd_loads_are_files_of_root_alone(
    encrypt: Literal["host", "none"], folder: str
) -> None:
    names = {"pguser": "u", "tls.key": "k"}
    one, other = wanted(DeliveryTarget(systemd_credential=CredentialTarget(names=names, encrypt=encrypt)))
    assert (one.path, one.files, one.mode) == (f"{folder}/u", {ALONE: b"app"}, 0o600)
    assert (other.path, other.files) == (f"{folder}/k", {ALONE: b"one\ntwo"})
    assert one.sealed_by == ("host" if encrypt == "host" else "")
    assert one.entry == other.entry


def test_a_target_does_not_show_its_content() -> None:
    (target,) = wanted(DeliveryTarget(file=FileTarget(path="/a", key="tls.key")))
    assert "one" not in repr(target)


@pytest.mark.parametrize(
    ("mode", "expected"), [("0400", 0o700), ("0440", 0o710), ("0444", 0o711), ("640", 0o710)]
)
def test_who_may_read_a_file_may_enter_its_folder(mode: str, expected: int) -> None:
    assert folder_mode(mode) == expected
