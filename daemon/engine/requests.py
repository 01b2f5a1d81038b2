"""Renders request templates for providers, which have no template engine of their own."""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from syncret.providers.contract import Render


def requests(now: Callable[[], float]) -> Render:
    """What `OpenContext.render` is: the operator's functions, at the time of this clock."""

    def render(template: str, data: Mapping[str, Mapping[str, str]]) -> str:
        from syncret.daemon.core.templating import operator  # costs 50 ms that most never need
        from syncret.daemon.core.templating.functions.contract import Context

        moment = datetime.fromtimestamp(now(), UTC).astimezone()
        return operator.request(template, data, Context(now=moment, random=secrets.token_bytes))

    return render
