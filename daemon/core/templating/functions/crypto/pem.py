"""Reads and writes PEM as Go does; filterPEM."""

import base64
from dataclasses import dataclass, field
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.encoding import BadEncoding, decode_base64
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import bytes_of, text_of
from syncret.providers.work import BYTES_PER_STEP

_BEGIN: Final = b"-----BEGIN "
_END: Final = b"\n-----END "
_DASHES: Final = b"-----"
_LINE: Final = 64
_BLOCK_COST: Final = 50


@dataclass(frozen=True)
class Block:
    """One block; `data` is its DER."""

    kind: str
    data: bytes
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def text(self) -> str:
        """The block as PEM."""
        if any(":" in name for name in self.headers):
            raise FunctionError("a header of the PEM block holds a colon")
        body = base64.b64encode(self.data).decode()
        lines = [f"-----BEGIN {self.kind}-----"]
        if self.headers:
            # Proc-Type comes first, the others are sorted.
            names = sorted(self.headers, key=lambda name: (name != "Proc-Type", bytes_of(name)))
            lines += [*(f"{name}: {self.headers[name]}" for name in names), ""]
        lines += (body[start : start + _LINE] for start in range(0, len(body), _LINE))
        return "\n".join([*lines, f"-----END {self.kind}-----\n"])


def encode(kind: str, data: bytes) -> str:
    return Block(kind, data).text()


def decode(data: bytes) -> tuple[Block | None, bytes]:
    """The first block and the data after it; None and all data if there is no block."""
    rest = data
    while True:
        end = rest.find(_END)
        if end < 0:
            return None, data
        begin = rest.rfind(_BEGIN, 0, end)
        if begin < 0 or (begin > 0 and rest[begin - 1 : begin] != b"\n"):
            rest = rest[end + len(_END) :]
            continue
        found = _block(rest, begin, end)
        if found is not None:
            return found
        rest = rest[end + len(_END) :]


def _block(data: bytes, begin: int, end: int) -> tuple[Block, bytes] | None:
    """The block from `begin`, whose body ends at `end`, the line break before its last line."""
    opening, at = _line(data, begin + len(_BEGIN))
    if not opening.endswith(_DASHES):
        return None
    kind = opening.removesuffix(_DASHES)
    headers: dict[str, str] = {}
    while True:
        if at >= len(data):
            return None
        line, following = _line(data, at)
        name, colon, value = line.partition(b":")
        if not colon:
            break
        headers[text_of(name.strip())] = text_of(value.strip())
        at = following
    if headers and at > end:
        return None
    closing, after = _line(data, end + len(_END))
    if closing != kind + _DASHES:
        return None
    try:
        body = decode_base64(text_of(data[at : max(at, end)].translate(None, b" \t")))
    except BadEncoding:
        return None
    return Block(text_of(kind), body, headers), data[after:]


def _line(data: bytes, start: int) -> tuple[bytes, int]:
    """A line without trailing white space, and the start of the next one."""
    end = data.find(b"\n", start)
    after = len(data) if end < 0 else end + 1
    line = data[start : len(data) if end < 0 else end]
    if end >= 0:
        line = line.removesuffix(b"\r")
    return line.rstrip(b" \t"), after


def pay(context: Context, data: bytes) -> None:
    """Pay for reading all blocks of a text, each of which copies what follows it."""
    count = data.count(_BEGIN) + data.count(_END)
    context.budget.step(count * (_BLOCK_COST + len(data) // (2 * BYTES_PER_STEP)))
    context.budget.make(4 * len(data))


def blocks(context: Context, data: bytes) -> tuple[list[Block], bytes]:
    """All blocks, and the data after the last one."""
    pay(context, data)
    found: list[Block] = []
    block, rest = decode(data)
    while block is not None:
        found.append(block)
        block, rest = decode(rest)
    return found, rest


def without_junk(text: str) -> bytes:
    """The text from the first block on; all of it if there is none."""
    data = bytes_of(text)
    return data[max(data.find(b"-----BEGIN"), 0) :]


def filter_pem(context: Context, kind: str, text: str) -> str:
    """The blocks of one kind; its case does not matter."""
    found, rest = blocks(context, without_junk(text))
    wanted = [block for block in found if block.kind.casefold() == kind.casefold()]
    if not wanted and rest:
        raise FunctionError("error filtering pem: found junk")
    return "".join(block.text() for block in wanted)


FUNCTIONS: Final[FunctionTable] = table({"filterPEM": filter_pem})
