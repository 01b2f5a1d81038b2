"""A case of ExternalSecrets or PushSecrets as a scenario for `syncret simulate`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import Unknown, is_list, knows

START: Final = "2026-01-01T00:00:00Z"
SETTLE: Final = "3s"
"""What passes after each step. Expectations hold once things have settled; intervals that matter to a case
are a second, the others an hour."""

_SUBJECTS: Final = ("externalSecret", "pushSecret", "clusterExternalSecret", "clusterPushSecret")
CLUSTER_SCOPED: Final = frozenset(
    {"ClusterSecretStore", "ClusterExternalSecret", "ClusterPushSecret", "ClusterGenerator", "Namespace"}
)
_KNOWN: Final = frozenset(
    {
        *("id", "note", "source", "uncertain", "objects", "namespaces", "flags", "expect", "steps"),
        *("provider_behaviour", "inject", *_SUBJECTS),
    }
)
_OPERATIONS: Final = {
    "read": {"read", "get", "find", "exists", "getsecret", "getsecretmap", "getallsecrets", "secretexists"},
    "push": {"push", "pushsecret", "setsecret"},
    "delete": {"delete", "deletesecret"},
}


class Translated(NamedTuple):
    """A scenario, and what is expected after which of its steps."""

    subject: Document
    document: Document
    expectations: tuple[tuple[int, Mapping[str, Json]], ...]


def translate(case: Case, name: str) -> Translated:
    """The scenario of a case. Raises Unknown rather than pass anything over."""
    body = case.body
    knows(body, _KNOWN, "case")
    subject = _subject(body)
    if body.get("provider_behaviour") not in {None, "fake"}:
        raise Unknown(f"provider_behaviour {body['provider_behaviour']!r}")
    faults = _faults(body.get("inject"))
    objects = [*_namespaces(body.get("namespaces") or {}), *map(_placed, body.get("objects") or [])]
    steps = [
        {"apply": objects, "advance": SETTLE},
        {"apply": [subject], "advance": SETTLE, "faults": faults},
    ]
    expectations = [(1, body["expect"])]
    for place, step in enumerate(body.get("steps") or [], 2):
        knows(
            step,
            {"action", "expect", "note", "inject", *_members(step)},
            "a step",
        )
        steps.append(
            {**_commands(step, subject, place), "faults": _faults(step.get("inject", body.get("inject")))}
        )
        expectations.append((place, step.get("expect") or {}))
    document = scenario(name, steps, flags=body.get("flags") or [])
    return Translated(subject, document, tuple(expectations))


def scenario(name: str, steps: Sequence[Document], *, flags: Sequence[str] = ()) -> Document:
    """The document that `syncret simulate` takes."""
    return {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {"now": START, "flags": flags, "steps": steps},
    }


def _subject(body: Mapping[str, Json]) -> Document:
    found = [body[name] for name in _SUBJECTS if name in body]
    if len(found) != 1:
        raise Unknown(f"expected one resource; the case has {len(found)}")
    return _placed(found[0])


def _placed(document: Document) -> Document:
    """The object, in the namespace that is meant where it names none."""
    if document["kind"] in CLUSTER_SCOPED or document["metadata"].get("namespace"):
        return document
    return {**document, "metadata": {**document["metadata"], "namespace": "default"}}


def _namespaces(said: Mapping[str, Json]) -> Iterator[Document]:
    for name, content in said.items():
        knows(content or {}, {"labels", "annotations"}, "namespaces")
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **(content or {})}}


def _faults(said: Json) -> list[Document]:
    """The faults of `inject`: one, several, or one for each operation; a bare text makes pushes fail."""
    if said is None:
        return []
    if isinstance(said, str):
        return [{"operation": "push", "error": said}]
    if is_list(said):
        return [fault for one in said for fault in _faults(one)]
    if not is_object(said):
        raise Unknown(f"inject: {said!r}")
    if "operation" in said:
        knows(said, {"operation", "error", "store"}, "inject")
        return [{**said, "operation": _operation(said["operation"])}]
    return [{"operation": _operation(name), "error": error} for name, error in said.items()]


def _operation(name: str) -> str:
    """The kind of call that fails, by our name for it or by that of ESO's provider interface."""
    for operation, names in _OPERATIONS.items():
        if name.lower().removesuffix("_error") in names:
            return operation
    raise Unknown(f"inject: the operation {name!r}")


