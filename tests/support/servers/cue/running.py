"""The real cue, built from its published sources."""

from functools import cache
from pathlib import Path

from tests.support.servers.golang import built, need_go


@cache
def program() -> Path:
    """The program. Building it takes minutes the first time."""
    need_go()
    flags = ("-mod=mod", "-ldflags=-s -w")
    return built(Path(__file__).parent, packages=("cuelang.org/go/cmd/cue",), flags=flags) / "cue"
