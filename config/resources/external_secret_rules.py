"""The rules of the operator's admission webhook for an ExternalSecret, beyond its schema."""

from collections.abc import Iterator
from typing import Final

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.config.paths import join
from syncret.config.resources.base import SERVICE_ACCOUNT_NAME, SERVICE_ACCOUNT_TOKEN, WebhookRule
from syncret.config.resources.external_secret import (
    Data,
    DataFrom,
    ExternalSecret,
    ExternalSecretSpec,
    ManifestRef,
    Target,
)
from syncret.config.resources.templates import Template

MOST_WINDOWS: Final = 200
"""The most windows of one object: all are searched whenever it is due."""

BOOTSTRAP_TOKEN: Final = "bootstrap.kubernetes.io/token"

_TEMPLATE: Final = "spec.target.template"
_IS_TOKEN: Final = f"(has(self.type) && self.type == '{SERVICE_ACCOUNT_TOKEN}')"
_TARGETS: Final = frozenset({"", "data", "annotations", "labels"})
"""The targets of a template that a Secret has, in lower case; any case is accepted."""


def _deletes_what_is_not_owned(target: Target) -> bool:
    return target.deletion_policy == "Delete" and target.creation_policy not in {"Owner", "Orphan"}


def _merges_with_nothing(target: Target) -> bool:
    return target.deletion_policy == "Merge" and target.creation_policy == "None"


def _reads_nothing(spec: ExternalSecretSpec) -> bool:
    return not spec.data and not spec.data_from


def _is_bootstrap_token(template: Template) -> bool:
    return template.type == BOOTSTRAP_TOKEN


def _is_token_of_an_account(template: Template) -> bool:
    return template.type == SERVICE_ACCOUNT_TOKEN and SERVICE_ACCOUNT_NAME in template.metadata.annotations


def _has_several_sources(entry: DataFrom) -> bool:
    generator = entry.source_ref is not None and entry.source_ref.generator_ref is not None
    return sum((entry.find is not None, entry.extract is not None, generator)) > 1


def _has_no_source(entry: DataFrom) -> bool:
    return entry.find is None and entry.extract is None and entry.source_ref is None


RULES: Final = (
    WebhookRule(
        at="spec.target",
        field="deletionPolicy",
        message="deletionPolicy=Delete must not be used when the controller doesn't own the secret",
        cel="self.deletionPolicy != 'Delete' || self.creationPolicy in ['Owner', 'Orphan']",
        broken=_deletes_what_is_not_owned,
        hint="set creationPolicy: Owner, or another deletionPolicy",
    ),
    WebhookRule(
        at="spec.target",
        field="deletionPolicy",
        message="deletionPolicy=Merge must not be used with creationPolicy=None",
        cel="self.deletionPolicy != 'Merge' || self.creationPolicy != 'None'",
        broken=_merges_with_nothing,
        hint="there is no Secret to merge with: set another creationPolicy or deletionPolicy",
    ),
    WebhookRule(
        at="spec",
        field="",
        message="either data or dataFrom should be specified",
        cel="(has(self.data) && size(self.data) > 0) || (has(self.dataFrom) && size(self.dataFrom) > 0)",
        broken=_reads_nothing,
        hint="name at least one value under spec.data, or a set of them under spec.dataFrom",
    ),
    WebhookRule(
        at=_TEMPLATE,
        field="type",
        message=f'template.type="{BOOTSTRAP_TOKEN}" is not allowed',
        cel=f"!has(self.type) || self.type != '{BOOTSTRAP_TOKEN}'",
        broken=_is_bootstrap_token,
    ),
    WebhookRule(
        at=_TEMPLATE,
        field="metadata.annotations",
        message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with annotation "{SERVICE_ACCOUNT_NAME}" '
        "is not allowed",
        cel=f"!{_IS_TOKEN} || !has(self.metadata) || !has(self.metadata.annotations) || "
        f"!('{SERVICE_ACCOUNT_NAME}' in self.metadata.annotations)",
        broken=_is_token_of_an_account,
    ),
    WebhookRule(
        at=_TEMPLATE,
        field="templateFrom",
        message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with templateFrom target="Annotations" '
        "is not allowed",
        # The usual spellings: lower case of each would cost too much.
        cel=f"!{_IS_TOKEN} || !has(self.templateFrom) || [['Annotations', 'annotations', 'ANNOTATIONS']]"
        ".all(names, self.templateFrom.all(each, !(each.target in names)))",
    ),
    *(
        WebhookRule(
            at="spec.target",
            field="template.templateFrom",
            message="templateFrom target is not allowed when targeting a Secret",
            cel="!has(self.template) || !has(self.template.templateFrom) || (has(self.manifest) && "
            "(self.manifest.apiVersion != 'v1' || self.manifest.kind != 'Secret')) || "
            f"[{known}].all(known, self.template.templateFrom.all(each, {seen} in known))",
        )
        # Lower case of each target would cost too much: its length, and the letter that it begins with.
        for seen, known in (
            ("size(each.target)", sorted(map(len, _TARGETS))),
            (
                "each.target.charAt(0)",
                sorted({each[:1] for name in _TARGETS for each in (name, name.upper())}),
            ),
        )
    ),
    WebhookRule(
        at="spec.dataFrom[]",
        field="",
        message="extract, find, or generatorRef cannot be set at the same time",
        cel="!(has(self.find) && has(self.extract)) && !((has(self.find) || has(self.extract)) && "
        "has(self.sourceRef) && has(self.sourceRef.generatorRef))",
        broken=_has_several_sources,
        hint="make an entry of its own of each",
    ),
    WebhookRule(
        at="spec.dataFrom[]",
        field="",
        message="either extract, find, or sourceRef must be set to dataFrom",
        cel="has(self.find) || has(self.extract) || has(self.sourceRef)",
        broken=_has_no_source,
    ),
)
"""What is checked of an ExternalSecret here and by an API server that has its CRD."""

