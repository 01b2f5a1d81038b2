"""Renders templates with all functions, in a world that stands still."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.golang import values
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.template import Functions, Template
from syncret.daemon.core.templating.operator import ALL
from syncret.providers.work import Work

FUNCTIONS: Final = Functions(ALL)
NOW: Final = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


class Chance:
    """Bytes that look random and are the same every time."""

    def __init__(self) -> None:
        self._drawn = 0

    def __call__(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            self._drawn += 1
            data += sha256(str(self._drawn).encode()).digest()
        return data[:count]


def render(
    text: str,
    data: Mapping[str, str] | None = None,
    *,
    budget: Budget | None = None,
) -> str:
    context = Context(NOW, Chance(), budget or Budget())
    template = Template.parse("t", text, Work(), FUNCTIONS)
    rendered = template.render(values.string_map(data or {}), context, missing_key="error")
    return values.text_of(rendered)
