"""The rules of a Delivery beyond types: where it may deliver to, what may be combined, and how long.

What only the host knows (the owner of a folder, whether a mode is enough) is checked when it is delivered.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from syncret.config.catalog import Catalog
from syncret.config.durations import parse_duration
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.config.paths import join, write
from syncret.config.resources.delivery.credentials import credential_folder, credential_problems, distinct
from syncret.config.resources.delivery.delivery import Delivery, DeliverySource, DeliverySpec
from syncret.config.resources.delivery.local import problem_of_address, problem_of_url
from syncret.config.resources.delivery.steps import DeliveryCheck
from syncret.config.resources.delivery.targets import DeliveryTarget

_FILE_NAME: Final = re.compile(r"(?!\.\.|\.$)[-._a-zA-Z0-9]{1,253}").fullmatch
_NEVER: Final = ("/proc", "/sys", "/dev")
_OTHERS_WRITE: Final = 0o002
_OTHERS_READ: Final = 0o004


class Place(NamedTuple):
    """A path that a Delivery writes to, and the field that says so."""

    field: str
    path: str


def check(delivery: Delivery, _catalog: Catalog) -> Iterator[Problem]:
    """All rules that can be checked without the host."""
    spec = delivery.spec
    yield from _sources(spec)
    for place in places_of(spec):
        yield from _unusable(place)
    yield from _overlapping(places_of(spec))
    for number, target in enumerate(spec.to):
        yield from _target(f"spec.to[{number}]", target)
    yield from credential_problems(spec)
    yield from _steps(spec)
    yield from _spans(spec)


def commands_of(spec: DeliverySpec) -> list[str]:
    """The fields that run or reload something, or give credentials to units."""
    steps = {"spec.check": spec.check, "spec.reload": spec.reload, "spec.healthy": spec.healthy}
    asked = [f"spec.to[{number}].socket" for number, to in enumerate(spec.to) if to.socket is not None]
    return [path for path, step in steps.items() if step is not None] + asked


def places_of(spec: DeliverySpec) -> list[Place]:
    """Every path that is written to, as in the manifest."""
    places: list[Place] = []
    for number, target in enumerate(spec.to):
        at = f"spec.to[{number}]"
        if target.directory is not None:
            places.append(Place(f"{at}.directory.path", target.directory.path))
        if target.file is not None:
            places.append(Place(f"{at}.file.path", target.file.path))
        if target.env_file is not None:
            places.append(Place(f"{at}.envFile.path", target.env_file.path))
        if target.systemd_credential is not None:
            folder = credential_folder(target.systemd_credential)
            names = target.systemd_credential.names.values()
            places += [Place(f"{at}.systemdCredential.names", f"{folder}/{name}") for name in names]
    return places


def chosen_keys(source: DeliverySource) -> dict[str, str] | None:
    """The file of each key that the source names; None for all of them."""
    keys: Json = source.keys
    if keys is None:
        return None
    named: dict[str, str] = keys if is_object(keys) else {key: key for key in keys}
    return {key: source.prefix + file for key, file in named.items()}


def overlap(one: str, other: str) -> bool:
    """Whether two paths are the same, or one is inside the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _sources(spec: DeliverySpec) -> Iterator[Problem]:
    from_: dict[str, str] = {}
    for number, source in enumerate(spec.sources):
        at = f"spec.sources[{number}]"
        wrong = list(_keys(f"{at}.keys", source))
        yield from wrong
        if wrong:
            continue
        name = f"Secret/{source.secret}" if source.secret else f"ConfigMap/{source.config_map}"
        for file in (chosen_keys(source) or {}).values():
            if file in from_:
                yield Problem(
                    path=at,
                    message=f'"{file}" already comes from {from_[file]}',
                    hint="rename it with keys, or give a prefix",
                )
            from_.setdefault(file, name)


def _keys(path: str, source: DeliverySource) -> Iterator[Problem]:
    keys: Json = source.keys
    if keys is None:
        return
    if source.selector is not None:
        yield Problem(path=path, message="is not for a selector", hint="use prefix")
        return
    if not (is_object(keys) or is_list(keys)):
        yield Problem(path=path, message="must be a list of keys, or a map of keys to names of files")
        return
    named: list[tuple[str, Json]] = [*keys.items()] if is_object(keys) else [(str(key), key) for key in keys]
    if not named:
        yield Problem(path=path, message="names no key", hint="leave it out for all keys")
    for key, file in named:
        if not _is_file_name(key) or not _is_file_name(file) or not _is_file_name(f"{source.prefix}{file}"):
            yield Problem(
                path=join(path, write([key])) if is_object(keys) else path,
                message="a key and the name of its file have 1 to 253 letters, digits, '-', '_' and '.'",
                hint="and do not begin with '..'",
            )


def _is_file_name(name: Json) -> bool:
    return isinstance(name, str) and _FILE_NAME(name) is not None


def _unusable(place: Place) -> Iterator[Problem]:
    path = place.path
    why = {
        "it is not absolute": not path.startswith("/"),
        "it is the root of the file system": path.strip("/") == "",
        "it leads through '.' or '..', or has '//' or '/' at the end": path != posixpath.normpath(path),
        "it contains a NUL character": "\0" in path,
        "it belongs to the kernel": any(overlap(path, each) for each in _NEVER),
    }
    for reason, found in why.items():
        if found:
            yield Problem(path=place.field, message="not a place to deliver to", hint=reason)
            return


