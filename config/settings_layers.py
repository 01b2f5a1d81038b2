"""Loads the settings: defaults < file < environment < command line; reports all problems at once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.errors import ConfigError, Problem
from syncret.config.fields import Json
from syncret.config.settings import Setting, Settings, describe, type_of
from syncret.config.spelling import did_you_mean
from syncret.config.text.yaml import load_mapping

_PLAIN_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
_OCTAL: Final = re.compile(r"(0o?)?[0-7]{1,4}")
_ADDRESS: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%a-z]+\]|[^:\[\]]*):(?P<port>[0-9]{1,5})")
_HINTS: Final = {
    "duration": "write a duration such as 30s or 1h30m",
    "mode": 'write a mode in octal and in quotes, such as "0640"',
    "paths": "write a list of files and folders",
    "listen": "write 127.0.0.1:9847, or :9847 for every interface",
}


class LayerValue(NamedTuple):
    """A value from one layer; `origin` is the file, variable or flag it comes from."""

    origin: str
    name: str
    value: Any
    line: int = 0


class Address(NamedTuple):
    """Where to listen; an empty host means every interface."""

    host: str
    port: int


def load_settings(file: Path | None, environ: Mapping[str, str], flags: Iterable[LayerValue]) -> Settings:
    """The effective settings. Raises ConfigError: each problem names the file and line, variable or flag."""
    known = {setting.name: setting for setting in describe()}
    given, problems = ([], []) if file is None else _from_file(file)
    given += _from_environ(environ, known.values())
    given += flags
    values: dict[str, Any] = {}
    origins: dict[str, LayerValue] = {}
    for each in given:
        setting = known.get(each.name)
        if setting is None:
            problems.append(_problem(each, "there is no such setting", did_you_mean(each.name, list(known))))
        elif each.value is not None:
            try:
                values[setting.attribute] = _converted(setting, each.value)
                origins[setting.attribute] = each
            except (msgspec.ValidationError, ValueError) as error:
                hint = (
                    _HINTS.get(setting.name)
                    or _HINTS.get(setting.syntax)
                    or _choices(setting)
                    or setting.meaning
                )
                problems.append(_problem(each, str(error), hint))
    settings = Settings(**values)
    problems += _contradictions(settings, origins)
    if problems:
        raise ConfigError(problems)
    return settings


def address_of(listen: str) -> Address:
    """Host and port of `listen`: `127.0.0.1:9847`, `:9847`, `[::1]:9847`. Raises ValueError."""
    match = _ADDRESS.fullmatch(listen)
    if match is None or int(match["port"]) > 65535:  # noqa: PLR2004  # the largest port
        raise ValueError("is not an address and port")
    return Address(match["host"].strip("[]"), int(match["port"]))


def _from_file(file: Path) -> tuple[list[LayerValue], list[Problem]]:
    loaded = load_mapping(file)
    origin = str(file)
    problems = [
        _problem(LayerValue(origin, each.path, None, each.line), each.message, each.hint)
        for each in loaded.problems
    ]
    given = [LayerValue(origin, name, value, loaded.lines.of(name)) for name, value in loaded.value.items()]
    return given, problems


def _from_environ(environ: Mapping[str, str], settings: Iterable[Setting]) -> Iterator[LayerValue]:
    """The settings among the variables; Kubernetes sets others with the prefix, which are ignored."""
    for setting in settings:
        if setting.variable in environ:
            yield LayerValue(setting.variable, setting.name, environ[setting.variable])


def _converted(setting: Setting, value: Json) -> Json:
    """One value converted to its type; texts of the environment and of flags are converted leniently."""
    lenient = isinstance(value, str)
    if setting.syntax == "duration" and isinstance(value, str):
        value = float(value) if _PLAIN_NUMBER.fullmatch(value) else _duration(value)
    elif setting.syntax == "mode":
        if not (isinstance(value, str) and _OCTAL.fullmatch(value)):
            # YAML reads 0640 as 416 and 640 as 640: a bare number does not say which was meant.
            raise ValueError("is not a file mode")
        value = int(value.removeprefix("0o"), 8)
    elif setting.syntax == "paths" and isinstance(value, str):
        value = [part for part in value.split(":") if part]
    elif setting.name == "listen" and value and isinstance(value, str):
        address_of(value)
    try:
        return msgspec.convert(value, type_of(setting.attribute), strict=not lenient)
    except msgspec.ValidationError as error:
        raise ValueError(_lowered(str(error))) from None


def _choices(setting: Setting) -> str:
    """The hint for a setting whose value is one of a few words."""
    return f"write one of {setting.syntax}" if ", " in setting.syntax else ""


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except DurationError as error:
        raise ValueError(str(error).removeprefix("time: ")) from None


def _contradictions(settings: Settings, origins: Mapping[str, LayerValue]) -> Iterator[Problem]:
    if settings.retry_min > settings.retry_max:
        unset = LayerValue("default", "", None)
        given = origins.get("retry_max") or origins.get("retry_min") or unset
        message = f"retryMin ({settings.retry_min:g}s) is longer than retryMax ({settings.retry_max:g}s)"
        yield _problem(given._replace(name=""), message)


def _problem(given: LayerValue, message: str, hint: str = "") -> Problem:
    where = f"{given.origin}:{given.line}" if given.line else given.origin
    named = not given.name or given.origin.endswith(given.name)  # as in `--listen`
    name = "" if named else f"{given.name}: "
    return Problem(path=where, message=f"{name}{message}", hint=hint, line=given.line)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
