"""A value that must be shown nowhere, and whether it is: also encoded, and in the middle of something."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Final

NEEDLE: Final = "Kanarienvogel4711"
CANARY: Final = f"{NEEDLE}???"
"""Wherever it stands in what is encoded, a mark makes `/` in base64 and `_` in the url-safe one."""
ENCODED: Final = b64encode(CANARY.encode()).decode()


def forms() -> Iterator[tuple[str, bytes]]:
    """How the canary may look, by name."""
    yield "plain", NEEDLE.encode()
    yield "hex", NEEDLE.encode().hex().encode()
    yield "HEX", NEEDLE.encode().hex().upper().encode()
    for name, encode in (("base64", b64encode), ("url-safe base64", urlsafe_b64encode)):
        for before in range(3):
            # of what stands around it, the first and the last character may tell: they are cut off
            whole = encode(b"\0" * before + CANARY.encode())
            yield f"{name} after {before} bytes", whole[4 if before else 0 : -4]


FORMS: Final = dict(forms())


def seen(content: bytes | str) -> list[str]:
    """In which forms the canary stands in it."""
    data = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    return [name for name, form in FORMS.items() if form in data]


def leaks(place: str, content: bytes | str) -> list[str]:
    """As `seen`, each with the lines that tell."""
    data = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    return [
        f"{place}: {name}: {line[:400]!r}"
        for name in seen(data)
        for line in data.splitlines() or [data]
        if FORMS[name] in line
    ]
