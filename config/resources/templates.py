"""The template of a target: shared by ExternalSecret and PushSecret."""

from typing import Literal

from syncret.config.fields import Model, Name, SecretKey
from syncret.config.resources.base import DecodingStrategy


class TemplateItem(Model):
    """One key of a Secret or ConfigMap with a template."""

    key: SecretKey
    template_as: Literal["Values", "KeysAndValues"] = "Values"


class TemplateSource(Model):
    """A Secret or ConfigMap with templates."""

    name: Name
    items: tuple[TemplateItem, ...]


class TemplateFrom(Model):
    """Templates from another object, or a text that renders to whole keys.

    `target` is one of Data, Annotations, Labels, or for manifests other than Secrets a path into the object.
    """

    config_map: TemplateSource | None = None
    secret: TemplateSource | None = None
    literal: str | None = None
    target: str = "Data"
    values_decoding_strategy: DecodingStrategy | None = None


class TemplateMetadata(Model):
    """Labels, annotations and finalizers of the target."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()


class Template(Model):
    """How the target is rendered from the values."""

    type: str = ""
    engine_version: Literal["v2"] = "v2"
    metadata: TemplateMetadata = TemplateMetadata()
    merge_policy: Literal["Replace", "Merge"] = "Replace"
    data: dict[str, str] = {}
    template_from: tuple[TemplateFrom, ...] = ()
