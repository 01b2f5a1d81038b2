"""All hostile manifests."""

from collections.abc import Mapping
from typing import Final

from tests.faults.hostile import (
    answers,
    crowds,
    files,
    finds,
    generators,
    gjson,
    jsonpath,
    merges,
    pushes,
    regexps,
    requests,
    rewrites,
    templates,
    texts,
)
from tests.faults.hostile.manifests import Hostile

FLAWS: Final[Mapping[str, str]] = {}
"""What does not hold yet, and why."""

CASES: Final[tuple[Hostile, ...]] = tuple(
    case
    for family in (
        gjson,
        jsonpath,
        rewrites,
        regexps,
        templates,
        requests,
        generators,
        files,
        texts,
        finds,
        answers,
        merges,
        pushes,
        crowds,
    )
    for case in family.CASES
)
