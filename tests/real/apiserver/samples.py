"""A sample of every kind, and every manifest that the distribution contains."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from syncret.config.meta import Document, is_object
from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.docstrings import ABSENT
from syncret.config.schema.field_docs import fields_of
from syncret.config.schema.shape import shape_of
from syncret.providers.registry import Registry

_REGISTRY: Final = Registry()
_FOLDER: Final = Path(__file__).parents[3] / "config" / "samples"
_LOGIN: Final = {"name": "login", "key": "token"}
_WITHOUT_EXAMPLE: Final[Mapping[str, Document]] = {
    "BeyondtrustWorkloadCredentialsDynamicSecret": {
        "provider": {
            "auth": {"apikey": {"token": _LOGIN}},
            "server": {"apiUrl": "https://x.example.com", "siteId": "1"},
            "folderPath": "a",
        }
    },
    "CloudsmithAccessToken": {
        "orgSlug": "acme",
        "serviceSlug": "ci",
        "serviceAccountRef": {"name": "ci"},
    },
    "GitlabDeployToken": {
        "name": "ci",
        "scopes": ["read_registry"],
        "auth": {"token": {"secretRef": _LOGIN}},
        "projectID": "1",
    },
    "Grafana": {
        "url": "https://grafana.example.com",
        "auth": {"token": _LOGIN},
        "serviceAccount": {"name": "ci", "role": "Viewer"},
    },
    "QuayAccessToken": {"robotAccount": "acme+ci", "serviceAccountRef": {"name": "ci"}},
}
"""Samples of kinds whose documentation has none yet."""


def _kinds() -> Iterator[Kind]:
    known = Kinds(_REGISTRY)
    for name in known.names():
        kind = known.find(name)
        if kind is not None and kind.group:
            yield kind


KINDS: Final[Mapping[str, Kind]] = {kind.kind: kind for kind in _kinds()}
"""All kinds that have a CRD."""


@cache
def samples() -> Sequence[Document]:
    """The example of each kind in its documentation, and every manifest, without its namespace."""
    return [*_examples(), *_manifests()]


def _examples() -> Iterator[Document]:
    for name, kind in KINDS.items():
        spec = next(field for field in fields_of(shape_of(kind.model), _REGISTRY) if field.name == "spec")
        example = _WITHOUT_EXAMPLE[name] if spec.example is ABSENT else spec.example
        yield {"apiVersion": kind.api_version, "kind": name, "metadata": {"name": "sample"}, "spec": example}


def _manifests() -> Iterator[Document]:
    for path in sorted(_FOLDER.rglob("*.yaml")):
        for document in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            kind = KINDS.get(document.get("kind", "")) if is_object(document) else None
            if kind is not None and document["apiVersion"] == kind.api_version:
                document["metadata"].pop("namespace", None)
                yield document
