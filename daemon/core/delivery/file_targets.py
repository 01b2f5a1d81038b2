"""What each file and folder of a Delivery is to hold, with its owner and mode.

The credentials that units ask for are a folder, too: a private one, which the credential socket serves.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from syncret.config.meta import ObjectRef
from syncret.config.resources.delivery.credentials import credential_folder
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.targets import (
    CredentialTarget,
    EnvFileTarget,
    FileTarget,
    SocketTarget,
)
from syncret.daemon.core.delivery.assemble import SetFile, SourceMissing, Unfit, chosen
from syncret.daemon.core.delivery.credentials import credentials
from syncret.daemon.core.delivery.env_file import env_file
from syncret.daemon.core.delivery.names import Inexpressible, variable_names

Layout: TypeAlias = Literal["file", "swap", "links"]
Render: TypeAlias = Callable[[str, str, Mapping[str, bytes]], bytes]
"""Renders a template: the name of its field, its text, the data. Raises SyncError."""

ALONE = ""
"""The name of the content of a target that is one file."""


class WantedTarget(Struct, frozen=True, kw_only=True):
    """One target with its content."""

    path: str
    layout: Layout
    files: Mapping[str, bytes]
    mode: int
    folder_mode: int
    owner: str
    group: str
    adopt: bool
    sort: str = "file"
    """The kind of target, for status and messages."""
    named: str = ""
    """Its name in messages, if that is not its path."""
    entry: int = 0
    """Number of the entry that it comes from; one entry may be several files."""
    sealed_by: str = ""
    """The key that systemd seals the file with; empty if it is not sealed."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.named or self.path

    def __repr__(self) -> str:
        return f"<WantedTarget {self.path}: {', '.join(self.files)}>"


def file_targets(
    spec: DeliverySpec, files: Mapping[str, SetFile], delivery: ObjectRef, render: Render, own: str = ""
) -> list[WantedTarget]:
    """All targets, in order. Raises SourceMissing, Unfit, and what `render` raises.

    `own` is the folder for what the daemon keeps for this Delivery itself.
    """
    contents: list[Mapping[str, bytes]] = []
    for number, target in enumerate(spec.to):
        at = f"spec.to[{number}]"
        if target.directory is not None:
            contents.append(_within(f"{at}.directory.only", files, target.directory.only))
        if target.file is not None:
            contents.append({ALONE: _file(f"{at}.file", target.file, files, render)})
        if target.env_file is not None:
            contents.append({ALONE: _env_file(f"{at}.envFile", target.env_file, files, delivery)})
        if target.systemd_credential is not None:
            sealed = credentials(f"{at}.systemdCredential", target.systemd_credential.names, files)
            contents += [{ALONE: content} for content in sealed.values()]
        if target.socket is not None:
            contents.append(credentials(f"{at}.socket", target.socket.names, files))
    targets = bare_targets(spec, own)
    return [replace(each, files=content) for each, content in zip(targets, contents, strict=True)]


def bare_targets(spec: DeliverySpec, own: str = "") -> list[WantedTarget]:
    """The same targets without their contents."""
    wanted: list[WantedTarget] = []
    for number, target in enumerate(spec.to):
        if target.directory is not None:
            each = target.directory
            wanted.append(
                WantedTarget(
                    path=each.path,
                    layout=each.layout,
                    files={},
                    mode=int(each.mode, 8),
                    folder_mode=int(each.directory_mode or "0", 8) or folder_mode(each.mode),
                    owner=each.owner,
                    group=each.group,
                    adopt=each.adopt,
                    sort="directory",
                    entry=number,
                )
            )
        files = (target.file, target.env_file)
        wanted += [_alone(each, number) for each in files if each is not None]
        if target.systemd_credential is not None:
            wanted += _sealed(target.systemd_credential, number)
        if target.socket is not None:
            wanted.append(_asked_for(f"{own}/{number}", target.socket, number))
    return wanted


def folder_mode(mode: str) -> int:
    """The mode of a folder whose files have this mode: users who may read a file may enter."""
    return 0o700 | (int(mode, 8) & 0o044) >> 2


def _within(at: str, files: Mapping[str, SetFile], only: Sequence[str]) -> dict[str, bytes]:
    try:
        return chosen(files, only)
    except SourceMissing as error:
        raise SourceMissing(f"{at}: {error}") from None


def _alone(target: FileTarget | EnvFileTarget, entry: int) -> WantedTarget:
    return WantedTarget(
        path=target.path,
        layout="file",
        files={},
        mode=int(target.mode, 8),
        folder_mode=0,
        owner=target.owner,
        group=target.group,
        adopt=target.adopt,
        entry=entry,
    )


def _sealed(target: CredentialTarget, entry: int) -> list[WantedTarget]:
    """A file for each credential, which only root, and so systemd, can read."""
    return [
        WantedTarget(
            path=f"{credential_folder(target)}/{name}",
            layout="file",
            files={},
            mode=0o600,
            folder_mode=0,
            owner="",
            group="",
            adopt=False,
            sort="systemdCredential",
            entry=entry,
            sealed_by="" if target.encrypt == "none" else target.encrypt,
        )
        for name in target.names.values()
    ]


def _asked_for(path: str, target: SocketTarget, entry: int) -> WantedTarget:
    return WantedTarget(
        path=path,
        layout="swap",
        files={},
        mode=0o400,
        folder_mode=0o700,
        owner="",
        group="",
        adopt=True,
        sort="socket",
        named=",".join(target.units),
        entry=entry,
    )


def _file(at: str, target: FileTarget, files: Mapping[str, SetFile], render: Render) -> bytes:
    if target.key:
        return _within(f"{at}.key", files, [target.key])[target.key]
    return render(f"{at}.template", target.template, {name: each.content for name, each in files.items()})


def _env_file(at: str, target: EnvFileTarget, files: Mapping[str, SetFile], delivery: ObjectRef) -> bytes:
    missing = sorted(target.names.keys() - files.keys())
    if missing:
        raise SourceMissing(f'{at}.names: no source gives "{missing[0]}"')
    try:
        names = variable_names(files, target.names, case=target.case, prefix=target.prefix)
        variables = {file: (name, files[file].content) for file, name in names.items()}
        comment = f"written by syncret; Delivery {delivery.namespace}/{delivery.name}"
        return env_file(target.format, variables, comment=comment)
    except Inexpressible as error:
        raise Unfit(f"{at}: {error} ({error.hint})") from None