_CHECKED: Final = {at: [rule for rule in RULES if rule.at == at] for at in {rule.at for rule in RULES}}


def check(resource: ExternalSecret, _catalog: Catalog) -> Iterator[Problem]:
    """The rules of the admission webhook beyond the schema."""
    spec = resource.spec
    yield from _broken("spec.target", spec.target)
    yield from _broken("spec", spec)
    windows = spec.sync_windows.windows if spec.sync_windows is not None else ()
    if len(windows) > MOST_WINDOWS:
        yield Problem(
            path="spec.syncWindows.windows",
            message=f"must have at most {MOST_WINDOWS} items, has {len(windows)}",
            hint="one schedule may name many hours and days: 0 8-18 * * mon-fri",
        )
    if spec.target.template is not None:
        yield from _broken(_TEMPLATE, spec.target.template)
        yield from _template_targets(spec.target.template, spec.target.manifest)
    for place, entry in enumerate(spec.data_from):
        yield from _broken("spec.dataFrom[]", entry, place)
    if spec.target.deletion_policy == "Retain":
        yield from _duplicates(spec.data)


def _broken(at: str, value: Model, place: int | None = None) -> Iterator[Problem]:
    """The rules of the table that an object breaks, which is the entry at `place` if it is one of a list."""
    for rule in _CHECKED[at]:
        if rule.broken is not None and rule.broken(value):
            path = at if place is None else f"{at.removesuffix('[]')}[{place}]"
            yield Problem(path=join(path, rule.field), message=rule.message, hint=rule.hint)


def _template_targets(template: Template, manifest: ManifestRef | None) -> Iterator[Problem]:
    """What `templateFrom` may not write: a token's annotations, or what a Secret does not have."""
    plain = manifest is None or (manifest.api_version, manifest.kind) == ("v1", "Secret")
    for place, source in enumerate(template.template_from):
        target = source.target.lower()
        path = f"{_TEMPLATE}.templateFrom[{place}].target"
        if template.type == SERVICE_ACCOUNT_TOKEN and target == "annotations":
            yield Problem(
                path=path,
                message=f'template.type="{SERVICE_ACCOUNT_TOKEN}" with templateFrom target="Annotations" '
                "is not allowed",
            )
        if plain and target not in _TARGETS:
            yield Problem(
                path=path,
                message=f'templateFrom target="{source.target}" is not allowed when targeting a Secret',
                hint="write Data, Annotations or Labels",
            )


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
