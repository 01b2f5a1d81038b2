"""The spec of an Onboardbase store, and its rules beyond the schema."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.kit import spec_rules


class OnboardbaseAuth(Model):
    """An API key, and the passcode that decrypts the values.

    Example: {apiKeyRef: {name: onboardbase-login, key: apiKey}, passcodeRef: {name: onboardbase-login, key:
    passcode}}
    """

    api_key_ref: SecretKeySelector
    """The API key. Example: {name: onboardbase-login, key: apiKey}"""
    passcode_ref: SecretKeySelector
    """The passcode of the project; it is not sent. Example: {name: onboardbase-login, key: passcode}"""


class OnboardbaseSpec(Model):
    """Reads the secrets of one environment of one project.

    Example: {project: shop, environment: production, auth: {apiKeyRef: {name: onboardbase-login, key: key},
    passcodeRef: {name: onboardbase-login, key: passcode}}}
    """

    auth: OnboardbaseAuth
    """How the store authenticates to Onboardbase."""
    api_host: str = "https://public.onboardbase.com/api/v1/"
    """Address of the API, with its version. Example: https://onboardbase.example.com/api/v1/"""
    project: str = "development"
    """Name of the project. Example: shop"""
    environment: str = "development"
    """Name of the environment. Example: production"""


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
