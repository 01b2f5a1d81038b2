"""All hostile manifests."""

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

CASES: Final[tuple[Hostile, ...]] = tuple(
    case
    for family in (
        gjson, jsonpath, rewrites, regexps, templates, requests, generators, files, texts, finds, answers, merges, pushes, crowds,
    )
    for case in family.CASES
)  # fmt: skip
