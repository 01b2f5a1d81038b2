"""The filters of Google's lists: https://cloud.google.com/secret-manager/docs/filtering."""

import re
from collections.abc import Sequence


def filter_text(path: str, labels: Sequence[tuple[str, str]]) -> str:
    """Google's filter for a part of a name and for labels."""
    terms = [f"labels.{_word(key)}={_word(value)}" for key, value in labels]
    return " ".join([*terms, f"name:{_word(path)}"] if path else terms)


def _word(text: str) -> str:
    """A word of the filter language, in quotes where it could be read as more than a word."""
    if re.fullmatch(r"[\w-]+", text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