def _overlapping(places: Sequence[Place]) -> Iterator[Problem]:
    for number, place in enumerate(places):
        for other in places[:number]:
            if overlap(place.path, other.path):
                yield Problem(
                    path=place.field,
                    message=f"is, or is inside, or holds the path of {other.field}",
                    hint="give each target a path of its own",
                )


def _target(at: str, target: DeliveryTarget) -> Iterator[Problem]:
    files = {"directory": target.directory, "file": target.file, "envFile": target.env_file}
    for name, each in files.items():
        if each is not None:
            yield from _mode(f"{at}.{name}.mode", each.mode)
    if target.directory is not None and target.directory.directory_mode:
        yield from _mode(f"{at}.directory.directoryMode", target.directory.directory_mode)
    if target.env_file is not None:
        yield from distinct(f"{at}.envFile.names", target.env_file.names.values())


def _mode(path: str, mode: str) -> Iterator[Problem]:
    bits = int(mode, 8)
    if bits & _OTHERS_WRITE:
        yield Problem(path=path, message="everybody could write to it", hint="write 0640, for example")
    elif bits & _OTHERS_READ:
        yield Problem(
            path=path,
            message="everybody on this host can read it",
            hint="give it a group instead",
            severity=Severity.WARNING,
        )


def _steps(spec: DeliverySpec) -> Iterator[Problem]:
    commands = {
        "check": None if spec.check is None else spec.check.exec,
        "reload": None if spec.reload is None else spec.reload.exec,
        "healthy": None if spec.healthy is None else spec.healthy.exec,
    }
    for step, command in commands.items():
        if command is None:
            continue
        if not command[0].startswith("/"):
            yield Problem(
                path=f"spec.{step}.exec[0]", message="must be an absolute path", hint="no PATH is searched"
            )
        if step != "check":
            yield from _placeholders(f"spec.{step}.exec", command, "only a check sees a staged set")
    if spec.check is not None:
        yield from _check(spec, spec.check)
    yield from _addresses(spec)
    if spec.reload is not None and spec.reload.action != "reload" and not spec.reload.unit:
        yield Problem(
            path="spec.reload.action", message="is for a unit", hint="name the unit, or leave it out"
        )


def _addresses(spec: DeliverySpec) -> Iterator[Problem]:
    """Problems of addresses that are not those of a server on this host."""
    urls = {
        "spec.reload.http.url": None if spec.reload is None else spec.reload.http,
        "spec.healthy.http.url": None if spec.healthy is None else spec.healthy.http,
    }
    wrong = {path: problem_of_url(each.url) for path, each in urls.items() if each is not None}
    tls = None if spec.healthy is None else spec.healthy.tls
    if tls is not None:
        wrong["spec.healthy.tls.address"] = problem_of_address(tls.address)
    for path, problem in wrong.items():
        if problem:
            yield Problem(path=path, message=problem, hint="such as 127.0.0.1:443, or unix: and a path")


def _check(spec: DeliverySpec, step: DeliveryCheck) -> Iterator[Problem]:
    command = step.exec or ()
    if step.view == "mounted":
        yield from _placeholders("spec.check.exec", command, "the set is at its live path with view: mounted")
        if step.unit:
            yield Problem(
                path="spec.check.view", message="is for exec", hint="use BindReadOnlyPaths= in the unit"
            )
    if step.user and step.unit:
        yield Problem(path="spec.check.user", message="is for exec", hint="use User= in the unit")
    for argument in command:
        for number in re.findall(r"\{staged:([0-9]+)\}", argument):
            if not 1 <= int(number) <= len(spec.to):
                yield Problem(
                    path="spec.check.exec",
                    message=f"there is no target {number}",
                    hint=f"targets are numbered from 1 to {len(spec.to)}",
                )


def _placeholders(path: str, command: Sequence[str], hint: str) -> Iterator[Problem]:
    if any("{staged}" in argument or "{staged:" in argument for argument in command):
        yield Problem(path=path, message="has no use for {staged}", hint=hint)


class _Bounds(NamedTuple):
    field: str
    value: str
    least: str
    most: str


def _spans(spec: DeliverySpec) -> Iterator[Problem]:
    spans = [
        _Bounds("spec.debounce.quiet", spec.debounce.quiet, "0s", "5m"),
        _Bounds("spec.debounce.atMost", spec.debounce.at_most, spec.debounce.quiet, "1h"),
        _Bounds("spec.minInterval", spec.min_interval, "0s", "24h"),
        _Bounds("spec.keepOld", spec.keep_old, "1s", "10m"),
    ]
    if spec.check is not None:
        spans.append(_Bounds("spec.check.timeout", spec.check.timeout, "1s", "5m"))
    if spec.reload is not None:
        spans.append(_Bounds("spec.reload.timeout", spec.reload.timeout, "1s", "15m"))
    if spec.healthy is not None:
        spans.append(_Bounds("spec.healthy.within", spec.healthy.within, "1s", "10m"))
        spans.append(_Bounds("spec.healthy.stableFor", spec.healthy.stable_for, "0s", "1m"))
    for each in spans:
        if not parse_duration(each.least) <= parse_duration(each.value) <= parse_duration(each.most):
            yield Problem(path=each.field, message=f"must be {each.least} to {each.most}")
