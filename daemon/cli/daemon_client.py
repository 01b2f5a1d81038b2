"""The client of the control socket; it uses only the standard library, so that commands start fast."""

import json
import os
import socket
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Final, cast

from syncret.config.visible import printable_json
from syncret.daemon.cli.exit_codes import FAILED, INVALID, UNUSABLE
from syncret.daemon.cli.parser.options import DEFAULT_NAMESPACE, DEFAULTS
from syncret.daemon.cli.terminal import print_error

ANSWER_TIMEOUT: Final = 10.0
"""Seconds without data after which a daemon counts as hanging."""

MAX_SOCKET_PATH: Final = 107
"""Bytes that Linux allows for the path of a Unix socket."""

_OK: Final = 200
_VARIABLE: Final = "SYNCRET_SOCKET"

FOR_CLUSTERS: Final = {"all_namespaces": "-A", "context": "--context", "wait": "--wait"}
"""Flags without a meaning to a daemon, by their attributes."""

Answer = dict[str, Any]


class CommandError(Exception):
    """The daemon does not answer, or refuses the request: message, hint and exit code."""

    def __init__(self, message: str, *, hint: str = "", code: int = FAILED) -> None:
        self.hint = hint
        self.code = code
        super().__init__(message)

    def report(self) -> int:
        """Print the error on stderr. Returns the exit code."""
        print_error(self, self.hint)
        return self.code


def request(options: Namespace, method: str, path: str, timeout: float | None = None, **query: str) -> Answer:
    """The daemon's answer. Raises CommandError."""
    for attribute, flag in FOR_CLUSTERS.items():
        if getattr(options, attribute, None):
            raise CommandError(f"{flag} is for a cluster", hint="add --kubernetes", code=INVALID)
    where = socket_of(options)
    if not 0 < len(os.fsencode(where)) <= MAX_SOCKET_PATH:
        what = f"longer than {MAX_SOCKET_PATH} bytes" if where else "there is none"
        hint = "name the daemon's socket with --socket PATH"
        raise CommandError(f"socket {where}: {what}" if where else f"socket: {what}", hint=hint, code=INVALID)
    message = f"{method} {path}?{_query(query)} HTTP/1.0\r\nHost: syncret\r\n\r\n"
    try:
        head, _, body = _exchange(where, message.encode(), timeout or ANSWER_TIMEOUT).partition(b"\r\n\r\n")
        status = int(head.split(None, 2)[1])
        answer = _answer(status, json.loads(body))
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        hint = "start one with `syncret run`, or name its socket with --socket PATH"
        raise CommandError(f"no daemon listens at {where}", hint=hint, code=UNUSABLE) from None
    except PermissionError:
        hint = "ask as the user that runs it, or as root"
        raise CommandError(f"you may not talk to the daemon at {where}", hint=hint, code=UNUSABLE) from None
    except (OSError, ValueError, IndexError) as error:
        hint = "it may still be starting, hang, or be another program: see its log"
        hangs = isinstance(error, TimeoutError | BlockingIOError)  # the latter: the backlog is full
        why = "no answer in time" if hangs else "no sensible answer"
        raise CommandError(f"{where}: {why}", hint=hint, code=UNUSABLE) from None
    if status != _OK:
        raise CommandError(answer["message"], hint=answer["hint"])
    return answer


def _query(parameters: Mapping[str, str]) -> str:
    """The parameters, with each byte of a value percent-encoded: to import `urllib` would take longer."""
    coded = {
        name: "".join(f"%{byte:02x}" for byte in os.fsencode(value)) for name, value in parameters.items()
    }
    return "&".join(f"{name}={value}" for name, value in coded.items())


def request_object(options: Namespace, method: str, path: str) -> Answer:
    """Send a request about the object that the command line names. Raises CommandError."""
    kind, namespace, name = named_object(options)
    return request(options, method, path, kind=kind, name=name, namespace=namespace)


def named_object(options: Namespace, default: str = DEFAULT_NAMESPACE) -> tuple[str, str, str]:
    """Kind, namespace (`default` without one) and name that a command line names. Raises CommandError."""
    words = [word for word in (options.object, options.name) if word is not None]
    shown = " ".join(words)
    match "/".join(words).split("/"):
        case [kind, name] if kind and name:
            return kind, options.namespace or default, name
        case [kind, namespace, name] if kind and namespace and name:
            if options.namespace not in {None, namespace}:
                message = f"{shown} is in another namespace than -n {options.namespace}"
                raise CommandError(message, hint="leave one of them out", code=INVALID)
            return kind, namespace, name
        case _:
            hint = "write KIND/NAME, such as ExternalSecret/database; the namespace goes to -n"
            raise CommandError(f"{shown} names no object", hint=hint, code=INVALID)


def socket_of(options: Namespace) -> str:
    """The path of the control socket in the settings. Raises CommandError.

    The settings are read only if there are others than the socket: that takes longer than to ask the daemon.
    """
    if not (options.config or options.set or any(map(_is_other_setting, os.environ))):
        flag: str | None = options.socket
        return os.environ.get(_VARIABLE, DEFAULTS["socket"]) if flag is None else flag
    from syncret.config.errors import ConfigError
    from syncret.daemon.cli.settings import settings_of

    try:
        return settings_of(options).socket
    except ConfigError as error:
        raise CommandError("; ".join(map(str, error.problems)), code=INVALID) from None


def _is_other_setting(variable: str) -> bool:
    return variable.startswith("SYNCRET_") and variable != _VARIABLE


def print_json(answer: Answer) -> None:
    """Print the answer as JSON."""
    sys.stdout.write(printable_json(json.dumps(answer, indent=2, ensure_ascii=False)) + "\n")


def _answer(status: int, body: object) -> Answer:
    """The body, if it has the form of our daemon's answers. Raises ValueError."""
    answer = cast("Answer", body)
    if not isinstance(body, dict) or (status != _OK and not {"message", "hint"} <= answer.keys()):
        raise ValueError("is none of ours")
    return answer


def _exchange(where: str, request: bytes, timeout: float) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(timeout)
        caller.connect(where)
        caller.sendall(request)
        pieces: list[bytes] = []
        while piece := caller.recv(1 << 16):
            if not (pieces or piece.startswith(b"HTTP/")):
                raise ValueError("speaks no HTTP")
            pieces.append(piece)
    return b"".join(pieces)
