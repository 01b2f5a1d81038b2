"""Mistakes in a PushSecret that only show when it is pushed."""

from collections.abc import Iterator

from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.config.resources.push_secret import PushSecretSpec
from syncret.daemon.core import push_entries
from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.external_secrets import rewrites
from syncret.daemon.core.lint.given import Given
from syncret.daemon.core.lint.templates import Finding, of_template
from syncret.daemon.core.lint.texts import Keys
from syncret.providers.errors import SyncError


def of_push_secret(spec: PushSecretSpec, path: str, user: ObjectRef, given: Given) -> Iterator[Finding]:
    """The mistakes in a spec, which is at `path` in the manifest of `user`."""
    keys = _keys(spec, user, given)
    for problem in (*_data_to(spec, path), *_data(spec, path, keys)):
        yield Finding(user, problem)
    if spec.template is not None:
        yield from of_template(spec.template, f"{path}.template", user, keys, given)


def _keys(spec: PushSecretSpec, user: ObjectRef, given: Given) -> Keys | None:
    """The keys of the source, if that is a Secret among the manifests."""
    secret = spec.selector.secret
    if secret is None or not secret.name or not user.namespace:
        return None
    held = given.texts(SECRET.ref(user.namespace, secret.name))
    return None if held is None else Keys(frozenset(held), f"Secret {secret.name} has no such key")


def _data_to(spec: PushSecretSpec, path: str) -> Iterator[Problem]:
    try:
        push_entries.check_store_refs(spec)
    except SyncError as error:
        yield texts.refused(f"{path}.{error.place}.storeRef", error)
    for index, entry in enumerate(spec.data_to):
        place = f"{path}.dataTo[{index}]"
        if entry.match is not None and entry.match.regexp:
            yield from texts.regexp(f"{place}.match.regexp", entry.match.regexp)
        yield from rewrites(entry.rewrite, f"{place}.rewrite")


def _data(spec: PushSecretSpec, path: str, keys: Keys | None) -> Iterator[Problem]:
    """Keys that the source does not have, unless a template or a conversion makes others."""
    if keys is None or spec.template is not None:
        return
    for index, entry in enumerate(spec.data):
        key = entry.match.secret_key
        if key and key not in keys.names and entry.conversion_strategy == "None":
            place = f"{path}.data[{index}].match.secretKey"
            yield texts.no_such_key(place, "the Secret", key, sorted(keys.names))
