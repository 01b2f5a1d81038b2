"""The template of a target: shared by ExternalSecret and PushSecret."""

from typing import Literal

from syncret.config.fields import Model, Name, SecretKey
from syncret.config.resources.base import DecodingStrategy


class TemplateItem(Model):
    """A key of a ConfigMap or Secret that holds a template.

    Example: {key: app.conf, templateAs: Values}
    """

    key: SecretKey
    """Key whose value is the template; if it does not exist, nothing is written. Example: app.conf"""
    template_as: Literal["Values", "KeysAndValues"] = "Values"
    """Values: the result is the value of that one key. KeysAndValues: it is YAML lines `key: value`, each of
    which becomes a key."""


class TemplateSource(Model):
    """A ConfigMap or Secret that holds templates, in the namespace of the object.

    Example: {name: app-templates, items: [{key: app.conf}]}
    """

    name: Name
    """Name of the ConfigMap or Secret; a change of it takes effect at the next refresh.
    Example: app-templates"""
    items: tuple[TemplateItem, ...]
    """The keys to render; others are ignored."""


class TemplateFrom(Model):
    """Templates of another object, or a text that renders to keys and values.

    `target` is one of Data, Annotations, Labels, or for manifests other than Secrets a path into the object.

    Example: {configMap: {name: app-templates, items: [{key: app.conf}]}}
    """

    config_map: TemplateSource | None = None
    """A ConfigMap that holds templates."""
    secret: TemplateSource | None = None
    """A Secret that holds templates."""
    literal: str | None = None
    """A template written here; it renders to YAML lines `key: value`, each of which becomes a key.
    Example: 'url: postgres://{{ .user }}@db'"""
    target: str = "Data"
    """Where the results go: Data, Annotations or Labels; for a target other than a Secret also a path into
    it.
    Example: Annotations"""
    values_decoding_strategy: DecodingStrategy | None = None
    """How each rendered value is decoded before it is written; by default not at all."""


class TemplateMetadata(Model):
    """Labels, annotations and finalizers of the target."""

    labels: dict[str, str] = {}
    """Labels of the target; their values are templates, too. Example: {app: shop}"""
    annotations: dict[str, str] = {}
    """Annotations of the target; their values are templates, too. Example: {owner: '{{ .user }}'}"""
    finalizers: tuple[str, ...] = ()
    """Finalizers that the target gets; it cannot be deleted until another program removes them.
    Example: [example.com/cleanup]"""


class Template(Model):
    """How the target is made from the values: its keys, type, labels and annotations.

    Example: {data: {url: 'postgres://{{ .user }}:{{ .password }}@db'}}
    """

    type: str = ""
    """Type of the Secret; the target is refused if it lacks a key that the type requires.
    Example: kubernetes.io/tls"""
    engine_version: Literal["v2"] = "v2"
    """Version of the template functions; there is only one. Example: v2"""
    metadata: TemplateMetadata = TemplateMetadata()
    """Labels, annotations and finalizers of the target, instead of those of the object itself."""
    merge_policy: Literal["Replace", "Merge"] = "Replace"
    """Replace: the target has only what is rendered. Merge: it has the values, too, overlaid with what is
    rendered."""
    data: dict[str, str] = {}
    """Go templates by key of the target; `.name` is the value fetched for that name, and one that is missing
    is an error.
    Example: {url: 'postgres://{{ .user }}:{{ .password }}@db'}"""
    template_from: tuple[TemplateFrom, ...] = ()
    """Templates that are kept elsewhere; they are rendered first, and `data` is laid over them."""
