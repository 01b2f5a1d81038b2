"""Matches label selectors, as Kubernetes reads them."""

from collections.abc import Mapping

from syncret.config.fields import LabelRequirement, LabelSelector
from syncret.config.schema.metadata_rules import is_label_value, is_qualified
from syncret.providers.errors import Malformed


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


def as_text(selector: LabelSelector) -> str:
    """The selector as an API request has it."""
    texts = [f"{key}={value}" for key, value in selector.match_labels.items()]
    for requirement in selector.match_expressions:
        match requirement.operator:
            case "Exists":
                texts.append(requirement.key)
            case "DoesNotExist":
                texts.append(f"!{requirement.key}")
            case operator:
                texts.append(f"{requirement.key} {operator.lower()} ({','.join(requirement.values)})")
    return ",".join(texts)


def _holds(requirement: LabelRequirement, labels: Mapping[str, str]) -> bool:
    match requirement.operator:
        case "In":
            return labels.get(requirement.key) in requirement.values
        case "NotIn":
            return labels.get(requirement.key) not in requirement.values
        case "Exists":
            return requirement.key in labels
        case _:  # DoesNotExist; `check` refuses any other
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
    if not is_qualified(key):
        raise Malformed(f'label selector: "{key}" is not a valid label key')


def _check_value(key: str, value: str) -> None:
    if not is_label_value(value):
        raise Malformed(f'label selector: key "{key}": "{value}" is not a valid label value')
