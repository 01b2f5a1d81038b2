"""Mistakes in an ExternalSecret that only show when it is synced."""

from collections.abc import Iterator, Sequence

from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.config.resources.external_secret import DataFrom, ExternalSecretSpec, Rewrite
from syncret.config.resources.push_secret import PushRewrite
from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.given import Given
from syncret.daemon.core.lint.templates import Finding, of_template
from syncret.daemon.core.lint.texts import Keys
from syncret.daemon.core.needs import Extract, need_of, store_of

_RENAMED = Keys(frozenset({"value"}), "a rewrite has value alone")


def of_external_secret(
    spec: ExternalSecretSpec, path: str, user: ObjectRef, given: Given
) -> Iterator[Finding]:
    """The mistakes in a spec, which is at `path` in the manifest of `user`."""
    for problem in (
        *_windows(spec, path),
        *_properties(spec, path, user, given),
        *(
            problem
            for index, entry in enumerate(spec.data_from)
            for problem in _entry(entry, f"{path}.dataFrom[{index}]")
        ),
    ):
        yield Finding(user, problem)
    if spec.target.template is not None:
        yield from of_template(spec.target.template, f"{path}.target.template", user, keys_of(spec), given)


def keys_of(spec: ExternalSecretSpec) -> Keys | None:
    """The keys that the entries make; None if some are only known once they were read."""
    if spec.data_from:
        return None
    return Keys(frozenset(item.secret_key for item in spec.data), "no entry of data makes it")


def rewrites(operations: Sequence[Rewrite | PushRewrite], path: str) -> Iterator[Problem]:
    """The mistakes in the rewrites of keys."""
    for index, operation in enumerate(operations):
        place = f"{path}[{index}]"
        if operation.regexp is not None:
            yield from texts.regexp(f"{place}.regexp.source", operation.regexp.source)
        if operation.transform is not None:
            yield from texts.template(f"{place}.transform.template", operation.transform.template, _RENAMED)


def _entry(entry: DataFrom, path: str) -> Iterator[Problem]:
    if entry.find is not None and entry.find.name is not None:
        yield from texts.regexp(f"{path}.find.name.regexp", entry.find.name.regexp)
    yield from rewrites(entry.rewrite, f"{path}.rewrite")


def _windows(spec: ExternalSecretSpec, path: str) -> Iterator[Problem]:
    for index, window in enumerate(spec.sync_windows.windows if spec.sync_windows is not None else ()):
        yield from texts.schedule(f"{path}.syncWindows.windows[{index}].schedule", window.schedule)


def _properties(spec: ExternalSecretSpec, path: str, user: ObjectRef, given: Given) -> Iterator[Problem]:
    named = [
        (f"{path}.data[{index}].remoteRef", store_of(spec, item), item.remote_ref)
        for index, item in enumerate(spec.data)
    ]
    for index, entry in enumerate(spec.data_from):
        need = need_of(spec, index, entry)
        if entry.extract is not None and isinstance(need, Extract):
            named.append((f"{path}.dataFrom[{index}].extract", need.store, entry.extract))
    for place, store, reference in named:
        plain = not reference.property or reference.metadata_policy == "Fetch"
        if not plain and given.reads_paths(store, user.namespace):
            yield from texts.gjson(f"{place}.property", reference.property)
