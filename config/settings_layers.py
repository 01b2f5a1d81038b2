"""Loads the settings: defaults < file < environment < command line; reports all problems at once.

A setting in a group is nested in the file, and has a dotted name everywhere else: `egress: {allow: [..]}`,
`SYNCRET_EGRESS_ALLOW`, `--set egress.allow=...`. In a text, the elements of a list are separated by commas; a
list of objects, and a map, is written in YAML's flow style: `[{path: /a}, /b]`.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast, get_args

import msgspec

from syncret.config.addresses import address_rule
from syncret.config.durations import DurationError, parse_duration
from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.meta import is_object
from syncret.config.paths import join, write
from syncret.config.servers import server_pattern
from syncret.config.settings import Group, Settings, several_authors
from syncret.config.settings_environment import settings_among, unknown_variables
from syncret.config.settings_table import Setting, describe, plain
from syncret.config.spelling import did_you_mean
from syncret.config.text.yaml import load_mapping, parse_text

G = TypeVar("G", bound=Group)

DEFAULTS: Final = Settings()

_PLAIN_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
_OCTAL: Final = re.compile(r"(0o?)?[0-7]{1,4}")
_ADDRESS: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%a-z]+\]|[^:\[\]]*):(?P<port>[0-9]{1,5})")
_PLACE: Final = re.compile(r"(?P<message>.*) - at `\$(?P<path>.*)`", re.DOTALL)
"""How msgspec says where in a value a mistake is."""

_EGRESS_HINT: Final = "write 10.0.0.0/8, 192.0.2.1, vault.example.com, *.example.com or a group"
_SERVER_HINT: Final = "write https://vault.example.com:8200, or https://*.example.com for any one name below"
_ADDRESSES: Final = {"listen", "healthListen", "webhook.healthzAddr"}
_FLOW: Final = ("[", "{")
_HINTS: Final = {
    "duration": "write a duration such as 30s or 1h30m",
    "mode": 'write a mode in octal and in quotes, such as "0640"',
    "paths": "write a list of files and folders",
    "manifests": "write a list of files and folders, each as PATH or as "
    "{path: PATH, namespaces: [NAME, ...], kinds: [KIND, ...]}",
    "selector": "write labels as for kubectl, such as app=shop,tier in (web,worker)",
    "listen": "write 127.0.0.1:9847, or :9847 for every interface",
    "healthListen": "write 127.0.0.1:8082, or :8082 for every interface",
    "webhook.healthzAddr": "write 127.0.0.1:8081, or :8081 for every interface",
}


class LayerValue(NamedTuple):
    """A value from one layer; `origin` is the file, variable or flag it comes from."""

    origin: str
    name: str
    value: Any
    line_of: Callable[[str], int] | None = None
    """The line of a path in the file."""


class Address(NamedTuple):
    """Where to listen; an empty host means every interface."""

    host: str
    port: int


def load_settings(
    file: Path | None,
    environ: Mapping[str, str],
    flags: Iterable[LayerValue],
    *,
    defaults: Settings = DEFAULTS,
) -> Settings:
    """The effective settings. Raises ConfigError: each problem names the file and line, variable or flag."""
    return load_group(defaults, file, environ, flags, check=_contradictions)


def load_group(
    defaults: G,
    file: Path | None,
    environ: Mapping[str, str],
    flags: Iterable[LayerValue],
    *,
    check: Callable[[G, Mapping[str, LayerValue]], Iterable[Problem]] = lambda _settings, _origins: (),
) -> G:
    """The effective settings of any group. `check` finds contradictions, knowing where each value is from."""
    settings = defaults
    known = {setting.name: setting for setting in describe(type(settings))}
    given, problems = ([], []) if file is None else _from_file(file, known)
    given += (LayerValue(*each) for each in settings_among(environ, known.values()))
    problems += unknown_variables(environ, known.values())
    given += flags
    origins: dict[str, LayerValue] = {}
    for each in given:
        setting, key = _find(each.name, known)
        if setting is None:
            problems.append(_unknown(each, known))
        elif each.value is not None:
            try:
                value = _converted(setting, key, each.value)
            except (msgspec.ValidationError, ValueError) as error:
                problems.append(_invalid(each, setting, str(error)))
            else:
                settings = _replaced(settings, setting.attribute, key, value)
                origins[each.name] = each
    problems += check(settings, origins)
    if problems:
        raise ConfigError(problems)
    return settings


def address_of(listen: str) -> Address:
    """Host and port of `listen`: `127.0.0.1:9847`, `:9847`, `[::1]:9847`. Raises ValueError."""
    match = _ADDRESS.fullmatch(listen)
    if match is None or int(match["port"]) > 65535:  # noqa: PLR2004  # the largest port
        raise ValueError("is not an address and port")
    return Address(match["host"].strip("[]"), int(match["port"]))


def _from_file(file: Path, known: Mapping[str, Setting]) -> tuple[list[LayerValue], list[Problem]]:
    loaded = load_mapping(file)
    origin = str(file)
    problems = [
        Problem(
            path=f"{origin}:{each.line}" if each.line else origin,
            message=f"{each.path}: {each.message}" if each.path else each.message,
            hint=each.hint,
            line=each.line,
        )
        for each in loaded.problems
    ]
    given = [
        LayerValue(origin, name, value, loaded.lines.of) for name, value in _flattened(loaded.value, known)
    ]
    return given, problems


def _find(name: str, known: Mapping[str, Setting]) -> tuple[Setting | None, str]:
    """The setting of this name; or the map and the key if it names an entry of one."""
    if name in known:
        return known[name], ""
    above, _, key = name.rpartition(".")
    setting = known.get(above)
    return (setting, key) if setting is not None and setting.is_map else (None, "")


def _flattened(
    document: Mapping[str, Json], known: Mapping[str, Setting], above: str = ""
) -> Iterator[tuple[str, Json]]:
    """Dotted names and values of what is written; a key that itself has a dot is quoted, and so unknown."""
    for key, value in document.items():
        name = join(above, write((key,)))
        is_group = name not in known and any(each.startswith(f"{name}.") for each in known)
        if is_object(value) and (is_group or (name in known and known[name].is_map)):
            yield from _flattened(value, known, name)
        elif not (is_group and value is None):
            yield name, value


def _converted(setting: Setting, key: str, value: Json) -> Json:
    """One value converted to its type; texts of the environment and of flags are converted leniently."""
    lenient = isinstance(value, str)
    wanted = get_args(plain(setting.type))[1] if key else setting.type
    if setting.syntax == "duration" and isinstance(value, str):
        value = float(value) if _PLAIN_NUMBER.fullmatch(value) else _duration(value)
    elif setting.syntax == "mode":
        if not (isinstance(value, str) and _OCTAL.fullmatch(value)):
            # YAML reads 0640 as 416 and 640 as 640: a bare number does not say which was meant.
            raise ValueError("is not a file mode")
        value = int(value.removeprefix("0o"), 8)
    elif isinstance(value, str) and (setting.is_map or setting.is_list):
        value = _collection(value, ":" if setting.syntax == "paths" else ",")
    elif setting.name in _ADDRESSES and value and isinstance(value, str):
        address_of(value)
    elif isinstance(value, float) and str(value) in setting.syntax.split(", "):
        value = str(value)  # a version, which YAML reads as a number
    return msgspec.convert(value, wanted, strict=not lenient)


def _collection(text: str, separator: str) -> Json:
    """A list or a map from a text."""
    if not text.startswith(_FLOW):
        return [part.strip() for part in text.split(separator) if part.strip()]
    parsed = next(iter(parse_text(text.encode())))
    if parsed.problems:
        raise ValueError(parsed.problems[0].message)
    return parsed.value


def _replaced(group: G, attribute: str, key: str, value: Json) -> G:
    """The group with one attribute, or an entry of a map, replaced; in it or in a group in it."""
    name, _, rest = attribute.partition(".")
    present: Json = getattr(group, name)
    if rest:
        value = _replaced(cast("Group", present), rest, key, value)
    elif key:
        value = {**present, key: value}
    return msgspec.structs.replace(group, **{name: value})


def _unknown(given: LayerValue, known: Mapping[str, Setting]) -> Problem:
    members = [name for name in known if name.startswith(f"{given.name}.")]
    if members:
        return _problem(given, "is a group of settings", f"write one of {', '.join(members)}")
    return _problem(given, "there is no such setting", did_you_mean(given.name, list(known)))


_EXPECTED: Final = re.compile(r"Expected `(?P<types>[\w |]+)`(?:, got `\w+`)?(?P<more>.*)", re.DOTALL)
_TYPES: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "a mapping",
}
"""The names of types in messages."""
_LONGEST: Final = 100
"""The longest pattern, in characters, that is shown in a message."""

_LIMITS: Final = (
    (" of length >= 1", " that is not empty"),
    (" matching regex", " that matches"),
    (" >= ", " of at least "),
    (" <= ", " of at most "),
    (" > ", " above "),
)


def _invalid(given: LayerValue, setting: Setting, error: str) -> Problem:
    place = _PLACE.fullmatch(error)
    path, message = (place["path"], place["message"]) if place else ("", error)
    hint = _HINTS.get(setting.name) or _HINTS.get(setting.syntax) or _choices(setting) or setting.meaning
    return _problem(given, _in_words(message), hint, path)


def _in_words(message: str) -> str:
    """A message of msgspec about a value, in the terms of settings."""
    expected = _EXPECTED.fullmatch(message)
    if expected is None:
        return _lowered(message)
    types = " or ".join(_TYPES.get(each, each) for each in expected["types"].split(" | "))
    more = expected["more"].removesuffix(".0")
    if len(more) > _LONGEST:
        more = " of another form"  # the hint has an example of it
    for limit, words in _LIMITS:
        more = more.replace(limit, words)
    return f"must be {types}{more}"


def _choices(setting: Setting) -> str:
    """The hint for a setting whose value is one of a few words, or a list of them."""
    return (
        f"write {'a' if setting.syntax.startswith('list') else 'one of'} {setting.syntax}"
        if ", " in setting.syntax
        else ""
    )


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except DurationError as error:
        raise ValueError(str(error).removeprefix("time: ")) from None


def _contradictions(settings: Settings, origins: Mapping[str, LayerValue]) -> Iterator[Problem]:
    if settings.retry_min > settings.retry_max:
        unset = LayerValue("default", "", None)
        given = origins.get("retryMax") or origins.get("retryMin") or unset
        message = f"retryMin ({settings.retry_min:g}s) is longer than retryMax ({settings.retry_max:g}s)"
        yield _problem(given, message, named=False)
    yield from _bad_servers(settings, origins)
    election = settings.leader_election
    if 4 * election.renew > election.lease_duration:
        unset = LayerValue("default", "", None)
        given = origins.get("leaderElection.renew") or origins.get("leaderElection.leaseDuration") or unset
        message = f"leaderElection.renew ({election.renew:g}s) is more than a quarter of leaseDuration"
        yield _problem(given, message, "renew it more often, or let it count longer", named=False)
    if settings.kubernetes:
        yield from _meant_for_hosts(origins)
        yield from _of_sidecars(settings, origins)
    seen: dict[str, int] = {}
    for place, path in enumerate(settings.manifest_paths):
        first = seen.setdefault(os.path.normpath(path), place)
        if first != place and several_authors(settings):
            message = f"is the same path as manifests[{first}]"
            hint = "name each path once: it is bound or it is not"
            yield _problem(origins["manifests"], message, hint, f"[{place}]")


def _bad_servers(settings: Settings, origins: Mapping[str, LayerValue]) -> Iterator[Problem]:
    for name, rules in (("egress.allow", settings.egress.allow), ("egress.deny", settings.egress.deny)):
        for index, rule in enumerate(rules):
            try:
                address_rule(rule)
            except ValueError as error:
                yield _problem(origins[name], str(error), _EGRESS_HINT, f"[{index}]")
    for provider, receivers in settings.own_identity.receivers.items():
        for index, receiver in enumerate(receivers):
            url = receiver if isinstance(receiver, str) else receiver.url
            if server_pattern(url) is None:
                name = f"ownIdentity.receivers.{provider}"
                yield _problem(origins[name], "is not a server", _SERVER_HINT, f"[{index}]")


def _meant_for_hosts(origins: Mapping[str, LayerValue]) -> Iterator[Problem]:
    if "manifests" in origins and origins["manifests"].value:  # emptied: the image's own variables
        message = "has no meaning with kubernetes: objects come from the API server"
        yield _problem(origins["manifests"], message, "leave it out")


def _of_sidecars(settings: Settings, origins: Mapping[str, LayerValue]) -> Iterator[Problem]:
    given = origins.get("outputDir")
    if not settings.is_sidecar:
        for name in ("selector", "reportStatus"):
            if name in origins and origins[name].value:
                message = "is for a sidecar in a cluster: with kubernetes and outputDir"
                yield _problem(origins[name], message, "leave it out, or set outputDir")
    elif given is not None:
        if not settings.namespace:
            message = "with kubernetes, files are those of one namespace, and none is named"
            hint = "name it with --namespace, or leave outputDir empty to write Secrets to the API server"
            yield _problem(given, message, hint)
        if settings.leader_election.enabled:
            message = "has no meaning for a sidecar: each one writes files of its own"
            yield _problem(origins["leaderElection.enabled"], message, "leave it out, or outputDir")
        if settings.observe:
            message = "has no meaning for a sidecar: it writes files of its own alone"
            yield _problem(origins["observe"], message, "leave it out, or outputDir")


def _problem(
    given: LayerValue, message: str, hint: str = "", path: str = "", *, named: bool = True
) -> Problem:
    """A problem of a value, or of the value at a path in it."""
    line = given.line_of(given.name + path) if given.line_of else 0
    where = f"{given.origin}:{line}" if line else given.origin
    if not named or (given.origin.endswith(given.name) and not path):  # as in `--listen`
        return Problem(path=where, message=message, hint=hint, line=line)
    return Problem(path=where, message=f"{given.name}{path}: {message}", hint=hint, line=line)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
