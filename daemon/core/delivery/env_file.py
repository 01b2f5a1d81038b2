"""Writes env files in four formats, quoted so that their readers get every byte back.

If a format cannot hold one value, the whole file is refused: without one variable an application would start
with a wrong default.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from syncret.daemon.core.delivery.names import Inexpressible

Format: TypeAlias = Literal["systemd", "shell", "dotenv", "docker"]

LONGEST_VARIABLE: Final = 131_071
"""Bytes of `NAME=value` that Linux passes to a program."""

LARGEST_FILE: Final = 1 << 20
_LONGEST_DOCKER_LINE: Final = (1 << 16) - 2
"""Bytes of a line without its end: Docker's reader takes lines of less than 64 KiB."""

_NONCHARACTERS: Final = re.compile(
    "[\ufdd0-\ufdef"
    + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_ESCAPED_BY_SYSTEMD: Final = re.compile(rb'[\\"$`]')
_QUOTES: Final = (b'"', b"'")
_NOT_IN_DOUBLE_QUOTES: Final = (b'"', b"\\", b"$", b"`")


class _Format(NamedTuple):
    """How a format writes a variable, and why it cannot hold a value, or ""."""

    line: Callable[[str, bytes], bytes]
    fault: Callable[[str, bytes], str]
    instead: str
    """The format or target to use for such a value."""


def env_file(kind: Format, variables: Mapping[str, tuple[str, bytes]], *, comment: str) -> bytes:
    """The content of a file with these variables, by key: the name and the value. Raises Inexpressible.

    Lines are in order of the names, below one comment.
    """
    form = _FORMATS[kind]
    lines = [f"# {comment}".encode()]
    for key, (name, value) in sorted(variables.items(), key=lambda item: item[1][0]):
        check_variable(key, name, value)
        fault = form.fault(name, value)
        if fault:
            raise Inexpressible(key, f"has {fault}, which format {kind} cannot hold", f"use {form.instead}")
        lines.append(form.line(name, value))
    content = b"".join(line + b"\n" for line in lines)
    if len(content) > LARGEST_FILE:
        raise Inexpressible(
            "", f"the file has {len(content):,} bytes; at most {LARGEST_FILE:,} are read", "use a directory"
        )
    return content


def check_variable(key: str, name: str, value: bytes) -> None:
    """Raise Inexpressible for a value that cannot be an environment variable."""
    if b"\0" in value:
        raise Inexpressible(key, "has a NUL character, which no variable can hold", "use a directory")
    size = len(name) + 1 + len(value)
    if size > LONGEST_VARIABLE:
        raise Inexpressible(
            key,
            f"has {size:,} bytes with its name; a variable can hold {LONGEST_VARIABLE:,}",
            "use a directory",
        )


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _systemd_line(name: str, value: bytes) -> bytes:
    return b'%s="%s"' % (name.encode(), _ESCAPED_BY_SYSTEMD.sub(rb"\\\g<0>", value))


def _systemd_fault(_name: str, value: bytes) -> str:
    text = _text(value)
    if text is None:
        return "bytes that are no UTF-8"
    return "a character that Unicode reserves" if _NONCHARACTERS.search(text) else ""


def _shell_line(name: str, value: bytes) -> bytes:
    return b"export %s='%s'" % (name.encode(), value.replace(b"'", rb"'\''"))


def _no_fault(_name: str, _value: bytes) -> str:
    return ""


def _dotenv_line(name: str, value: bytes) -> bytes:
    return (b'%s="%s"' if b"'" in value else b"%s='%s'") % (name.encode(), value)


def _dotenv_fault(_name: str, value: bytes) -> str:
    faults = {
        "bytes that are no UTF-8": _text(value) is None,
        "a carriage return": b"\r" in value,
        "`${`": b"${" in value,
    }
    if b"'" in value:
        faults["`'` beside one of `\"`, `\\`, `$` and a backtick"] = any(
            each in value for each in _NOT_IN_DOUBLE_QUOTES
        )
    else:
        faults["two backslashes in a row, or one at the end"] = b"\\\\" in value or value.endswith(b"\\")
    return next((fault for fault, found in faults.items() if found), "")


def _docker_line(name: str, value: bytes) -> bytes:
    return name.encode() + b"=" + value


def _docker_fault(name: str, value: bytes) -> str:
    faults = {
        "a line feed": b"\n" in value,
        "a carriage return at the end": value.endswith(b"\r"),
        "bytes that are no UTF-8": _text(value) is None,
        "the same quote at both ends": value[:1] in _QUOTES and value.endswith(value[:1]),
        "64 KiB or more": len(_docker_line(name, value)) > _LONGEST_DOCKER_LINE,
    }
    return next((fault for fault, found in faults.items() if found), "")


_FORMATS: Final[Mapping[Format, _Format]] = {
    "systemd": _Format(_systemd_line, _systemd_fault, "a directory"),
    "shell": _Format(_shell_line, _no_fault, "a directory"),
    "dotenv": _Format(_dotenv_line, _dotenv_fault, "format: shell, or a directory"),
    "docker": _Format(_docker_line, _docker_fault, "format: systemd, or a directory"),
}
