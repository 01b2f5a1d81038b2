"""Host names as DNS knows them."""

from contextlib import suppress


def in_ascii(host: str) -> str:
    """An international name encoded, any other unchanged. Empty if it cannot be encoded.

    Python's own codec, of IDNA 2003, would make another name of some: strasse of straße.
    """
    if host.isascii():
        return host
    from idna import encode  # takes 10 ms to import, and few need it

    with suppress(UnicodeError):
        return encode(host, uts46=True).decode("ascii")
    return ""
