"""The targets to which a Delivery writes a set of files."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from syncret.config.fields import Model, Rule, exactly_one
from syncret.config.resources.delivery.texts import (
    Account,
    CredentialName,
    FileName,
    Mode,
    PlacePath,
    UnitPattern,
    Variable,
)


class DirectoryTarget(Model):
    """A folder with a file for each key, replaced as one set.

    Example: {path: /srv/syncret/tls}
    """

    path: PlacePath
    """Folder that holds the set and nothing else; folders above it must belong to root or the daemon.
    Example: /srv/syncret/tls"""
    mode: Mode = "0400"
    """Permissions of each file, in octal. Example: '0440'"""
    directory_mode: Mode = ""
    """Permissions of the folder; by default 0700, and users who may read a file may enter. Example: '0750'"""
    owner: Account = ""
    """User that the files belong to, by name or number; any but the daemon's needs the root profile.
    Example: nginx"""
    group: Account = ""
    """Group of the files, by name or number; the daemon must be in it, or have the root profile.
    Example: ssl-cert"""
    layout: Literal["swap", "links"] = "swap"
    """swap exchanges the whole folder; links leads through `..data` as kubelet does, for programs that watch.
    Example: links"""
    only: tuple[FileName, ...] = ()
    """The files of the set that go here; by default all. Example: [server.pem, server.key]"""
    adopt: bool = False
    """Whether what another tool left at the path is taken over; otherwise it is refused."""


class FileTarget(Model):
    """One file: a key as it is, or a template that is rendered from all keys.

    Example: {path: /srv/syncret/pgpass, key: pgpass}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("key", "template"),)

    path: PlacePath
    """The file; folders above it must belong to root or the daemon. Example: /srv/syncret/pgpass"""
    key: FileName = ""
    """The file of the set that it is a copy of. Example: pgpass"""
    template: str = ""
    """Go template that it is rendered from; data are the files of the set by name.
    Example: 'db:5432:*:app:{{ .pgpassword }}'"""
    mode: Mode = "0400"
    """Permissions of the file, in octal. Example: '0440'"""
    owner: Account = ""
    """User that the file belongs to, by name or number; any but the daemon's needs the root profile.
    Example: postgres"""
    group: Account = ""
    """Group of the file, by name or number; the daemon must be in it, or have the root profile.
    Example: postgres"""
    adopt: bool = False
    """Whether a file that another tool left at the path is taken over; otherwise it is refused."""


class EnvFileTarget(Model):
    """A file of variables, one for each key; a value that its format cannot hold refuses the whole file.

    Example: {path: /run/syncret/app/env}
    """

    path: PlacePath
    """The file; folders above it must belong to root or the daemon. Example: /run/syncret/app/env"""
    format: Literal["systemd", "shell", "dotenv", "docker"] = "systemd"
    """Who reads it: EnvironmentFile= of systemd, a shell, a dotenv library, or `docker run --env-file`.
    Example: shell"""
    prefix: Annotated[str, Meta(extra={"pattern": r"^([A-Za-z_][A-Za-z0-9_]*)?$"}, max_length=64)] = ""
    """What is put before each name that `names` does not give. Example: APP_"""
    names: dict[FileName, Variable] = {}
    """Names of variables by file; the others are made from the name of the file.
    Example: {pgpassword: PGPASSWORD}"""
    case: Literal["upper", "keep"] = "upper"
    """upper writes names in capitals, with `_` for `-` and `.`; keep takes those of the files.
    Example: keep"""
    mode: Mode = "0400"
    """Permissions of the file, in octal. Example: '0440'"""
    owner: Account = ""
    """User that the file belongs to, by name or number; any but the daemon's needs the root profile.
    Example: app"""
    group: Account = ""
    """Group of the file, by name or number; the daemon must be in it, or have the root profile.
    Example: app"""
    adopt: bool = False
    """Whether a file that another tool left at the path is taken over; otherwise it is refused."""


class CredentialTarget(Model):
    """Files for LoadCredentialEncrypted= of systemd, one for each credential.

    Example: {names: {password: db-password}}
    """

    names: Annotated[dict[FileName, CredentialName], Meta(min_length=1, max_length=64)]
    """The credential that each file of the set becomes. Example: {password: db-password}"""
    path: PlacePath = ""
    """Folder of the credentials; by default /etc/credstore.encrypted, or /run/credstore without encryption.
    Example: /srv/syncret/credstore"""
    encrypt: Literal["auto", "host", "tpm2", "host+tpm2", "none"] = "auto"
    """The key that systemd seals it with; auto: that of the host, and the TPM if there is one.
    Example: host"""


class SocketTarget(Model):
    """Credentials that units ask for at their start, by LoadCredential= with the path of the daemon's socket.

    Example: {units: [app.service], names: {password: db-password}}
    """

    units: Annotated[tuple[UnitPattern, ...], Meta(min_length=1, max_length=32)]
    """The units that may ask; `name@*.service` is every instance. Example: [app.service]"""
    names: Annotated[dict[FileName, CredentialName], Meta(min_length=1, max_length=64)]
    """The credential that each file of the set becomes. Example: {password: db-password}"""


class DeliveryTarget(Model):
    """One place that the set is delivered to.

    Example: {directory: {path: /srv/syncret/tls}}
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        exactly_one("directory", "file", "envFile", "systemdCredential", "socket"),
    )

    directory: DirectoryTarget | None = None
    """A folder with a file for each key."""
    file: FileTarget | None = None
    """One file."""
    env_file: EnvFileTarget | None = None
    """A file of variables."""
    systemd_credential: CredentialTarget | None = None
    """Files for LoadCredentialEncrypted=."""
    socket: SocketTarget | None = None
    """Credentials that units ask for at their start."""
