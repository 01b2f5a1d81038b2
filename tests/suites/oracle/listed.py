"""The differences that are known and stand, with their reasons, in docs/reference/template-differences.md."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

from tests.suites.oracle.client import Answer

Listed: TypeAlias = Callable[[str, Answer, Answer], bool]
"""Whether a difference is this one: of the question, of Go's answer and of ours."""

KEYS_MEET: Final = "two keys become one"
"""In the question of a rewrite after which there are fewer keys."""

_STRUCTS: Final = (b"(time.Time=", b"(*semver.Version=", b"(sprig.certificate=")
_NEGATIVE: Final = re.compile(r"\(gen.* (?:-\d|\d{7})")
"""So many days that they come round count, too."""
_OF_YAML: Final = b"error converting YAML to JSON"


def _keys(answer: Answer) -> set[str]:
    return set(cast("dict[str, bytes]", answer.result))


def _text(answer: Answer) -> bytes:
    return answer.result if isinstance(answer.result, bytes) else b""


def _inside_of_a_struct(_question: str, _theirs: Answer, ours: Answer) -> bool:
    return b"%!" in _text(ours) and any(struct in _text(ours) for struct in _STRUCTS)


def _message_of_yaml(question: str, theirs: Answer, ours: Answer) -> bool:
    return "fromYaml" in question and not theirs.failed and not ours.failed and _OF_YAML in _text(ours)


def _days_before_today(question: str, theirs: Answer, ours: Answer) -> bool:
    return _NEGATIVE.search(question) is not None and not theirs.failed and "days" in ours.why


def _one_key_of_two(question: str, theirs: Answer, ours: Answer) -> bool:
    both_done = isinstance(theirs.result, dict) and isinstance(ours.result, dict)
    return KEYS_MEET in question and both_done and _keys(theirs) == _keys(ours)


def _key_of_bytes(question: str, theirs: Answer, ours: Answer) -> bool:
    return "transform" in question and not theirs.failed and "not text" in ours.why


DIFFERENCES: Final[Mapping[str, Listed]] = {
    "the inside of a time, version or certificate": _inside_of_a_struct,
    "the message for input that fromYaml cannot read": _message_of_yaml,
    "a certificate that ends before it begins": _days_before_today,
    "which value stays if a rewrite maps two keys to one": _one_key_of_two,
    "a rewrite that produces a key with invalid bytes": _key_of_bytes,
}


def is_listed(question: str, theirs: Answer, ours: Answer) -> bool:
    return any(judge(question, theirs, ours) for judge in DIFFERENCES.values())
