"""The building blocks for the spec of a provider or generator."""

from syncret.config.catalog import Scope, SpecType
from syncret.config.errors import Problem, Severity
from syncret.config.fields import (
    CAProvider,
    Duration,
    Model,
    Rule,
    SecretKeySelector,
    ServiceAccountSelector,
    at_most_one,
    exactly_one,
)

__all__ = [
    "CAProvider",
    "Duration",
    "Model",
    "Problem",
    "Rule",
    "Scope",
    "SecretKeySelector",
    "ServiceAccountSelector",
    "Severity",
    "SpecType",
    "at_most_one",
    "exactly_one",
]
