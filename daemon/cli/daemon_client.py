"""Asks a running daemon over its control socket; the standard library alone will do: it starts fast."""

import json
import os
import socket
import sys
from argparse import Namespace
from typing import Any, Final, cast
from urllib.parse import urlencode

from syncret.config.visible import printable
from syncret.daemon.cli.exit_codes import FAILED, INVALID, UNUSABLE
from syncret.daemon.cli.parser.options import DEFAULTS

PATIENCE: Final = 10.0
"""Seconds without a word after which a daemon counts as hanging."""

LONGEST: Final = 107
"""Bytes of a socket's path: the kernel takes no more."""

_OK: Final = 200

Answer = dict[str, Any]


class CommandError(Exception):
    """The daemon cannot be asked, or will not do it: what is told, what helps, and the exit code."""

    def __init__(self, message: str, *, hint: str = "", code: int = FAILED) -> None:
        self.hint = hint
        self.code = code
        super().__init__(message)

    def report(self) -> int:
        """Say it on stderr. Returns the exit code."""
        told = f"syncret: {self}" + (f" ({self.hint})" if self.hint else "")
        sys.stderr.write(printable(told) + "\n")
        return self.code


def request(options: Namespace, method: str, path: str, **query: str) -> Answer:
    """The daemon's answer. Raises Refusal."""
    where = socket_of(options)
    if not 0 < len(os.fsencode(where)) <= LONGEST:
        what = f"longer than {LONGEST} bytes" if where else "there is none"
        hint = "name the daemon's socket with --socket PATH"
        raise CommandError(f"socket {where}: {what}" if where else f"socket: {what}", hint=hint, code=INVALID)
    request = f"{method} {path}?{urlencode(query)} HTTP/1.0\r\nHost: syncret\r\n\r\n"
    try:
        head, _, body = _exchange(where, request.encode()).partition(b"\r\n\r\n")
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
        hangs = isinstance(error, TimeoutError | BlockingIOError)  # the latter: so many wait for it already
        why = "no answer in time" if hangs else "no sensible answer"
        raise CommandError(f"{where}: {why}", hint=hint, code=UNUSABLE) from None
    if status != _OK:
        raise CommandError(answer["message"], hint=answer["hint"])
    return answer


def ask_about(options: Namespace, method: str, path: str) -> Answer:
    """Ask about the object that the command line names. Raises Refusal."""
    kind, slash, name = options.object.partition("/")
    if not (kind and slash and name) or "/" in name:
        hint = "write KIND/NAME, such as ExternalSecret/database; the namespace goes to -n"
        raise CommandError(f"{options.object} names no object", hint=hint, code=INVALID)
    return request(options, method, path, kind=kind, name=name, namespace=options.namespace)


def socket_of(options: Namespace) -> str:
    """Where to ask: the flag, then the settings. Raises Refusal."""
    if options.socket is not None:
        return str(options.socket)
    if not (options.config or options.set):
        return os.environ.get("SYNCRET_SOCKET") or DEFAULTS["socket"]
    from pathlib import Path

    from syncret.config.errors import ConfigError
    from syncret.config.settings_layers import load_settings
    from syncret.daemon.cli.settings import flags_of

    try:
        file = Path(options.config) if options.config else None
        return load_settings(file, os.environ, flags_of(options)).socket
    except ConfigError as error:
        raise CommandError("; ".join(map(str, error.problems)), code=INVALID) from None


def print_json(answer: Answer) -> None:
    """For machines."""
    sys.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")


def _answer(status: int, told: object) -> Answer:
    """What was told, if a daemon of ours tells it so. Raises ValueError."""
    answer = cast("Answer", told)
    if not isinstance(told, dict) or (status != _OK and not {"message", "hint"} <= answer.keys()):
        raise ValueError("is none of ours")
    return answer


def _exchange(where: str, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(PATIENCE)
        caller.connect(where)
        caller.sendall(request)
        pieces: list[bytes] = []
        while piece := caller.recv(1 << 16):
            if not (pieces or piece.startswith(b"HTTP/")):
                raise ValueError("speaks no HTTP")
            pieces.append(piece)
    return b"".join(pieces)
