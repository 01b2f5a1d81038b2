"""The generators that draw nothing, or nothing but an identifier."""

from uuid import UUID

from syncret.providers.generators import fake, uuid
from tests.support.opened import context


async def test_uuid() -> None:
    drawn = [(await uuid.generate(uuid.UUIDSpec(), context())).values["uuid"].raw.decode() for _ in range(2)]

    assert [UUID(each).version for each in drawn] == [4, 4]
    assert [str(UUID(each)) for each in drawn] == drawn
    assert drawn[0] != drawn[1]


async def test_fake() -> None:
    values = (await fake.generate(fake.FakeGeneratorSpec(data={"a": "é", "b": ""}), context())).values

    assert {key: value.raw for key, value in values.items()} == {"a": "é".encode(), "b": b""}
