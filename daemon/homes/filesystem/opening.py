"""Opens the home of a host by the settings."""

import os
from collections.abc import Callable, Sequence

from syncret.config.errors import ConfigError, Problem
from syncret.config.settings import Settings
from syncret.daemon.files.accounts import group_id, user_id
from syncret.daemon.homes.contract import HomeProblem
from syncret.daemon.homes.filesystem.home import HostHome, HostSettings
from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.filesystem.state.writer import OnRemoved
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.providers.registry import Registry


def host_home(
    settings: Settings,
    registry: Registry,
    *,
    now: Callable[[], float],
    on_problems: Callable[[Sequence[HomeProblem]], None],
    on_removed: OnRemoved | None = None,
    dry: bool = False,
    once: bool = False,
    allow_empty: bool = False,
) -> HostHome:
    """A host home by the settings; the flags are those of `HostSettings`.

    Raises ConfigError for an owner or group that does not exist.
    """
    chosen = HostSettings(
        manifests=settings.manifest_paths,
        bound=settings.bound_folders,
        output_dir=settings.output_dir or None,
        state_file=settings.state_file or None,
        output=OutputSettings(
            folder_mode=settings.folder_mode,
            file_mode=settings.file_mode,
            uid=_known(user_id, settings.owner, "owner"),
            gid=_known(group_id, settings.group, "group"),
            fsync=settings.fsync,
        ),
        credentials=os.environ.get("CREDENTIALS_DIRECTORY"),
        rescan=settings.rescan_interval,
        deletion_grace=settings.deletion_grace,
        dry=dry,
        once=once,
        allow_empty=allow_empty,
        environment=os.environ,
    )
    return HostHome(
        chosen,
        catalog=registry,
        admission=admission_by(registry),
        now=now,
        on_problems=on_problems,
        on_removed=on_removed,
    )


def _known(look_up: Callable[[str], int | None], name: str, field: str) -> int | None:
    try:
        return look_up(name)
    except KeyError:
        problem = Problem(
            path=field, message=f"there is no {name!r} on this host", hint="create it, or write its number"
        )
        raise ConfigError([problem]) from None
