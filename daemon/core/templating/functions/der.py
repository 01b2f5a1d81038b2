"""The few pieces of DER that a PKCS#12 file is written with."""

_LONG_FORM = 0x80


def element(tag: int, content: bytes) -> bytes:
    """One element: tag, length, content."""
    size = len(content)
    if size < _LONG_FORM:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, _LONG_FORM | len(length)]) + length + content


def sequence(*members: bytes) -> bytes:
    return element(0x30, b"".join(members))


def set_of(*members: bytes) -> bytes:
    return element(0x31, b"".join(sorted(members)))


def integer(number: int) -> bytes:
    return element(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def octets(data: bytes) -> bytes:
    return element(0x04, data)


def null() -> bytes:
    return element(0x05, b"")


def explicit(number: int, content: bytes) -> bytes:
    """An element in the context-specific tag of this number."""
    return element(0xA0 | number, content)


def implicit(number: int, data: bytes) -> bytes:
    return element(0x80 | number, data)


def object_id(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    content = bytearray()
    for arc in (40 * first + second, *rest):
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(0x80 | (arc & 0x7F))
        content += bytes(reversed(groups))
    return element(0x06, bytes(content))
