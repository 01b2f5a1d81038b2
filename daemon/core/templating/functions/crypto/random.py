"""Random strings, bytes and UUIDs, and shuffle; the context supplies the randomness."""

import base64
import string
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.layout import runes
from syncret.daemon.core.templating.golang.errors import FunctionError

_LETTERS: Final = string.ascii_letters
_DIGITS: Final = string.digits
_ASCII: Final = "".join(map(chr, range(ord(" "), 127)))
_BYTE_VALUES: Final = 256
_CHARACTER_SIZE: Final = 80
"""Of a text of one."""

_UUID_GROUPS: Final = (slice(0, 8), slice(8, 12), slice(12, 16), slice(16, 20), slice(20, 32))


def below(context: Context, bound: int) -> int:
    """A uniformly distributed number from 0 up to, but not including, the bound."""
    size = (bound.bit_length() + 7) // 8
    limit = (1 << (8 * size)) // bound * bound
    while True:
        number = int.from_bytes(context.random(size), "big")
        if number < limit:
            return number % bound


def _choose(context: Context, alphabet: str, count: int) -> str:
    if count <= 0:
        return ""
    context.budget.make(2 * count)
    limit = _BYTE_VALUES // len(alphabet) * len(alphabet)
    chosen: list[str] = []
    while len(chosen) < count:
        drawn = context.random(count - len(chosen))
        chosen.extend(alphabet[byte % len(alphabet)] for byte in drawn if byte < limit)
    return "".join(chosen)


def rand_alpha_num(context: Context, count: int) -> str:
    return _choose(context, _LETTERS + _DIGITS, count)


def rand_alpha(context: Context, count: int) -> str:
    return _choose(context, _LETTERS, count)


def rand_numeric(context: Context, count: int) -> str:
    return _choose(context, _DIGITS, count)


def rand_ascii(context: Context, count: int) -> str:
    return _choose(context, _ASCII, count)


def rand_bytes(context: Context, count: int) -> str:
    if count < 0:
        raise FunctionError("the count is negative")
    context.budget.make(3 * count)
    return base64.b64encode(context.random(count)).decode()


def shuffle(context: Context, text: str) -> str:
    context.budget.take(10 * len(text), _CHARACTER_SIZE * len(text))
    characters = list(runes(text))
    for place in range(len(characters) - 1, 0, -1):
        other = below(context, place + 1)
        characters[place], characters[other] = characters[other], characters[place]
    return "".join(characters)


def uuidv4(context: Context) -> str:
    number = int.from_bytes(context.random(16), "big")
    number = number & ~(0xF << 76) | 0x4 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    digits = f"{number:032x}"
    return "-".join(digits[group] for group in _UUID_GROUPS)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "randAlpha": rand_alpha,
        "randAlphaNum": rand_alpha_num,
        "randAscii": rand_ascii,
        "randBytes": rand_bytes,
        "randNumeric": rand_numeric,
        "shuffle": shuffle,
        "uuidv4": uuidv4,
    }
)
