"""Templates for the reconcilers: with the functions of the operator, and within a budget."""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from syncret.config.meta import ObjectRef
from syncret.config.resources.templates import Template
from syncret.daemon.backends.contract import Target
from syncret.daemon.core.rendering import Rendering, sources_of
from syncret.daemon.core.secret import secret_data
from syncret.providers.errors import Malformed

if TYPE_CHECKING:
    from syncret.daemon.core.templating.functions.contract import Context


class _Texts(msgspec.Struct):
    data: dict[str, str] = {}


class Templates:
    """Renders templates. The engine and its functions are imported when the first template is met."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def render(self, name: str, text: str, data: Mapping[str, bytes]) -> bytes:
        """One template of an output: a key that the data lacks is an error. Raises Malformed."""
        from syncret.daemon.core.templating import operator  # costs 50 ms that most never need

        return operator.render(name, text, data, self._context())

    def transform(self, text: str) -> Callable[[str], str]:
        """A template over the name of a key, `.value`. Raises Malformed where it does not parse."""
        from syncret.daemon.core.templating import operator  # as above

        try:
            parsed = operator.parse("transform", text)
        except operator.TemplateError as error:
            raise Malformed(f"failed to parse template: {error}") from None

        def rename(key: str) -> str:
            try:
                named = operator.string_data({"value": key.encode()})
                return parsed.render(named, self._context(), missing_key="default").decode()
            except operator.TemplateError as error:
                raise Malformed(f"failed to execute template: {error}") from None

        return rename

    def _context(self) -> "Context":
        from syncret.daemon.core.templating.functions.contract import Context  # as above

        now = datetime.fromtimestamp(self._now(), UTC).astimezone()
        return Context(now=now, random=secrets.token_bytes)


async def rendering_for(
    template: Template, templates: Templates, target: Target, namespace: str
) -> Rendering:
    """The rendering of one template, with the texts that stand in Secrets and ConfigMaps."""
    sources: dict[ObjectRef, Mapping[str, bytes]] = {}
    for ref in sources_of(template, namespace):
        stored = await target.get(ref)
        if stored is None:
            continue  # told with its place when it is asked for
        if ref.kind == "Secret":
            sources[ref] = secret_data(stored.document)
        else:
            sources[ref] = {key: text.encode() for key, text in stored.as_type(_Texts).data.items()}
    return Rendering(templates.render, sources, namespace)
