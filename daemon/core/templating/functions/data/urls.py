"""URLs as in Go's net/url (urlParse, urlJoin), and paths (base, dir, clean, ext, isAbs).

The `os` variants of the path functions are the same as the others on Linux.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.functions.text.layout import normal
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import Value, bytes_of, text_of

_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_IN_PATH: Final = _UNRESERVED | frozenset(b"$&+,/:;=@")
_IN_HOST: Final = _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")
_IN_USER: Final = _UNRESERVED | frozenset(b"$&+,;=")
_IN_FRAGMENT: Final = _UNRESERVED | frozenset(b"$&+,/:;=?@!()*")
_IN_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+\-.]*):")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})?")
_ESCAPED_PERCENT: Final = b"25"
_ASCII_END: Final = 0x80
_FIELDS: Final = ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo")


@dataclass(frozen=True)
class _User:
    name: str
    password: str | None = None

    def text(self) -> str:
        password = "" if self.password is None else ":" + _escaped(self.password, _IN_USER)
        return _escaped(self.name, _IN_USER) + password


def url_parse(address: str) -> dict[str, Value]:
    rest, _, fragment = normal(address).partition("#")
    if _CONTROL.search(rest):
        raise _parse_error()
    fields: dict[str, Value] = dict.fromkeys((*_FIELDS, "hostname"), "")
    fields["fragment"] = _unescaped(fragment)
    if rest == "*":
        return {**fields, "path": "*"}
    found = _SCHEME.match(rest)
    if rest.startswith(":"):
        raise _parse_error()
    scheme = found[1].lower() if found else ""
    rest, _, query = rest[found.end() if found else 0 :].partition("?")
    fields |= {"scheme": scheme, "query": query}
    if not rest.startswith("/"):
        if scheme:
            return {**fields, "opaque": rest}
        if ":" in rest.partition("/")[0]:
            raise _parse_error()
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
        user, host = _authority(scheme, authority)
        fields |= {"host": host, "hostname": _hostname(host), "userinfo": user.text() if user else ""}
    return {**fields, "path": _unescaped(rest)}


def _authority(scheme: str, authority: str) -> tuple[_User | None, str]:
    userinfo, at, host = authority.rpartition("@")
    host = _host(scheme, host)
    if not at:
        return None, host
    if not _IN_USERINFO.fullmatch(userinfo):
        raise _parse_error()
    name, colon, password = userinfo.partition(":")
    return _User(_unescaped(name), _unescaped(password) if colon else None), host


def _host(scheme: str, host: str) -> str:
    opening = host.rfind("[")
    if opening > 0:
        raise _parse_error()
    if opening == 0:
        return _ipv6_host(host)
    first, last = host.find(":"), host.rfind(":")
    if first >= 0:
        # Only with another scheme than http and https may a host have several colons.
        colon = first if scheme in {"http", "https"} else last
        if not _PORT.fullmatch(host[colon:]):
            raise _parse_error()
    return _unescaped_host(host)


def _ipv6_host(host: str) -> str:
    """Check an IPv6 address in brackets, with its port."""
    closing = host.rfind("]")
    port = host[closing + 1 :]
    if closing < 0 or not _PORT.fullmatch(port):
        raise _parse_error()
    address, percent, zone = host[1:closing].partition("%25")
    literal = _unescaped_host(address) + (_unescaped_host(percent + zone, zone=True) if percent else "")
    bare, mark, name = literal.partition("%")
    try:
        ipaddress.IPv6Address(bare)
    except ValueError:
        raise _parse_error() from None
    if mark and not name:
        raise _parse_error()
    return f"[{literal}]{port}"


def _hostname(host: str) -> str:
    colon = host.rfind(":")
    if colon >= 0 and _PORT.fullmatch(host[colon:]):
        host = host[:colon]
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def url_join(fields: dict[str, Value] | None) -> str:
    given = {name: _field(fields or {}, name) for name in _FIELDS}
    user = _user(given["userinfo"]) if given["userinfo"] else None
    host, path = given["host"], given["path"]
    joined = f"{given['scheme']}:" if given["scheme"] else ""
    if given["opaque"]:
        joined += given["opaque"]
    else:
        if (host or user or given["scheme"]) and (host or path or user):
            joined += "//"
        joined += f"{user.text()}@" if user else ""
        joined += _escaped(host, _IN_HOST)
        path = path if path == "*" else _escaped(path, _IN_PATH)
        if path and not path.startswith("/") and host:
            joined += "/"
        if not joined and ":" in path.partition("/")[0]:
            joined += "./"
        joined += path
    joined += f"?{given['query']}" if given["query"] else ""
    return joined + (f"#{_escaped(given['fragment'], _IN_FRAGMENT)}" if given["fragment"] else "")


def _field(fields: dict[str, Value], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise FunctionError(f"{name} is not a string")
    return normal(value)


def _user(userinfo: str) -> _User | None:
    address = f"{userinfo}@host"
    url_parse(f"proto://{address}")
    # The user ends at the first slash, question mark or number sign.
    return _authority("proto", re.split(r"[/?#]", address, maxsplit=1)[0])[0]


def _escaped(text: str, allowed: frozenset[int]) -> str:
    return "".join(chr(byte) if byte in allowed else f"%{byte:02X}" for byte in bytes_of(text))


def _unescaped(text: str) -> str:
    data = bytes_of(text)
    if b"%" not in data:
        return text

    def decode(found: "re.Match[bytes]") -> bytes:
        if found[1] is None:
            raise _parse_error()
        return bytes.fromhex(found[1].decode())

    return text_of(_ESCAPE.sub(decode, data))


def _unescaped_host(text: str, *, zone: bool = False) -> str:
    """Unescape a host, in which only non-ASCII characters may be escaped; in an IPv6 zone also others."""
    data = bytes_of(text)
    for found in _ESCAPE.finditer(data):
        digits = found[1]
        if digits is None or digits == _ESCAPED_PERCENT:
            continue
        byte = int(digits, 16)
        fine = byte == ord(" ") or byte in _IN_HOST if zone else byte >= _ASCII_END
        if not fine:
            raise _parse_error()
    if any(byte < _ASCII_END and byte not in _IN_HOST and byte != ord("%") for byte in data):
        raise _parse_error()
    return _unescaped(text)


def _parse_error() -> FunctionError:
    return FunctionError("unable to parse url")


def base(path: str) -> str:
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


def clean(path: str) -> str:
    """The shortest equivalent path, without `.` and without `..` after a name."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part != "..":
            kept.append(part)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not rooted:
            kept.append(part)
    return ("/" if rooted else "") + "/".join(kept) or "."


def directory(path: str) -> str:
    return clean(path[: path.rfind("/") + 1])


def ext(path: str) -> str:
    _, dot, extension = path.rpartition("/")[2].rpartition(".")
    return dot + extension if dot else ""


def is_abs(path: str) -> bool:
    return path.startswith("/")


FUNCTIONS: Final[FunctionTable] = table(
    {
        "base": base,
        "clean": clean,
        "dir": directory,
        "ext": ext,
        "isAbs": is_abs,
        "osBase": base,
        "osClean": clean,
        "osDir": directory,
        "osExt": ext,
        "osIsAbs": is_abs,
        "urlJoin": url_join,
        "urlParse": url_parse,
    }
)
