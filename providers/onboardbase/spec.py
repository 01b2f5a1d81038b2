"""The spec of an Onboardbase store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules


class OnboardbaseAuth(Model):
    """An API key, and the passcode that decrypts the values."""

    api_key_ref: SecretKeySelector
    passcode_ref: SecretKeySelector


class OnboardbaseSpec(Model):
    """A store in one environment of one Onboardbase project."""

    auth: OnboardbaseAuth
    api_host: str = "https://public.onboardbase.com/api/v1/"
    project: str = "development"
    environment: str = "development"


def check(spec: OnboardbaseSpec, scope: Scope) -> Iterator[Problem]:
    """Both credentials name a Secret in scope."""
    for path, name, selector in (
        ("auth.apiKeyRef", "onboardbaseAPIKey", spec.auth.api_key_ref),
        ("auth.passcodeRef", "onboardbasePasscode", spec.auth.passcode_ref),
    ):
        yield from spec_rules.strict(selector, scope, path, "invalid store")
        yield from spec_rules.filled(
            selector.name,
            f"{path}.name",
            f"invalid store: {name}.name cannot be empty",
            "name the Secret that holds the value",
        )
