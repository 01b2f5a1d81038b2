"""The generator UUID: a random (version 4) UUID."""

from typing import Final
from uuid import uuid4

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.values import SecretBytes


class UUIDSpec(Model):
    """Has no fields."""


async def generate(_spec: UUIDSpec, _context: OpenContext) -> Generated:
    """One value: `uuid`."""
    return Generated({"uuid": SecretBytes(str(uuid4()).encode())})


GENERATOR: Final = Generator(SpecType("UUID", UUIDSpec), generate=generate, local=True)
