"""The problems that `validate` reports of a release whose parts are in one file of manifests."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.errors import Problem
from syncret.config.manifests.loader import LoadedDocument
from syncret.config.resources.kinds import PARTS_OF_RELEASES

API_VERSION: Final = "syncret.dev/v1alpha1"
_WHOLE: Final = ({"Module", "Release"}, {"ResolvedRelease"})


def release_problems(loaded: Sequence[LoadedDocument]) -> Mapping[int, list[Problem]]:
    """The problems by the index of their document; of tags only the syntax is checked."""
    of: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(loaded):
        if _kind(each) in PARTS_OF_RELEASES:
            of[each.file].append(place)
    found: dict[int, list[Problem]] = defaultdict(list)
    for places in of.values():
        kinds = {_kind(loaded[place]) for place in places}
        if any(whole <= kinds for whole in _WHOLE):
            for problem in _problems([loaded[place] for place in places]):
                before = [place for place in places if loaded[place].line <= problem.line]
                found[before[-1] if before else places[0]].append(problem)
    return found


def _kind(loaded: LoadedDocument) -> str:
    document = loaded.document or {}
    return str(document.get("kind")) if document.get("apiVersion") == API_VERSION else ""


def _problems(parts: Sequence[LoadedDocument]) -> list[Problem]:
    from syncret.daemon.release.compiler import parse, rendered  # few have any
    from syncret.daemon.release.report import problems_of

    parsed = parse(parts)
    if not parsed.tags:
        rendered(parsed)
    return [each.problem for each in problems_of(parsed)]
