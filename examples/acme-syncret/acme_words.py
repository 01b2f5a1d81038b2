"""A generator of words."""

import secrets
from typing import Annotated

from msgspec import Meta

from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.spec import Model, SpecType
from syncret.providers.values import SecretBytes

WORDS = ("battery", "correct", "horse", "staple")


class Words(Model):
    """How many words."""

    count: Annotated[int, Meta(ge=1, le=16)] = 4
    """How many. Example: 6"""


async def generate(spec: Words, _context: OpenContext) -> Generated:
    words = [secrets.choice(WORDS) for _ in range(spec.count)]
    return Generated({"words": SecretBytes(" ".join(words).encode())})


GENERATOR = Generator(SpecType("Words", Words), generate=generate, local=True)
