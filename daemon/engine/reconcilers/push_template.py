"""What a PushSecret's template makes of its source, in memory only: the Secret itself is never changed."""

from base64 import b64encode

from syncret.config.meta import Document
from syncret.config.resources.push_secret import PushSecret
from syncret.config.resources.templates import Template
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.secret import SecretSink
from syncret.daemon.engine.reconcilers.push_source import Source
from syncret.daemon.engine.reconcilers.templates import rendering_for
from syncret.daemon.engine.reconcilers.world import World


async def templated(world: World, resource: PushSecret, source: Source) -> Source:
    """The source with what the template renders laid over it. Raises Malformed where it does not render."""
    template = resource.spec.template
    if template is None:
        return source
    bench = world.templates.bench()
    rendering = await rendering_for(template, bench, world.target, resource.metadata.namespace)
    return await bench.work(lambda: _laid_over(template, source, rendering))


def _laid_over(template: Template, source: Source, rendering: Rendering) -> Source:
    document: Document = {**source.document, "metadata": dict(source.document["metadata"])}
    document["type"] = template.type  # none, where the template names none, as with the operator
    for field in ("labels", "annotations"):
        document["metadata"][field] = dict(document["metadata"].get(field, {}))
    values = dict(source.data)
    rendering.apply(template, SecretSink(document, values), source.data)
    document["data"] = {key: b64encode(value).decode() for key, value in values.items()}
    return Source(document, values)
