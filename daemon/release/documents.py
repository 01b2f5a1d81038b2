"""Sorts the documents of a run by kind: one module or resolved release, a release, a platform, and others."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from syncret.config.fields import Json
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.meta import Document, is_object, member
from syncret.config.paths import Path, render
from syncret.config.spelling import did_you_mean
from syncret.daemon.release.findings import Findings, Given, Place, Reported
from syncret.daemon.release.leaves import is_name

API_VERSION: Final = "syncret.dev/v1alpha1"
_GROUP: Final = "syncret.dev/"
MODULE: Final = "Module"
RESOLVED: Final = "ResolvedRelease"
RELEASE: Final = "Release"
PLATFORM: Final = "Platform"
_KINDS: Final = (MODULE, RELEASE, PLATFORM, RESOLVED)
_VALUES: Final = "spec.values"
_LONGEST_LABEL: Final = 63
_LONGEST_KEY: Final = 253
_CONTAINERS: Final = (dict, list)

_COMMON: Final = (
    "container",
    "containers",
    "initContainers",
    "volumes",
    "secrets",
    "constraints",
    "replicas",
)
_MEMBERS: Final = {
    MODULE: ("config", "requires", *_COMMON),
    RESOLVED: ("config", "requires", *_COMMON),
    RELEASE: ("values",),
    PLATFORM: ("production", "literals", "constraints", "refreshInterval", "secretStoreRef", "bindings"),
}


class Documents(Struct, frozen=True):
    """The documents of one run; each that is missing or there twice was reported."""

    module: Given | None = None
    is_resolved: bool = False
    release: Given | None = None
    platform: Given | None = None
    others: tuple[Document, ...] = ()
    """Stores and Secrets that tags may be resolved with."""
    unread: tuple[Reported, ...] = ()
    """Problems of files and documents that could not be read."""

    @property
    def name(self) -> str:
        """The module's name."""
        return _name(self.module)

    @property
    def instance(self) -> str:
        """The release's name."""
        return _name(self.release) or self.name

    @property
    def namespace(self) -> str:
        """The release's namespace; empty: none."""
        for given in (self.release, self.module if self.is_resolved else None):
            named: Json = {} if given is None else member(given.document, "metadata").get("namespace")
            if isinstance(named, str) and named:
                return named
        return ""

    def values_at(self) -> Place:
        """The place of the values, also if there are none."""
        given = self.release or self.module
        return Place(given if given is not None else NOWHERE, _VALUES)

    def platform_at(self, *steps: str) -> Place:
        """The place of a member of the platform's spec, also if it is absent."""
        given = self.platform or self.release or self.module
        return Place(given if given is not None else NOWHERE, "spec").at(*steps)


NOWHERE: Final = Given("", {})


def _name(given: Given | None) -> str:
    name: Json = "" if given is None else member(given.document, "metadata").get("name")
    return name if isinstance(name, str) else ""


def spec_of(given: Given | None) -> Document:
    """The spec of a document; empty if there is none."""
    return {} if given is None else member(given.document, "spec")


def documents_by_kind(loaded: Sequence[LoadedDocument], findings: Findings) -> Documents:
    """The documents by their kind. A document of other groups is handed on as it is.

    If one of them could not be read or used, no other document is reported as missing or incomplete: what is
    missing may be in the unreadable one.
    """
    unread = tuple(Reported(each.file, problem) for each in loaded for problem in each.problems)
    if any(reported.problem.fatal for reported in unread):
        findings.undelivered_only = False
        if any(each.document is None for each in loaded):
            return Documents(unread=unread)
    of: dict[str, Given] = {}
    others: list[Document] = []
    is_usable = True
    for each in loaded:
        if each.document is None:
            continue
        given = _given(each)
        if _is_foreign(given):
            others.append(given.document)
        elif (long := _overlong(given.document)) is not None:
            message = f"has a key of more than {_LONGEST_KEY} characters"
            findings.error(Place(given, long), message, "write a shorter one")
            is_usable = False
        elif _is_kind(given, findings):
            _put(of, RELEASE if given.stripped else str(given.document["kind"]), given, findings)
        else:
            is_usable = False
    if not is_usable or not _is_complete(of, loaded, findings):
        return Documents(unread=unread)
    return Documents(
        module=of.get(MODULE) or of.get(RESOLVED),
        is_resolved=MODULE not in of,
        release=of.get(RELEASE),
        platform=of.get(PLATFORM),
        others=tuple(others),
        unread=unread,
    )


