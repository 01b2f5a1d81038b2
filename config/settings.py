"""The daemon's own knobs: defaults < settings file < environment < command line, each documented where it stands."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from syncret.config.durations import DurationError, parse_duration
from syncret.config.errors import ConfigError, Problem
from syncret.config.yaml import load_mapping

PREFIX: Final = "SYNCRET_"

Seconds = Annotated[float, Meta(ge=0, extra={"duration": True})]
Count = Annotated[int, Meta(ge=1)]
Mode = Annotated[int, Meta(ge=0, le=0o777, extra={"octal": True})]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Everything that can be set. A duration is written as in Go (`1h30m`), a file mode in octal (`0640`)."""

    manifests: Annotated[tuple[str, ...], Meta(description="Files and folders that hold the manifests.")] = ()
    output_dir: Annotated[
        str, Meta(description="Where Secrets become folders of files: <output>/<namespace>/<name>/<key>.")
    ] = "/run/syncret/secrets"
    state_file: Annotated[
        str,
        Meta(description="The state that survives a restart: status, identities, finalizers; never a value."),
    ] = "/var/lib/syncret/state.db"
    socket: Annotated[
        str,
        Meta(
            description="The unix socket (mode 0600) that status, explain and refresh talk to; empty: none."
        ),
    ] = "/run/syncret/control.sock"
    listen: Annotated[
        str, Meta(description="Address of /metrics, /healthz, /readyz and /status; empty: none.")
    ] = "127.0.0.1:9847"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="How much is logged.")
    ] = "info"
    log_format: Annotated[
        Literal["auto", "console", "json"],
        Meta(description="Console for people, JSON for machines; auto: console on a terminal."),
    ] = "auto"

    file_mode: Annotated[Mode, Meta(description="Mode of each written file.")] = 0o600
    folder_mode: Annotated[Mode, Meta(description="Mode of each written folder.")] = 0o700
    owner: Annotated[
        str, Meta(description="Owner of what is written, by name or number; empty: the daemon's own.")
    ] = ""
    group: Annotated[
        str, Meta(description="Group of what is written, by name or number; empty: the daemon's own.")
    ] = ""
    fsync: Annotated[bool, Meta(description="Force files to disk before they count as written.")] = True
    rescan_interval: Annotated[
        Seconds, Meta(description="How often folders are read again although no event came.")
    ] = 45.0

    workers: Annotated[Count, Meta(description="How many objects are reconciled at the same time.")] = 32
    store_workers: Annotated[
        Count,
        Meta(description="How many of them may belong to one store, so that a slow one cannot take all."),
    ] = 16
    store_interval: Annotated[
        Seconds, Meta(description="How often a store without its own interval is probed.")
    ] = 300.0
    retry_min: Annotated[
        Seconds, Meta(description="Wait before the first retry of an object; doubles from there.")
    ] = 1.0
    retry_max: Annotated[Seconds, Meta(description="Longest wait between retries of an object.")] = 300.0
    spread: Annotated[
        bool,
        Meta(description="Move periodic refreshes to stable slots, so that thousands are not due at once."),
    ] = True
    drain_timeout: Annotated[Seconds, Meta(description="How long a stop waits for what is under way.")] = 20.0

    requests_per_second: Annotated[
        float,
        Meta(
            gt=0,
            description="Provider calls a second and store; `syncret.dev/requests-per-second` overrides.",
        ),
    ] = 50.0
    burst: Annotated[
        Count, Meta(description="Provider calls at once and store; `syncret.dev/burst` overrides.")
    ] = 100
    call_timeout: Annotated[Seconds, Meta(description="Longest time one provider call may take.")] = 30.0
    call_attempts: Annotated[Count, Meta(description="Tries of one provider call that finds no answer.")] = 3
    batch_window: Annotated[
        Seconds, Meta(description="How long a read waits for others to share its call.")
    ] = 0.002
    idle_close: Annotated[Seconds, Meta(description="When a client that nobody used is closed.")] = 900.0

    controller_class: Annotated[
        str,
        Meta(description="Stores and generators that name another class in spec.controller are left alone."),
    ] = "default"
    allow_generic_targets: Annotated[
        bool, Meta(description="Let ExternalSecrets write kinds other than Secret (target.manifest).")
    ] = False


def describe() -> Iterator[tuple[str, str, str, str]]:
    """Name in the file, environment variable, default and meaning of each setting."""
    hints = get_type_hints(Settings, include_extras=True)
    for field in msgspec.structs.fields(Settings):
        text = next((m.description for m in _metas(hints[field.name]) if m.description), "")
        yield field.encode_name, PREFIX + field.name.upper(), _written(hints[field.name], field.default), text


def load_settings(file: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """The settings in force. Raises ConfigError naming the file, variable or flag of every wrong one."""
    problems: list[Problem] = []
    layers: list[tuple[str, Mapping[str, Any]]] = []
    if file is not None:
        document, found = load_mapping(file)
        problems += found
        layers.append((str(file), document))
    names = {field.encode_name: field.name for field in msgspec.structs.fields(Settings)}
    layers.append(("environment", _from_environ(environ, names)))
    layers.append(("command line", {key: value for key, value in flags.items() if value is not None}))
    values: dict[str, Any] = {}
    for origin, layer in layers:
        for name, value in layer.items():
            if name not in names:
                problems.append(
                    Problem(
                        path=name, message=f"{origin}: there is no such setting", hint=_nearest(name, names)
                    )
                )
                continue
            try:
                values[name] = _read(names[name], value)
            except (msgspec.ValidationError, DurationError, ValueError) as error:
                problems.append(Problem(path=name, message=f"{origin}: {error}", hint=_hint(names[name])))
    if problems:
        raise ConfigError(problems)
    return msgspec.convert(values, Settings)


def _from_environ(environ: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    variables = {PREFIX + attribute.upper(): name for name, attribute in names.items()}
    return {variables[key]: value for key, value in environ.items() if key in variables}


def _metas(hint: Any) -> Iterator[Meta]:
    for part in get_args(hint)[1:]:
        if isinstance(part, Meta):
            yield part


def _extra(hint: Any, name: str) -> bool:
    return any(meta.extra and meta.extra.get(name) for meta in _metas(hint))


def _read(attribute: str, value: Any) -> Any:
    """One value as its type wants it; texts (of the environment, of flags) are read leniently."""
    hint = get_type_hints(Settings, include_extras=True)[attribute]
    if _extra(hint, "duration") and isinstance(value, str):
        value = parse_duration(value)
    elif _extra(hint, "octal") and isinstance(value, str):
        value = int(value, 8)
    elif attribute == "manifests" and isinstance(value, str):
        value = [part for part in value.split(":") if part]
    return msgspec.convert(value, hint, strict=not isinstance(value, str))


def _written(hint: Any, default: Any) -> str:
    if _extra(hint, "octal"):
        return f"{default:04o}"
    if _extra(hint, "duration"):
        return f"{default:g}s"
    if isinstance(default, bool):
        return str(default).lower()
    return " ".join(default) if isinstance(default, tuple) else str(default)


def _hint(attribute: str) -> str:
    hint = get_type_hints(Settings, include_extras=True)[attribute]
    if _extra(hint, "duration"):
        return "write a duration such as 30s or 1h30m"
    if _extra(hint, "octal"):
        return 'write a mode in octal and in quotes, such as "0640"'
    return next((meta.description for meta in _metas(hint) if meta.description), "")


def _nearest(name: str, names: Mapping[str, str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  # only a wrong name pays for it

    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]}?" if close else "`syncret run --help` lists the settings"
