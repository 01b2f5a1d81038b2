"""A Secret and its next values, and what is seen of its folder."""

from collections.abc import Callable
from pathlib import Path

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.filesystem.output.root import OutputRoot

DB = ObjectRef("", "Secret", "default", "db")
OLD = {"user": b"anna", "password": b"old"}
NEW = {"user": b"anna", "password": b"new", "host": b"db.example"}

Opener = Callable[..., OutputRoot]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def hidden(output: Path) -> list[str]:
    return [str(path) for path in output.rglob("..*")]
