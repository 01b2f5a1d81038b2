"""Hints for misspelt names."""

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Final

_NEAR: Final = 0.6
_FEW: Final = 12
_COMPARED: Final = 200
_MOST: Final = 1000
"""Words that a word is compared with, of very many: each comparison takes tens of microseconds."""


def by_similarity(word: str, known: Iterable[str]) -> tuple[list[str], list[str]]:
    """The known words similar to this one, best first, and the others in their order."""
    from difflib import SequenceMatcher  # imported only for a mistake

    words = list(known)
    most = words if len(words) <= _MOST else _of_similar_length(word, words)
    matcher = SequenceMatcher(b=word[:100].lower())
    scores: dict[str, float] = {}
    for each in dict.fromkeys(most):
        matcher.set_seq1(each.lower())
        # Two upper bounds of the ratio, each cheaper than the next, spare most words the whole comparison.
        if matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR:
            scores[each] = matcher.ratio()
    near = sorted((each for each in scores if scores[each] >= _NEAR), key=lambda each: -scores[each])
    return near, [each for each in words if scores.get(each, 0.0) < _NEAR]


def _of_similar_length(word: str, words: list[str]) -> list[str]:
    """A thousand words of a length like this one's, those that begin with the same letter first."""
    return nsmallest(_MOST, words, key=lambda each: (each[:1] != word[:1], abs(len(each) - len(word))))


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint with the nearest known word, or with a few of the known words."""
    near, others = by_similarity(word, known)
    if near:
        return f"did you mean {near[0]}?"
    return f"known are {', '.join(others[:_FEW])}{', ...' if len(others) > _FEW else ''}" if others else ""


def keys_hint(word: str, keys: Iterable[str]) -> str:
    """A hint for a key that something lacks: the nearest one, and the names of all; of many, a few."""
    names = sorted(keys)
    near, _ = by_similarity(word, names[:_COMPARED])
    nearest = f"did you mean {near[0]}? " if near else ""
    more = ", ..." if len(names) > _FEW else ""
    return f"{nearest}its keys are {', '.join(names[:_FEW]) or 'none'}{more}"


def allowed_values_hint(word: str, allowed: Sequence[str]) -> str:
    """A hint with all allowed words, the nearest first."""
    near, others = by_similarity(word, allowed)
    return f"write one of {', '.join([*near, *others])}" if len(allowed) > 1 else f"write {allowed[0]}"
