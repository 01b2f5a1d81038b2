"""The releases of `/status`: the variant, origin, age and constraints of each sensitive field; no values."""

import asyncio
from collections.abc import AsyncGenerator, Iterator

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.constraints.verdict import violated_keys
from syncret.daemon.ops.view import ObjectView, Running, View, view_of
from syncret.daemon.release.hosted import HostedField, HostedRelease

FIELDS_PER_TURN = 200
"""Fields that are looked at in one turn of the event loop."""


class Origin(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where a value is from: the line of a literal, a key of a Secret, or an entry of a store."""

    manifest: str = ""
    store: str = ""
    path: str = ""
    remote_key: str = ""


class SecretKey(msgspec.Struct, frozen=True):
    """The key that containers refer to."""

    name: str
    key: str


class FieldStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One sensitive field, without its value."""

    path: str
    variant: str
    origin: Origin | None = msgspec.field(name="from")
    ref: SecretKey | None
    ready: bool | None
    """Whether its value is there; None: unknown here."""
    last_good: str | None
    """When its ExternalSecret was confirmed last; of a literal, when its file was written."""
    constraints: str


class ReleaseStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One release; its fields follow."""

    name: str
    namespace: str
    manifest: str


async def pieces(view: View) -> AsyncGenerator[bytes, None]:
    """The items of the list of releases as JSON, in pieces."""
    comma = b""
    for release in view.releases():
        head = ReleaseStatus(name=release.name, namespace=release.namespace, manifest=release.manifest)
        yield comma + msgspec.json.encode(head)[:-1] + b',"secrets":['
        between = b""
        for start in range(0, len(release.fields), FIELDS_PER_TURN):
            fields = release.fields[start : start + FIELDS_PER_TURN]
            rows = [_status(field, release, view.running) for field in fields]
            yield between + b",".join(map(msgspec.json.encode, rows))
            between = b","
            await asyncio.sleep(0)
        yield b"]}"
        comma = b","


def notes(view: View, ref: ObjectRef) -> Iterator[str]:
    """What `explain` shows of an ExternalSecret that is made for a release."""
    for release in view.releases():
        for field in release.fields:
            if field.variant == "k8s-eso" and _external_secret(field, release) == ref:
                status = _status(field, release, view.running)
                key = "" if status.ref is None else status.ref.key
                yield f"key {key} is {field.path} of release {release.name}, constraints {status.constraints}"


def _external_secret(field: HostedField, release: HostedRelease) -> ObjectRef:
    return EXTERNAL_SECRET.ref(release.namespace, "" if field.ref is None else field.ref.name)


def _status(field: HostedField, release: HostedRelease, running: Running) -> FieldStatus:
    reference, origin, constraints = field.reference, None, field.constraints
    ready: bool | None = None
    good: float | None = None
    if field.variant == "literal":
        place = f"{release.file}:{field.line}" if field.line else release.manifest
        origin, ready, good = Origin(manifest=place), True, release.written
    elif reference is not None and reference.source == "k8s":
        origin = Origin(path=reference.path, remote_key=reference.remote_key)
    elif reference is not None:
        origin = Origin(store=release.store, path=reference.path, remote_key=reference.remote_key)
        newest = _view(_external_secret(field, release), running)
        if newest is not None:
            ready, good = newest.ready, newest.good_since
            constraints = _verdict(field, newest)
    return FieldStatus(
        path=field.path,
        variant=field.variant,
        origin=origin,
        ref=None if field.ref is None else SecretKey(*field.ref),
        ready=ready,
        last_good=None if good is None else stamp(good),
        constraints=constraints,
    )


def _view(ref: ObjectRef, running: Running) -> ObjectView | None:
    stored = running.inventory.get(ref)
    return None if stored is None else view_of(stored, running.engine.unreported(ref))


def _verdict(field: HostedField, newest: ObjectView) -> str:
    """The result of the last check of the constraints of one key."""
    condition = newest.constraints_condition
    if field.constraints != "deferred" or condition is None or condition.status == "Unknown":
        return field.constraints
    if condition.status == "True":
        return "satisfied"
    key = "" if field.ref is None else field.ref.key
    return "violated" if key in violated_keys(condition.message) else "satisfied"
