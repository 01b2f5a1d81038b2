"""ExternalSecretsManager: defaults and features of the operator, and how far everything is."""

from typing import Annotated, ClassVar

from msgspec import Meta

from syncret.config.fields import Model, Rule, Timestamp
from syncret.config.resources.base import Resource
from syncret.config.resources.operator.common import CommonSettings, Labels, Switch
from syncret.config.resources.operator.rules import named_cluster


class GlobalConfig(CommonSettings):
    """Defaults for what the operator installs.

    Example: {labels: {team: platform}}
    """

    labels: Labels = {}
    """Labels of everything that is installed, beside ours. Example: {team: platform}"""


class Feature(Model):
    """A feature of the operator that is off by default.

    Example: {name: CleanUpDisabledPlugins, enabled: 'true'}
    """

    name: str
    """CleanUpDisabledPlugins: what a plugin left is removed when it is switched off.
    Example: CleanUpDisabledPlugins"""
    enabled: Switch
    """Whether it is on. Example: 'true'"""


class ExternalSecretsManagerSpec(Model):
    """Defaults, and features.

    Example: {globalConfig: {labels: {team: platform}}}
    """

    global_config: GlobalConfig | None = None
    """Defaults for what the operator installs; an ExternalSecretsConfig wins over them."""
    features: tuple[Feature, ...] = ()
    """Features that are off by default; of two entries of one name the last counts."""


class ControllerCondition(Model):
    """One statement on an object that the operator looks after.

    Example: {type: Ready, status: 'True', message: ''}
    """

    type: str
    """Type of its condition. Example: Ready"""
    status: str = ""
    """Whether it holds. Example: 'True'"""
    message: str = ""
    """Why. Example: 'waits for Deployment external-secrets: 0 of 1 available'"""


class ControllerStatus(Model):
    """The conditions of an object that the operator looks after.

    Example: {name: externalsecretsconfigs.operator.openshift.io/v1alpha1}
    """

    name: str
    """Its kind. Example: externalsecretsconfigs.operator.openshift.io/v1alpha1"""
    conditions: Annotated[tuple[ControllerCondition, ...], Meta(extra={"list_keys": ("type",)})] = ()
    """Its conditions."""
    observed_generation: Annotated[int, Meta(ge=0, extra_json_schema={"format": "int64"})] | None = None
    """The generation that they are about. Example: 3"""


class ExternalSecretsManagerStatus(Model):
    """The conditions of all that the operator looks after; ignored in a manifest.

    Example: {}
    """

    controller_statuses: Annotated[tuple[ControllerStatus, ...], Meta(extra={"list_keys": ("name",)})] = ()
    """One entry for each kind."""
    last_transition_time: Timestamp | None = None
    """When one of them last changed. Example: '2026-01-01T00:00:00Z'"""


class ExternalSecretsManager(Resource):
    """Defaults and features of the operator; it makes the object itself."""

    RULES: ClassVar[tuple[Rule, ...]] = (named_cluster("ExternalSecretsManager"),)

    spec: ExternalSecretsManagerSpec = ExternalSecretsManagerSpec()
    """Defaults, and features."""
    status: ExternalSecretsManagerStatus = ExternalSecretsManagerStatus()
    """The conditions of all that the operator looks after; ignored in a manifest."""
