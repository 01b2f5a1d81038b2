"""The generator Fake: the same values every time, for tests and samples."""

from collections.abc import Mapping
from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_MEMBER_COST: Final = 4
_MEMBER_SIZE: Final = 250


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


async def generate(spec: FakeGeneratorSpec, context: OpenContext) -> Generated:
    """The values of the spec."""
    return await context.compute(lambda work: _values(spec.data, work))


def _values(data: Mapping[str, str], work: Work) -> Generated:
    size = sum(map(len, data.values()))
    work.take(_MEMBER_COST * len(data), _MEMBER_SIZE * len(data) + size)
    return Generated({key: SecretBytes(value.encode()) for key, value in data.items()})


GENERATOR: Final = Generator(SpecType("Fake", FakeGeneratorSpec), generate=generate, local=True)
