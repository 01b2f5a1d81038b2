"""All runtime warnings: about manifests that admission accepts, and that fail when they are used."""

from collections.abc import Iterator, Mapping

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.meta import ObjectRef
from syncret.config.resources.base import Resource
from syncret.config.resources.cluster import ClusterExternalSecret, ClusterPushSecret
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.push_secret import PushSecret
from syncret.daemon.core.lint.constraints import of_annotations
from syncret.daemon.core.lint.external_secrets import of_external_secret
from syncret.daemon.core.lint.given import Given, GivenObject
from syncret.daemon.core.lint.provider_texts import of_spec
from syncret.daemon.core.lint.push_secrets import of_push_secret
from syncret.daemon.core.lint.targets import shared_targets
from syncret.daemon.core.lint.templates import Finding


def runtime_warnings(
    objects: Mapping[ObjectRef, GivenObject], catalog: Catalog, delims: tuple[str, str] = ("{{", "}}")
) -> Mapping[ObjectRef, tuple[Problem, ...]]:
    """The warnings by object: each once, in the order of the manifests. `delims` are those of templates."""
    given = Given(objects, catalog, delims)
    found: dict[ObjectRef, dict[Problem, None]] = {}
    for each in objects.values():
        for ref, problem in _of(each.resource, given):
            found.setdefault(ref, {})[problem] = None
    for ref, problem in shared_targets(objects.values()):
        found.setdefault(ref, {})[problem] = None
    return {ref: tuple(problems) for ref, problems in found.items()}


def _of(resource: Resource, given: Given) -> Iterator[Finding]:
    ref = resource.ref
    match resource:
        case ExternalSecret(spec=spec, metadata=metadata):
            yield from of_external_secret(spec, "spec", ref, given)
            for problem in of_annotations(metadata.annotations, "metadata.annotations", spec):
                yield Finding(ref, problem)
        case ClusterExternalSecret(spec=spec):
            yield from of_external_secret(spec.external_secret_spec, "spec.externalSecretSpec", ref, given)
            annotations = spec.external_secret_metadata.annotations if spec.external_secret_metadata else {}
            place = "spec.externalSecretMetadata.annotations"
            for problem in of_annotations(annotations, place, spec.external_secret_spec):
                yield Finding(ref, problem)
        case PushSecret(spec=spec):
            yield from of_push_secret(spec, "spec", ref, given)
        case ClusterPushSecret(spec=spec):
            yield from of_push_secret(spec.push_secret_spec, "spec.pushSecretSpec", ref, given)
        case _:
            for problem in of_spec(resource, given):
                yield Finding(ref, problem)
