"""Resources of other operators that have exports: where their expressions are."""

from typing import Final

from syncret.config.meta import Document, is_list, member
from syncret.config.resources.kinds import OUR_GROUPS

EXPORT_LISTS: Final = ("dynamicSecrets", "secretExpressions", "dynamicConfigMaps", "configMapExpressions")
"""The lists of expressions in `spec.operatorSpec`, in both spellings."""


def has_exports(document: Document) -> bool:
    """Whether it is a resource of another operator, with at least one expression."""
    group, _, _ = str(document.get("apiVersion")).rpartition("/")
    spec = member(document, "spec", "operatorSpec")
    return bool(group) and group not in OUR_GROUPS and any(is_list(spec.get(each)) for each in EXPORT_LISTS)
