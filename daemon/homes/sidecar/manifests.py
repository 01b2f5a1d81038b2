"""Turns objects of another home into manifests, and refuses those that need rights a sidecar lacks."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from syncret.config.errors import Problem
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret, ExternalSecretSpec
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE
from syncret.config.schema.admission import Admission
from syncret.daemon.core.needs import Generate, need_of, stores
from syncret.daemon.core.target import form_of
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.filesystem.manifests.reader import Content, Manifest, digest_of

_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_OF_AUTHORS: Final = ("name", "namespace", "labels", "annotations")
"""Owners, finalizers and versions are left out: their controllers run in the cluster."""


class Wanted(NamedTuple):
    """One wanted object, and the target that it writes, if any."""

    manifest: Manifest
    target: ObjectRef | None


def wanted(stored: StoredObject, admission: Admission, salt: bytes) -> Wanted:
    """The wanted object, from the version of the other home. `salt` goes into the digest."""
    document = _written(stored.document)
    admitted = admission.admit(document)
    refused = [problem for problem in admitted.problems if problem.fatal]
    target = None
    if isinstance(admitted.resource, ExternalSecret):
        target = form_of(admitted.resource).ref(admitted.resource)
        refused += not_for_sidecars(admitted.resource.spec)
    place = str(stored.ref)
    content = Content(
        msgspec.json.encode(document if refused else admitted.document),
        LoadedDocument(place, 0, None),
        not refused,
        refused,
    )
    digest = digest_of(_ENCODER.encode(document), salt)
    return Wanted(Manifest(stored.ref, place, 0, digest, content), target)


def _written(document: Document) -> Document:
    metadata = {name: document["metadata"][name] for name in _OF_AUTHORS if document["metadata"].get(name)}
    return {**{key: value for key, value in document.items() if key != "status"}, "metadata": metadata}


def not_for_sidecars(spec: ExternalSecretSpec) -> Iterator[Problem]:
    """The fields that need rights which a sidecar does not have."""
    for index, entry in enumerate(spec.data_from):
        if isinstance(need_of(spec, index, entry), Generate):
            yield Problem(
                path=f"spec.dataFrom[{index}].sourceRef.generatorRef",
                message="a sidecar does not generate: what a generator makes is recorded as a "
                "GeneratorState, which it may not write",
                hint="let the controller of the cluster generate it and push it to a store",
            )
    for name in stores(spec):
        if name.kind == CLUSTER_SECRET_STORE.kind:
            yield Problem(
                path="spec",
                message=f'a sidecar reads its own namespace alone, and not ClusterSecretStore "{name.name}"',
                hint="refer to a SecretStore of the namespace",
            )
