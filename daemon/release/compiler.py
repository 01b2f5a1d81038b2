"""The compiler of a release: parse, resolve tags, check, plan, render; each step reads the value of the last.

Only the resolution of tags needs I/O, and the caller does it: `Parsed.tags` are the tags, `resolved` takes
their values.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from syncret.config.fields import Json
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.meta import Document, is_object
from syncret.daemon.core.constraints.rules import read_mapping
from syncret.daemon.release.checks import Checked, check
from syncret.daemon.release.dispatch import manifests_of
from syncret.daemon.release.documents import NOWHERE, Documents, documents_by_kind, spec_of
from syncret.daemon.release.findings import Findings, Place, Reported
from syncret.daemon.release.groups import read_settings
from syncret.daemon.release.leaves import LeafReader, is_sensitive
from syncret.daemon.release.model import Failed, Field, Tag, Text
from syncret.daemon.release.parsed import Parsed
from syncret.daemon.release.platform import read_policy
from syncret.daemon.release.pod.deployment import deployment
from syncret.daemon.release.schema import Group, Malformed, Node, SchemaReader
from syncret.daemon.release.unify import Unifier
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_ORDER = ("Secret", "ExternalSecret", "Deployment")


class Refusal(Struct, frozen=True):
    """Why a tag has no value. `is_mistake`: it is not allowed, or names a value that was not given."""

    message: str
    hint: str = ""
    is_mistake: bool = False


def parse(loaded: Sequence[LoadedDocument], *, strict: bool = False) -> Parsed:
    """Sort the documents by kind, and unify what is declared with what is set."""
    findings = Findings()
    documents = documents_by_kind(loaded, findings)
    policy = read_policy(documents, findings, strict=strict)
    spec = spec_of(documents.module)
    top = Place(NOWHERE if documents.module is None else documents.module, "spec")
    leaves = LeafReader(
        findings, _named_constraints(spec.get("constraints"), top.at("constraints"), findings)
    )
    unifier = Unifier(findings, leaves)
    tree: Document = {}
    if documents.module is None:
        pass  # reported as a problem; the others are unknown
    elif documents.is_resolved:
        for name in ("config", "requires"):
            tree[name] = unifier.opened(spec.get(name) or {}, top.at(name), name)
        _inline(spec, top, unifier)
    else:
        reader = SchemaReader(findings, leaves)
        values, bound = spec_of(documents.release).get("values"), _bound(documents, findings)
        bound_at = documents.platform_at("bindings", documents.name, "requires")
        for name, value, place in (("config", values, documents.values_at()), ("requires", bound, bound_at)):
            tree[name] = unifier.unified(_group(reader, spec.get(name), top.at(name)), value, place, name)
    settings = read_settings(spec.get("secrets"), leaves.routed, top.at("secrets"), findings)
    return Parsed(documents, policy, tree, tuple(unifier.fields), settings, findings)


class Declared(Struct, frozen=True):
    """What a module declares, whatever its users set."""

    documents: Documents
    config: Node
    requires: Node
    bound: Json
    """What the platform binds the requirements to."""
    findings: Findings

    @property
    def problems(self) -> list[Reported]:
        """The problems, those of unreadable documents first."""
        return [*self.documents.unread, *self.findings.reported()]


def declared(loaded: Sequence[LoadedDocument]) -> Declared:
    """The schema of a module alone."""
    findings = Findings()
    documents = documents_by_kind(loaded, findings)
    module = documents.module
    if documents.is_resolved and module is not None:
        findings.error(Place(module, "kind"), "has no schema", "give the Module instead")
    spec = {} if documents.is_resolved else spec_of(module)
    top = Place(NOWHERE if module is None else module, "spec")
    leaves = LeafReader(
        findings, _named_constraints(spec.get("constraints"), top.at("constraints"), findings)
    )
    reader = SchemaReader(findings, leaves)
    config, requires = (_group(reader, spec.get(name), top.at(name)) for name in ("config", "requires"))
    return Declared(documents, config, requires, _bound(documents, findings), findings)


def _bound(documents: Documents, findings: Findings) -> Json:
    """What the platform binds the requirements of the module to."""
    bindings: Json = spec_of(documents.platform).get("bindings")
    place = documents.platform_at("bindings")
    for name in ("", documents.name):
        if bindings is None:
            return None
        if not is_object(bindings):
            findings.error(place, "must be a mapping", "write bindings: {MODULE: {requires: {...}}}")
            return None
        if name:
            findings.unknown(place, bindings, ("requires",))
            return bindings.get("requires")
        bindings = bindings.get(documents.name)
        place = place.at(documents.name)
    return None


def _group(reader: SchemaReader, written: Json, place: Place) -> Node:
    if written is None:
        return Group(place, {})
    if is_object(written) and not is_sensitive(written) and not any(key.startswith("$") for key in written):
        return reader.node(written, place)
    reader.findings.error(place, "must be a mapping of fields", "write {NAME: string}")
    return Malformed(place)


def _named_constraints(written: Json, place: Place, findings: Findings) -> dict[str, Document | None]:
    """The constraints with a name; None for one that is malformed."""
    if written is None:
        return {}
    if not is_object(written):
        findings.error(place, "must be a mapping", "write {NAME: {minRunes: 12}}")
        return {}
    named: dict[str, Document | None] = {}
    for name, mapping in written.items():
        named[name] = mapping if is_object(mapping) else None
        if not is_object(mapping):
            findings.error(place.at(name), "must be a mapping", "write {minRunes: 12}")
            continue
        for problem in read_mapping(mapping, Work()):
            findings.error(place.at(name), problem.message, problem.hint)
            named[name] = None
            break
    return named


def _inline(spec: Document, top: Place, unifier: Unifier) -> None:
    """The leaves of a resolved release that `from` holds itself."""
    for kind in ("containers", "initContainers", "container"):
        written: Json = spec.get(kind)
        containers: Document = {"": written} if kind == "container" else written
        for name, container in containers.items() if is_object(containers) else ():
            at = top.at(kind, name) if name else top.at(kind)
            for member in ("env", "volumeMounts"):
                entries: Json = container.get(member) if is_object(container) else None
                for key, entry in entries.items() if is_object(entries) else ():
                    source: Json = entry.get("from") if is_object(entry) else None
                    if is_object(source) and is_sensitive(source):
                        place = at.at(member, key, "from")
                        unifier.whole(source, place, place.path)


def resolved(parsed: Parsed, answers: Mapping[str, SecretBytes | Refusal]) -> Parsed:
    """The release with the values of its tags, by the labels of their fields."""
    return replace(
        parsed, fields=tuple(_resolved(field, answers, parsed.findings) for field in parsed.fields)
    )


def _resolved(field: Field, answers: Mapping[str, SecretBytes | Refusal], findings: Findings) -> Field:
    match field.fulfilment:
        case Tag() as tag:
            answer = answers[field.label]
            if isinstance(answer, SecretBytes):
                return replace(field, fulfilment=Text(answer, tag.kind))
            add = findings.error if answer.is_mistake else findings.undelivered
            add(field.user, answer.message, answer.hint)
            return replace(field, fulfilment=Failed())
        case _:
            return field


class Rendered(Struct, frozen=True):
    """The result of a run: manifests with their values, unless there was an error."""

    items: tuple[Document, ...]
    checked: Checked


def rendered(parsed: Parsed) -> Rendered:
    """Check, plan and render a release whose tags are resolved."""
    checked = check(parsed)
    items = [manifest for group in checked.groups.values() for manifest in manifests_of(group, parsed.policy)]
    pod = deployment(parsed, checked) if parsed.documents.module is not None else None
    if parsed.findings.has_errors or pod is None:
        return Rendered((), checked)
    items.append(pod)
    items.sort(key=lambda item: (_ORDER.index(item["kind"]), item["metadata"]["name"]))
    for item in items:
        metadata = item["metadata"]
        metadata["labels"] = labels_of(parsed.documents)
        if parsed.documents.namespace:
            metadata["namespace"] = parsed.documents.namespace
    return Rendered(tuple(items), checked)


def labels_of(documents: Documents) -> dict[str, str]:
    """The labels of everything that is made for a release."""
    return {
        "app.kubernetes.io/name": documents.name,
        "app.kubernetes.io/instance": documents.instance,
        "app.kubernetes.io/managed-by": "syncret",
    }
