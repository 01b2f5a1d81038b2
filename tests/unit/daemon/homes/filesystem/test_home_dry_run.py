"""The host home: a dry one sees all and writes nothing."""

from pathlib import Path

import pytest

from syncret.daemon.homes.contract import NotFound
from tests.support.homes import delete_by_name
from tests.unit.daemon.homes.filesystem.homes import (
    ES,
    ES_YAML,
    GIVEN,
    MADE,
    STORE,
    STORE_YAML,
    Opener,
    data_of,
    encoded,
    existing,
    files,
    made,
    tree,
)


async def test_a_dry_home_sees_everything_and_writes_nothing(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML)
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
        before = tree(tmp_path)
        async with opened(dry=True) as dry:  # beside the one that runs
            assert (await existing(dry, ES)) == (await existing(home, ES))
            assert (await existing(dry, STORE)) == (await existing(home, STORE))
            assert await data_of(dry, MADE) == encoded(a="1")
            assert dry.problems() == ()  # how files would be replaced is nothing to it
            await dry.update(made(a="2"))
            assert await data_of(dry, MADE) == encoded(a="2")
            with pytest.raises(NotFound):
                await delete_by_name(dry, GIVEN)
            await delete_by_name(dry, MADE)
        assert files(tmp_path / "out") == {"default/made/a": "1"}
        assert tree(tmp_path) == before
