"""Label selectors, and the conditions of a ClusterSecretStore: which objects and namespaces they match."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.fields import LabelRequirement, LabelSelector
from syncret.config.resources.secret_store import StoreCondition
from syncret.providers.errors import Malformed
from syncret.providers.kit import goregexp

_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_MAX_PREFIX: Final = 253


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether all labels and all expressions match. Raises Malformed as `check` does."""
    check(selector)
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        _holds(requirement, labels) for requirement in selector.match_expressions
    )


def check(selector: LabelSelector) -> None:
    """Raises Malformed for a selector that Kubernetes would refuse."""
    for key, value in selector.match_labels.items():
        _check_key(key)
        _check_value(key, value)
    for requirement in selector.match_expressions:
        _check_requirement(requirement)


def admits(conditions: Sequence[StoreCondition], namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether a ClusterSecretStore may be used from a namespace. No condition at all admits every one.

    Raises Malformed for an invalid selector or regular expression.
    """
    return not conditions or any(_admitted(condition, namespace, labels) for condition in conditions)


def _admitted(condition: StoreCondition, namespace: str, labels: Mapping[str, str]) -> bool:
    if namespace in condition.namespaces:
        return True
    if condition.namespace_selector is not None and matches(condition.namespace_selector, labels):
        return True
    return any(goregexp.compile(source).search(namespace) for source in condition.namespace_regexes)


def _holds(requirement: LabelRequirement, labels: Mapping[str, str]) -> bool:
    match requirement.operator:
        case "In":
            return labels.get(requirement.key) in requirement.values
        case "NotIn":
            return labels.get(requirement.key) not in requirement.values
        case "Exists":
            return requirement.key in labels
        case _:  # DoesNotExist: anything else was refused
            return requirement.key not in labels


def _check_requirement(requirement: LabelRequirement) -> None:
    place = f'label selector: key "{requirement.key}"'
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                raise Malformed(f"{place}: {requirement.operator} needs values")
        case "Exists" | "DoesNotExist":
            if requirement.values:
                raise Malformed(f"{place}: {requirement.operator} takes no values")
        case _:
            problem = f'"{requirement.operator}" is not a valid label selector operator'
            raise Malformed(problem, hint="use In, NotIn, Exists or DoesNotExist")
    _check_key(requirement.key)
    for value in requirement.values:
        _check_value(requirement.key, value)


def _check_key(key: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if not _NAME.fullmatch(name) or (slash and (len(prefix) > _MAX_PREFIX or not _PREFIX.fullmatch(prefix))):
        raise Malformed(f'label selector: "{key}" is not a valid label key')


def _check_value(key: str, value: str) -> None:
    if value and not _NAME.fullmatch(value):
        raise Malformed(f'label selector: key "{key}": "{value}" is not a valid label value')
