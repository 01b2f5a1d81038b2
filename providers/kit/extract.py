"""Takes a property out of a value by a gjson path."""

from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson


def value(document: bytes, path: str) -> bytes | None:
    """What the path leads to, as text; None where it leads nowhere."""
    try:
        current: object = gojson.unmarshal(document)
    except Malformed:
        return None
    for name in path.split("."):
        if not isinstance(current, dict) or name not in current:
            return None
        current = current[name]
    return gojson.byte_value(current)
