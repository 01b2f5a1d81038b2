"""The rules of the operator's admission webhook for an ExternalSecret, beyond its schema."""

from collections.abc import Iterator
from typing import Final

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.resources.base import SERVICE_ACCOUNT_NAME, SERVICE_ACCOUNT_TOKEN
from syncret.config.resources.external_secret import Data, DataFrom, ExternalSecret, ManifestRef, Target
from syncret.config.resources.templates import Template

MOST_WINDOWS: Final = 200
"""Windows of one object, each of which is looked through whenever it is due."""

BOOTSTRAP_TOKEN: Final = "bootstrap.kubernetes.io/token"


def check(resource: ExternalSecret, _catalog: Catalog) -> Iterator[Problem]:
    """The rules of the admission webhook beyond the schema."""
    spec = resource.spec
    yield from _policies(spec.target)
    if not spec.data and not spec.data_from:
        yield Problem(
            path="spec",
            message="either data or dataFrom should be specified",
            hint="name at least one value under spec.data, or a set of them under spec.dataFrom",
        )
    windows = spec.sync_windows.windows if spec.sync_windows is not None else ()
    if len(windows) > MOST_WINDOWS:
        yield Problem(
            path="spec.syncWindows.windows",
            message=f"must have at most {MOST_WINDOWS} items, has {len(windows)}",
            hint="one schedule may name many hours and days: 0 8-18 * * mon-fri",
        )
    yield from check_template(spec.target.template, spec.target.manifest)
    for place, entry in enumerate(spec.data_from):
        yield from _sources(entry, f"spec.dataFrom[{place}]")
    if spec.target.deletion_policy == "Retain":
        yield from _duplicates(spec.data)


def check_template(template: Template | None, manifest: ManifestRef | None) -> Iterator[Problem]:
    """The limits of templates: no ServiceAccount or bootstrap tokens, and only known targets."""
    if template is None:
        return
    path = "spec.target.template"
    if template.type == BOOTSTRAP_TOKEN:
        yield Problem(path=f"{path}.type", message=f'template.type="{BOOTSTRAP_TOKEN}" is not allowed')
    if template.type == SERVICE_ACCOUNT_TOKEN and SERVICE_ACCOUNT_NAME in template.metadata.annotations:
        yield Problem(
            path=f"{path}.metadata.annotations",
            message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with annotation "{SERVICE_ACCOUNT_NAME}" '
            "is not allowed",
        )
    plain = manifest is None or (manifest.api_version, manifest.kind) == ("v1", "Secret")
    for place, source in enumerate(template.template_from):
        target = source.target.lower()
        where = f"{path}.templateFrom[{place}].target"
        if template.type == SERVICE_ACCOUNT_TOKEN and target == "annotations":
            yield Problem(
                path=where,
                message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with templateFrom target="Annotations" '
                "is not allowed",
            )
        if plain and target not in {"", "data", "annotations", "labels"}:
            yield Problem(
                path=where,
                message=f'templateFrom target="{source.target}" is not allowed when targeting a Secret',
                hint="write Data, Annotations or Labels",
            )


def _policies(target: Target) -> Iterator[Problem]:
    path = "spec.target.deletionPolicy"
    if target.deletion_policy == "Delete" and target.creation_policy in {"Merge", "None", "CreateOrMerge"}:
        yield Problem(
            path=path,
            message="deletionPolicy=Delete must not be used when the controller doesn't own the secret",
            hint="set creationPolicy: Owner, or another deletionPolicy",
        )
    if target.deletion_policy == "Merge" and target.creation_policy == "None":
        yield Problem(
            path=path,
            message="deletionPolicy=Merge must not be used with creationPolicy=None",
            hint="there is no Secret to merge with: set another creationPolicy or deletionPolicy",
        )


def _sources(entry: DataFrom, path: str) -> Iterator[Problem]:
    generator = entry.source_ref is not None and entry.source_ref.generator_ref is not None
    if sum((entry.find is not None, entry.extract is not None, generator)) > 1:
        yield Problem(
            path=path,
            message="extract, find, or generatorRef cannot be set at the same time",
            hint="make an entry of its own of each",
        )
    if entry.find is None and entry.extract is None and entry.source_ref is None:
        yield Problem(path=path, message="either extract, find, or sourceRef must be set to dataFrom")


def _duplicates(data: tuple[Data, ...]) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, item in enumerate(data):
        if item.secret_key in seen:
            yield Problem(
                path=f"spec.data[{place}].secretKey",
                message=f"duplicate secretKey found: {item.secret_key}",
                hint="each key of the output can have one value",
            )
        seen.add(item.secret_key)
