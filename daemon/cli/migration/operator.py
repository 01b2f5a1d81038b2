"""Finds ESO's Deployments, and translates their arguments to settings of the daemon."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.fields import LabelRequirement, LabelSelector
from syncret.config.meta import Document, GroupKind, member
from syncret.config.settings_layers import LayerValue
from syncret.daemon.cli.parser.eso_flags import Given, eso_flags, passed_over, without_effect

DEPLOYMENT: Final = GroupKind("apps", "Deployment")
_NAME: Final = "app.kubernetes.io/name"
_IMAGE: Final = "external-secrets"
_PARTS: Final = ("external-secrets", "external-secrets-webhook", "external-secrets-cert-controller")
LABELLED: Final = LabelSelector(
    match_expressions=(LabelRequirement(key=_NAME, operator="In", values=_PARTS),)
)
"""The labels that its chart puts on its Deployments."""

_NAMESPACE: Final = "--namespace"
_SUBCOMMANDS: Final = ("webhook", "certcontroller")


class Part(Struct, frozen=True, kw_only=True):
    """One Deployment of ESO: its controller, its webhook or its certificate controller."""

    namespace: str
    name: str
    image: str
    replicas: int
    subcommand: str
    """Empty: the controller."""
    arguments: Sequence[str]
    variables: Mapping[str, str]
    """Of its environment; one whose value is in a Secret or elsewhere has none here."""
    account: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def parts_of(deployments: Sequence[Document]) -> Iterator[Part]:
    """The Deployments among these that run ESO's image, whatever they are called."""
    for each in deployments:
        pod = member(each, "spec", "template", "spec")
        container = next((one for one in pod.get("containers") or () if _is_operator(one)), None)
        if container is None:
            continue
        arguments = [str(one) for one in container.get("args") or ()]
        subcommand = next((one for one in arguments if one in _SUBCOMMANDS), "")
        replicas = member(each, "spec").get("replicas")
        yield Part(
            namespace=each["metadata"]["namespace"],
            name=each["metadata"]["name"],
            image=str(container.get("image")),
            replicas=1 if replicas is None else int(replicas),
            subcommand=subcommand,
            arguments=[one for one in arguments if one not in _SUBCOMMANDS],
            variables={
                str(one.get("name")): str(one.get("value") or "") for one in container.get("env") or ()
            },
            account=str(pod.get("serviceAccountName") or "default"),
        )


def _is_operator(container: Document) -> bool:
    name = str(container.get("image") or "").partition("@")[0].rpartition("/")[2].partition(":")[0]
    return name == _IMAGE


class Translated(Struct, frozen=True, kw_only=True):
    """The arguments of ESO's controller as settings of the daemon."""

    settings: Sequence[LayerValue] = ()
    without_effect: Sequence[tuple[str, str]] = ()
    """Each with the reason."""
    impossible: Sequence[str] = ()
    """Arguments that are not supported or unknown, which must not be ignored."""


def translated(arguments: Sequence[str]) -> Translated:
    """The arguments as settings; unknown ones are listed with those that are not supported."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    eso_flags(parser)
    parser.add_argument(_NAMESPACE)  # which `run` has by itself
    kept, dropped = passed_over(arguments)
    options, unknown = parser.parse_known_args(kept)
    given: Sequence[Given] = options.eso
    scope = [LayerValue(_NAMESPACE, "namespace", options.namespace)] if options.namespace else []
    return Translated(
        settings=[
            *scope,
            *(
                LayerValue(each.flag.name, each.flag.setting, each.setting_value)
                for each in given
                if each.flag.setting
            ),
        ],
        without_effect=without_effect([each for each in given if not each.flag.setting], dropped),
        impossible=[f"{each}: is not known" for each in unknown],
    )
