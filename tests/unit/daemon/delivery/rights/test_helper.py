"""Requests to the helper of a unit, as a unit of root answers them."""

import asyncio
from pathlib import Path

import pytest

from syncret.daemon.delivery.commands import CommandResult
from syncret.daemon.delivery.rights import helper

UNIT = "nginx.service"


class Helper:
    """The units of root, which answer requests in their folders."""

    def __init__(self, folder: Path) -> None:
        self.request = folder / "reload" / UNIT
        self.result = folder / "results" / UNIT
        self.result.parent.mkdir()

    async def ask(self, seconds: float = 30.0) -> CommandResult:
        folders = {"requests": self.request.parent, "results": self.result.parent}
        return await helper.ask(UNIT, seconds, **folders)

    async def take(self) -> None:
        """What the service does before it does anything else."""
        is_asked = False
        while not is_asked:
            await asyncio.sleep(0.001)
            is_asked = await asyncio.to_thread(self.request.exists)
        self.result.unlink(missing_ok=True)
        self.request.unlink()

    def end(self, text: str) -> None:
        fresh = self.result.with_name("fresh")
        fresh.write_text(text)
        fresh.rename(self.result)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Helper:
    monkeypatch.setattr(helper, "_PAUSE", 0.001)
    return Helper(tmp_path)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        pytest.param("0\n\n", 0, "", id="done"),
        pytest.param("1\nJob for nginx.service failed.\n", 1, "Job for nginx.service failed.", id="failed"),
        pytest.param("", None, "", id="torn"),
    ],
)
async def test_a_request_is_answered(root: Helper, text: str, code: int | None, said: str) -> None:
    asked = asyncio.create_task(root.ask())
    await root.take()
    root.end(text)
    assert await asked == CommandResult(code=code, output=said)


async def test_the_result_of_an_earlier_request_is_not_taken_for_an_answer(root: Helper) -> None:
    root.end("0\nof before\n")
    asked = asyncio.create_task(root.ask())
    await root.take()
    root.end("1\nof now\n")
    assert (await asked).output == "of now"


async def test_a_request_that_is_left_over_is_the_next_one(root: Helper) -> None:
    root.request.parent.mkdir()
    root.request.touch()
    asked = asyncio.create_task(root.ask())
    await root.take()
    root.end("0\n")
    assert (await asked).succeeded


async def test_a_request_that_nobody_takes_is_withdrawn(root: Helper) -> None:
    result = await root.ask(0.01)
    assert (result.code, result.problem) == (None, f"syncret-reload@{UNIT}: took longer than 0.01s")
    assert not root.request.exists()


async def test_one_that_was_begun_is_told_so(root: Helper) -> None:
    asked = asyncio.create_task(root.ask(0.2))
    await root.take()
    assert (await asked).problem.endswith("took longer than 0.2s, and was begun")


async def test_a_folder_that_cannot_be_written_is_told(root: Helper) -> None:
    root.request.parent.write_text("in the way")
    assert "File exists" in (await root.ask()).problem
