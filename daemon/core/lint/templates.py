"""The templates of a target: in its manifest, and in ConfigMaps and Secrets among the manifests."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs

from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.config.paths import join, write
from syncret.config.resources.kinds import CONFIG_MAP, SECRET
from syncret.config.resources.templates import Template, TemplateFrom, TemplateSource
from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.given import Given
from syncret.daemon.core.lint.texts import Keys
from syncret.daemon.core.rendering import WELL_KNOWN, parse_path
from syncret.providers.errors import SyncError


class Finding(NamedTuple):
    """A problem, and the object in whose manifest it is."""

    ref: ObjectRef
    problem: Problem


def of_template(
    template: Template, path: str, user: ObjectRef, keys: Keys | None, given: Given
) -> Iterator[Finding]:
    """The mistakes in the templates of `user`; `keys` are all that the data has, None if not known."""
    metadata = template.metadata
    own = [
        (join(f"{path}.{field}", write([key])), text)
        for field, by_key in (
            ("data", template.data),
            ("metadata.labels", metadata.labels),
            ("metadata.annotations", metadata.annotations),
        )
        for key, text in by_key.items()
    ]
    own += [
        (f"{path}.templateFrom[{index}].literal", each.literal or "")
        for index, each in enumerate(template.template_from)
    ]
    for place, text in own:
        for problem in texts.template(place, text, keys, given.delims):
            yield Finding(user, problem)
    for index, each in enumerate(template.template_from):
        yield from _from(each, f"{path}.templateFrom[{index}]", user, keys, given)


def _from(
    each: TemplateFrom, path: str, user: ObjectRef, keys: Keys | None, given: Given
) -> Iterator[Finding]:
    if each.target and each.target.lower() not in (*WELL_KNOWN, "spec"):
        try:
            parse_path(each.target)
        except SyncError as error:
            yield Finding(user, texts.refused(f"{path}.target", error))
    for kind, source in ((CONFIG_MAP, each.config_map), (SECRET, each.secret)):
        if source is not None and user.namespace:
            ref = kind.ref(user.namespace, source.name)
            yield from _of_source(source, ref, f"{path}.{kind.field}", user, keys, given)


def _of_source(
    source: TemplateSource, ref: ObjectRef, path: str, user: ObjectRef, keys: Keys | None, given: Given
) -> Iterator[Finding]:
    held = given.texts(ref)
    if held is None:
        return  # that it is not given is reported as a reference
    for index, item in enumerate(source.items):
        if item.key not in held:
            where = f"{path}.items[{index}].key"
            yield Finding(user, texts.no_such_key(where, str(ref), item.key, list(held)))
            continue
        for problem in texts.template(write(["data", item.key]), held[item.key], keys, given.delims):
            message = f"as a template of {user}: {problem.message}"
            yield Finding(ref, structs.replace(problem, message=message))
