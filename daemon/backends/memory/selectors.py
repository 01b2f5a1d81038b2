"""Label selectors, matched as Kubernetes matches them."""

from collections.abc import Mapping

from syncret.config.fields import LabelRequirement, LabelSelector


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether all labels and all expressions hold; an empty selector matches everything.

    An operator that Kubernetes does not know matches nothing: validation has refused it before.
    """
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        _holds(requirement, labels) for requirement in selector.match_expressions
    )


def _holds(requirement: LabelRequirement, labels: Mapping[str, str]) -> bool:
    match requirement.operator:
        case "In":
            return requirement.key in labels and labels[requirement.key] in requirement.values
        case "NotIn":
            return requirement.key not in labels or labels[requirement.key] not in requirement.values
        case "Exists":
            return requirement.key in labels
        case "DoesNotExist":
            return requirement.key not in labels
        case _:
            return False
