"""The lists of Secrets Manager: filtered, sorted, and told page by page."""

from collections.abc import Mapping
from typing import Any

from yarl import URL

from tests.support.servers.ibm.errors import IbmError

PAGE, LARGEST_PAGE = 200, 1000
_SEARCHED = ("id", "name", "description", "labels", "secret_type")
_SORTED = {"id", "created_at", "updated_at", "retrieved_at", "expiration_date", "secret_type", "name"}


def page(query: Mapping[str, str], url: URL, noun: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    """One page of the items that the query asks for, with the way to the others."""
    limit, offset = _number(query, "limit", PAGE), _number(query, "offset", 0)
    if not 0 < limit <= LARGEST_PAGE or offset < 0:
        raise IbmError("bad_request", "'limit' or 'offset' is out of range.")
    found = [item for item in items if _fits(item, query)]
    sort = query.get("sort", "created_at")
    if sort.removeprefix("-") not in _SORTED:
        raise IbmError("bad_request", "'sort' names no field that can be sorted by.")
    found.sort(key=lambda item: str(item.get(sort.removeprefix("-"), "")), reverse=sort.startswith("-"))
    last = max(0, len(found) - 1) // limit * limit

    def there(start: int) -> dict[str, str]:
        return {"href": str(url.update_query(offset=start, limit=limit))}

    told: dict[str, Any] = {
        "total_count": len(found),
        "limit": limit,
        "offset": offset,
        "first": there(0),
        "last": there(last),
        noun: found[offset : offset + limit],
    }
    if offset + limit < len(found):
        told["next"] = there(offset + limit)
    if offset:
        told["previous"] = there(max(0, offset - limit))
    return told


def _fits(item: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    groups, kinds = query.get("groups"), query.get("secret_types")
    if groups and item["secret_group_id"] not in groups.split(","):
        return False
    if kinds and item["secret_type"] not in kinds.split(","):
        return False
    labels = query.get("match_all_labels")
    if labels and not set(labels.split(",")) <= set(item["labels"]):
        return False
    wanted = query.get("search", "").lower()
    return any(wanted in str(item.get(name, "")).lower() for name in _SEARCHED)


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(query.get(name, default))
    except ValueError:
        raise IbmError("bad_request", f"'{name}' is not a number.") from None