def _members(step: Mapping[str, Json]) -> frozenset[str]:
    known = _ACTIONS.get(step["action"])
    return known[0] if known is not None else frozenset()


def _commands(step: Mapping[str, Json], subject: Document, place: int) -> Document:
    known = _ACTIONS.get(step["action"])
    if known is None:
        raise Unknown(f"the action {step['action']!r}")
    return {"advance": SETTLE, **known[1](step, subject, place)}


def named(document: Document) -> Document:
    """How a command names an object."""
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "namespace": document["metadata"].get("namespace", ""),
        "name": document["metadata"]["name"],
    }


def _secret(step: Mapping[str, Json]) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "namespace": step.get("namespace", "default"),
        "name": step["secret"],
    }


def _data(step: Mapping[str, Json]) -> Document:
    return {name: step[name] for name in ("stringData", "data") if name in step}


def _patched(name: Document, merge: Document) -> Document:
    return {"patch": [{**name, "merge": merge}]}


_Action: TypeAlias = tuple[frozenset[str], Callable[[Mapping[str, Json], Document, int], Document]]

_SECRET_DATA: Final = frozenset({"secret", "namespace", "stringData", "data"})
_PATCH: Final[_Action] = (
    frozenset({"patch"}),
    lambda step, subject, _: _patched(named(subject), step["patch"]),
)
_DELETE: Final[_Action] = (frozenset(), lambda _, subject, __: {"delete": [named(subject)]})
_RECREATE: Final[_Action] = (frozenset(), lambda _, subject, __: {"apply": [subject]})
_ACTIONS: Final[Mapping[str, _Action]] = {
    "apply": (frozenset({"object"}), lambda step, _, __: {"apply": [_placed(step["object"])]}),
    "delete": (frozenset({"object"}), lambda step, _, __: {"delete": [named(_placed(step["object"]))]}),
    "patch_es": _PATCH,
    "patch_ps": _PATCH,
    "patch_ces": _PATCH,
    "patch_cps": _PATCH,
    "delete_es": _DELETE,
    "delete_ps": _DELETE,
    "delete_ces": _DELETE,
    "delete_cps": _DELETE,
    "recreate_es": _RECREATE,
    "recreate_ps": _RECREATE,
    "patch_secret": (_SECRET_DATA, lambda step, _, __: _patched(_secret(step), _data(step))),
    "replace_secret_data": (
        _SECRET_DATA,
        lambda step, _, __: {
            "patch": [{**_secret(step), "merge": merge} for merge in ({"data": None}, _data(step))]
        },
    ),
    "delete_secret": (frozenset({"secret", "namespace"}), lambda step, _, __: {"delete": [_secret(step)]}),
    "force_sync": (
        frozenset(),
        lambda _, subject, place: _patched(
            named(subject), {"metadata": {"annotations": {"force-sync": str(place)}}}
        ),
    ),
    "resync": (frozenset(), lambda _, __, ___: {}),
    "advance": (frozenset({"seconds"}), lambda step, _, __: {"advance": f"{step['seconds']}s"}),
    "label_namespace": (
        frozenset({"namespace", "name", "labels"}),
        lambda step, _, __: _patched(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "namespace": "",
                "name": step.get("namespace") or step["name"],
            },
            {"metadata": {"labels": step["labels"]}},
        ),
    ),
}
"""Every action: its members, and the commands that it stands for."""
