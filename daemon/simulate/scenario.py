"""The model of a Scenario: the clock, the flags, simulated providers, and the steps."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from syncret.config.catalog import Catalog
from syncret.config.durations import DurationError, parse_duration
from syncret.config.errors import Problem, UnknownField
from syncret.config.fields import Duration, Json, Model
from syncret.config.meta import Document, Metadata, ObjectRef, is_object, member
from syncret.config.resources.kinds import kind_named
from syncret.config.schema.structural import Schema
from syncret.daemon.core.conditions import seconds

API_VERSION: Final = "syncret.dev/v1alpha1"
KIND: Final = "Scenario"
FLAGS: Final = ("unsafe-allow-generic-targets",)


class StandIn(Model):
    """One entry of a simulated secret manager."""

    key: str
    value: str
    version: str = ""


class ObjectName(Model):
    """The object of a patch or a deletion."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(self.api_version.rpartition("/")[0], self.kind, self.namespace, self.name)


class Patch(ObjectName, kw_only=True):
    """A JSON merge patch of one object."""

    merge: Json


class Fault(Model):
    """Every provider call of that kind fails with this text in the step; without a store, at all stores."""

    operation: Literal["read", "push", "delete"]
    error: str
    store: str = ""


class Step(Model):
    """Changes at one instant; then the engine runs until it is idle, then the clock advances."""

    apply: tuple[Json, ...] = ()
    patch: tuple[Patch, ...] = ()
    delete: tuple[ObjectName, ...] = ()
    faults: tuple[Fault, ...] = ()
    advance: Duration = "0s"

    @property
    def seconds(self) -> float:
        return parse_duration(self.advance)


class ScenarioSpec(Model):
    """The initial time, features that are off by default, simulated providers by store, and the steps.

    `secret_apis`: what the secret APIs of resources return, all names, by `Kind/namespace/name`.
    """

    now: str | None = None
    flags: tuple[Annotated[str, Meta()], ...] = ()
    providers: dict[str, tuple[StandIn, ...]] = {}
    secret_apis: dict[str, dict[str, str]] = {}
    steps: tuple[Step, ...] = ()


class Scenario(Model, kw_only=True):
    """A scenario: changes of manifests over time in a simulated cluster."""

    api_version: Literal["syncret.dev/v1alpha1"]
    kind: Literal["Scenario"]
    metadata: Metadata = Metadata()
    spec: ScenarioSpec


def read_scenario(document: Document, catalog: Catalog) -> tuple[Scenario | None, list[Problem]]:
    """The scenario, or its problems; unlike in a manifest, an unknown field is an error."""
    kind = document.get("kind")
    if isinstance(kind, str) and kind != KIND:
        hint = "apply it in a step of a Scenario, or check it with `syncret validate`"
        return None, [Problem(path="kind", message=f"{kind} is not a Scenario", hint=hint)]
    admitted = Schema.of(Scenario, catalog).admit(document)
    problems = [
        Problem(path=problem.path, message="unknown field", hint=problem.hint)
        if isinstance(problem, UnknownField)
        else problem
        for problem in admitted.problems
    ]
    if problems:
        return None, problems
    scenario = msgspec.convert(admitted.document, Scenario)
    problems = list(_problems(scenario.spec))
    return (None, problems) if problems else (scenario, [])


def _problems(spec: ScenarioSpec) -> Iterator[Problem]:
    if spec.now is not None and seconds(spec.now) is None:
        yield Problem(path="spec.now", message="not a time", hint='write it as "2026-01-01T00:00:00Z"')
    for index, flag in enumerate(spec.flags):
        if flag not in FLAGS:
            yield Problem(
                path=f"spec.flags[{index}]",
                message="there is no such flag",
                hint=f"known: {', '.join(FLAGS)}",
            )
    for name in spec.providers:
        if store_ref(name) is None:
            yield Problem(
                path=f"spec.providers.{name}",
                message="does not name a store",
                hint="write SecretStore/<namespace>/<name> or ClusterSecretStore/<name>",
            )
    for name in spec.secret_apis:
        if resource_name(name) is None:
            yield Problem(
                path=f"spec.secretApis.{name}",
                message="does not name a resource",
                hint="write <Kind>/<namespace>/<name>",
            )
    for index, step in enumerate(spec.steps):
        yield from _step_problems(step, f"spec.steps[{index}]")


def _step_problems(step: Step, path: str) -> Iterator[Problem]:
    try:
        if step.seconds < 0:
            yield Problem(
                path=f"{path}.advance", message="time does not run backwards", hint="write 0s or more"
            )
    except DurationError as error:
        yield Problem(
            path=f"{path}.advance", message=str(error), hint="write a duration such as 90s or 1h30m"
        )
    for index, item in enumerate(step.apply):
        if not _is_identified(item):
            yield Problem(
                path=f"{path}.apply[{index}]",
                message="not an object",
                hint="give it apiVersion, kind and metadata.name",
            )
    for index, fault in enumerate(step.faults):
        if fault.store and store_ref(fault.store) is None:
            yield Problem(
                path=f"{path}.faults[{index}].store",
                message="does not name a store",
                hint="write SecretStore/<namespace>/<name> or ClusterSecretStore/<name>",
            )


def _is_identified(item: Json) -> bool:
    if not is_object(item):
        return False
    texts = (item.get("apiVersion"), item.get("kind"), member(item, "metadata").get("name"))
    return all(isinstance(text, str) and text for text in texts)


def store_ref(text: str) -> ObjectRef | None:
    """`SecretStore/default/vault` or `ClusterSecretStore/vault` as a reference; None for anything else."""
    word, *names = text.split("/")
    kind = kind_named(word)
    if kind is None or kind.role != "store" or not all(names):
        return None
    match names:
        case [namespace, name] if kind.namespaced:
            return kind.ref(namespace, name)
        case [name] if not kind.namespaced:
            return kind.ref("", name)
        case _:
            return None


def resource_name(text: str) -> tuple[str, str, str] | None:
    """`StorageAccount/default/acct` as kind, namespace and name; None for anything else."""
    match text.split("/"):
        case [kind, namespace, name] if kind and namespace and name:
            return kind, namespace, name
        case _:
            return None
