"""Finds ExternalSecrets that write the same target: all but its owner are refused."""

from collections.abc import Iterable, Iterator

from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.given import GivenObject
from syncret.daemon.core.lint.templates import Finding
from syncret.daemon.core.target import form_of


def shared_targets(objects: Iterable[GivenObject]) -> Iterator[Finding]:
    """A problem of each ExternalSecret but the owner, which is the first one that can be it."""
    writers: dict[object, list[tuple[str, ExternalSecret]]] = {}
    for place, resource in objects:
        if isinstance(resource, ExternalSecret) and resource.spec.target.creation_policy != "None":
            writers.setdefault(form_of(resource).ref(resource), []).append((place, resource))
    for target, several in writers.items():
        owners = [each for each in several if each[1].spec.target.creation_policy == "Owner"]
        if len(several) < 2 or not owners:  # noqa: PLR2004  # two share one
            continue
        place, owner = owners[0]
        for _, resource in several:
            if resource is not owner:
                path = "spec.target.name" if resource.spec.target.name else "metadata.name"
                yield Finding(
                    resource.ref,
                    texts.warning(
                        path,
                        f"{target} is the target of {owner.ref}, too ({place}), which owns it",
                        "give each a target of its own in spec.target.name, or make both one ExternalSecret",
                    ),
                )
