"""The host home put together: from settings and a registry to a home whose manifests are judged."""

import os
from collections.abc import Callable, Sequence
from grp import getgrnam
from hashlib import blake2b
from pwd import getpwnam

import msgspec

from syncret.config.decode import Judge, Judged
from syncret.config.errors import ConfigError, Problem
from syncret.config.loader import LoadedDocument, load_bytes
from syncret.config.meta import Document, ObjectRef, is_object, ref_of
from syncret.config.settings import Settings
from syncret.daemon.backends.filesystem.home import HostHome, HostSettings
from syncret.daemon.backends.filesystem.manifests import FileContent, FileProblem, Manifest, Parse
from syncret.daemon.backends.filesystem.tree import OutputSettings
from syncret.daemon.backends.memory.admission import admission_by
from syncret.providers.registry import Registry


def host_home(
    settings: Settings,
    registry: Registry,
    *,
    now: Callable[[], float],
    on_problems: Callable[[Sequence[FileProblem]], None],
    dry: bool = False,
) -> HostHome:
    """A host home as the settings want it. Raises ConfigError for an owner or group that does not exist."""
    chosen = HostSettings(
        manifests=settings.manifests,
        output_dir=settings.output_dir or None,
        state_file=settings.state_file or None,
        output=OutputSettings(
            folder_mode=settings.folder_mode,
            file_mode=settings.file_mode,
            uid=_number(settings.owner, "owner", lambda name: getpwnam(name).pw_uid),
            gid=_number(settings.group, "group", lambda name: getgrnam(name).gr_gid),
            fsync=settings.fsync,
        ),
        credentials=os.environ.get("CREDENTIALS_DIRECTORY"),
        rescan=settings.rescan_interval,
        dry=dry,
    )
    return HostHome(
        chosen,
        parse=manifest_parser(registry),
        admission=admission_by(registry),
        now=now,
        on_problems=on_problems,
    )


def manifest_parser(registry: Registry) -> Parse:
    """Reads the bytes of one file and judges every document in it."""
    judge = Judge(registry)

    def parse(file: str, data: bytes) -> FileContent:
        manifests: list[Manifest] = []
        problems: list[Problem] = []
        refused: list[ObjectRef] = []
        torn = False
        for loaded in load_bytes(file, data):
            judged = Judged() if loaded.document is None else judge.judge(loaded.document)
            problems += _problems(loaded, judged)
            if judged.accepted and judged.document is not None and not _any_fatal(loaded.problems):
                manifests.append(_manifest(loaded, judged.document))
            elif (ref := _name_of(judged.document)) is not None:
                refused.append(ref)
            else:
                torn = True
        return FileContent(manifests, problems, refused, torn=torn)

    return parse


def _problems(loaded: LoadedDocument, judged: Judged) -> Sequence[Problem]:
    found = [*loaded.problems, *judged.problems]
    return loaded.located(found if judged.foreign is None else [*found, judged.foreign])


def _any_fatal(problems: Sequence[Problem]) -> bool:
    return any(problem.fatal for problem in problems)


def _manifest(loaded: LoadedDocument, document: Document) -> Manifest:
    digest = blake2b(msgspec.json.encode(document, order="sorted"), digest_size=16).hexdigest()
    return Manifest(ref_of(document), document, loaded.file, loaded.line, digest)


def _name_of(document: Document | None) -> ObjectRef | None:
    """What a refused document is called, if it says so."""
    if document is None or not is_object(document.get("metadata")):
        return None
    texts = (document.get("apiVersion"), document.get("kind"), document["metadata"].get("name"))
    return ref_of(document) if all(isinstance(text, str) and text for text in texts) else None


def _number(name: str, field: str, look_up: Callable[[str], int]) -> int | None:
    """The id of a user or group given by name or number; None where nothing is asked for."""
    if not name:
        return None
    if name.isdecimal():
        return int(name)
    try:
        return look_up(name)
    except KeyError:
        problem = Problem(
            path=field, message=f"there is no {name!r} on this host", hint="create it, or write its number"
        )
        raise ConfigError([problem]) from None
