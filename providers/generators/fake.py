"""The generator Fake: the same values every time, for tests and samples."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext, SecretBytes


class FakeGeneratorSpec(Model):
    """The values, from the manifest.

    Example: {data: {password: secret}}
    """

    controller: str = ""
    """Class of daemons that serve the generator; others, by their setting `controllerClass`, ignore it.
    Example: edge"""
    data: dict[str, str] = {}
    """The values, by key; they stand in the manifest, so never write real ones.
    Example: {password: secret}"""


async def generate(spec: FakeGeneratorSpec, _context: OpenContext) -> Generated:
    """The values of the spec."""
    return Generated({key: SecretBytes(value.encode()) for key, value in spec.data.items()})


GENERATOR: Final = Generator(SpecType("Fake", FakeGeneratorSpec), generate=generate, local=True)
