"""Renders the release in a file of manifests: the rendered documents are manifests of that file.

A module, a release and a platform that belong together stand in one file. So their Secrets and
ExternalSecrets come and go with the file, as its other documents do; with a mistake in it, what the file
defined last stays in force.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from syncret.config.fields import Json
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.meta import Document
from syncret.config.resources.kinds import PARTS_OF_RELEASES

if TYPE_CHECKING:  # few hosts have any
    from syncret.daemon.release.hosted import HostedRelease

_API_VERSION: Final = "syncret.dev/v1alpha1"
_WORKLOADS: Final = frozenset({"Deployment"})
"""Kinds of a release that a host does not use."""


def with_releases(
    documents: Iterable[LoadedDocument], found: "list[HostedRelease]"
) -> Iterator[LoadedDocument]:
    """The documents of a file, with those of a release rendered; the release is added to `found`.

    Where another document of the file cannot be read, it may be a part of the release: nothing is rendered.
    """
    parts: list[LoadedDocument] = []
    is_whole = True
    for loaded in documents:
        if _is_part(loaded.document):
            parts.append(loaded)
        else:
            is_whole = is_whole and loaded.document is not None
            yield loaded
    if parts and is_whole:
        yield from _rendered(parts, found)


def _is_part(document: Document | None) -> bool:
    if document is None:
        return False
    kind: Json = document.get("kind")
    return isinstance(kind, str) and kind in PARTS_OF_RELEASES and document.get("apiVersion") == _API_VERSION


def _rendered(parts: list[LoadedDocument], found: "list[HostedRelease]") -> Iterator[LoadedDocument]:
    """The rendered manifests, or the problems alone. Warnings are reported with the first manifest."""
    from syncret.daemon.release.compiler import Refusal, parse, rendered, resolved
    from syncret.daemon.release.hosted import hosted
    from syncret.daemon.release.report import problems_of

    parsed = parse(parts)
    hint = "refer to it ({source: k8s-eso, ...}), or render with `syncret release --resolve KIND`"
    refusal = Refusal("a tag is resolved by `syncret release` alone", hint, is_mistake=True)
    parsed = resolved(parsed, {field.label: refusal for field, _ in parsed.tags})
    result = rendered(parsed)
    problems = tuple(each.problem for each in problems_of(parsed))
    place = next((each for each in parts if _kind(each) == "Release"), parts[0])
    items = [item for item in result.items if item["kind"] not in _WORKLOADS]
    if parsed.findings.has_errors or any(problem.fatal for problem in problems):
        yield replace(place, document=None, problems=problems, lines=None)
        return
    found.append(hosted(parsed, result, place.file, place.line))
    for number, item in enumerate(items):
        shown = problems if number == 0 else ()
        yield replace(place, document=item, problems=shown, lines=None)


def _kind(loaded: LoadedDocument) -> str:
    return "" if loaded.document is None else str(loaded.document.get("kind"))