def _overlong(document: Document) -> str | None:
    """The path of the first key that is too long; None: there is none."""
    pending: list[tuple[Json, Path]] = [(document, None)]
    while pending:
        value, path = pending.pop()
        if is_object(value):
            if any(len(key) > _LONGEST_KEY for key in value):
                return render(path)
            pending += [(item, (path, key)) for key, item in value.items() if item.__class__ in _CONTAINERS]
        else:
            pending += [(item, (path, at)) for at, item in enumerate(value) if item.__class__ in _CONTAINERS]
    return None


def _is_foreign(given: Given) -> bool:
    version: Json = given.document.get("apiVersion", _GROUP)
    return not isinstance(version, str) or not version.startswith(_GROUP)


def _given(loaded: LoadedDocument) -> Given:
    document = loaded.document or {}
    if "apiVersion" in document or document.get("kind") in _KINDS:
        return Given(loaded.file, document, loaded.lines)
    whole = {"apiVersion": API_VERSION, "kind": RELEASE, "spec": {"values": document}}
    return Given(loaded.file, whole, loaded.lines, stripped=_VALUES)


def _is_kind(given: Given, findings: Findings) -> bool:
    """Whether a document of our group is one of the kinds, with members that there are."""
    top = Place(given, "")
    kind: Json = given.document.get("kind")
    if given.document.get("apiVersion") != API_VERSION:
        message = "is not known" if "apiVersion" in given.document else f"is missing beside kind: {kind}"
        findings.error(top.at("apiVersion"), message, f"write apiVersion: {API_VERSION}")
        return False
    if kind not in _KINDS:
        findings.error(top.at("kind"), "is not known", did_you_mean(str(kind), _KINDS))
        return False
    findings.unknown(top, given.document, ("apiVersion", "kind", "metadata", "spec"))
    spec: Json = given.document.get("spec")
    if spec is None and kind == RELEASE:
        return True
    if not is_object(spec):
        findings.error(top.at("spec"), "must be a mapping", "write spec: {...}")
        return False
    findings.unknown(top.at("spec"), spec, _MEMBERS[kind])
    return _is_named(given, kind, findings)


def _is_named(given: Given, kind: str, findings: Findings) -> bool:
    place = Place(given, "metadata")
    metadata: Json = given.document.get("metadata", {})
    if not is_object(metadata):
        findings.error(place, "must be a mapping", "write metadata: {name: ...}")
        return False
    name: Json = metadata.get("name")
    if name is None and kind in {MODULE, RESOLVED}:
        findings.error(place.at("name"), "is missing", "write metadata: {name: ...}")
        return False
    if name is not None and not (is_name(name) and len(name) <= _LONGEST_LABEL):
        hint = f"lower case letters, digits, '-' and '.', at most {_LONGEST_LABEL}"
        findings.error(place.at("name"), "must be a name", hint)
        return False
    namespace: Json = metadata.get("namespace")
    if namespace is not None and not is_name(namespace):
        findings.error(place.at("namespace"), "must be the name of a namespace", "write namespace: shop")
        return False
    return True


def _put(of: dict[str, Given], kind: str, given: Given, findings: Findings) -> None:
    first = of.setdefault(kind, given)
    if first is not given:
        what = "values" if kind == RELEASE else f"a {kind}"
        findings.error(Place(given, "kind"), f"{what} stands in {first.file} already", "name one of them")


def _is_complete(of: dict[str, Given], loaded: Sequence[LoadedDocument], findings: Findings) -> bool:
    """Whether there is one module, or one resolved release."""
    if MODULE in of and RESOLVED in of:
        message = f"a Module stands in {of[MODULE].file}, too: a resolved release holds one already"
        findings.error(Place(of[RESOLVED], "kind"), message, "name one of them")
    if RESOLVED in of and RELEASE in of and MODULE not in of and spec_of(of[RELEASE]).get("values"):
        message = "a resolved release holds its values itself"
        findings.error(Place(of[RELEASE], _VALUES), message, "leave the values out, or give the Module")
    if MODULE not in of and RESOLVED not in of:
        file = loaded[0].file if loaded else ""
        hint = f"give one with -f: apiVersion: {API_VERSION}, kind: {MODULE}"
        findings.error(Place(Given(file, {}), ""), "there is no module among the documents", hint)
        return False
    return True
