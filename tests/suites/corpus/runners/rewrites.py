"""Cases of rewrites as scenarios: the map is a JSON object in a store, the result is a Secret."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Final

from syncret.config.meta import Document
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import object_in
from tests.suites.corpus.runners.scenarios import SETTLE, scenario

_VALID_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")


def rewriting(case: Case, name: str) -> Document:
    """The scenario of a case."""
    store = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "store", "namespace": "default"},
        "spec": {"provider": {"fake": {"data": [{"key": "all", "value": json.dumps(case.body["in"])}]}}},
    }
    resource = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "es", "namespace": "default"},
        "spec": {
            "secretStoreRef": {"name": "store"},
            "dataFrom": [{"extract": {"key": "all"}, "rewrite": case.body["operations"]}],
        },
    }
    return scenario(name, [{"apply": [store, resource], "advance": SETTLE}])


def mismatches(case: Case, steps: Sequence[Document]) -> Iterator[str]:
    """What came that was not expected: a Secret with these values, or none.

    An operation that says nothing is refused before it runs.
    """
    (step,) = steps
    if step["rejected"]:
        if case.body.get("error") is not True and {} not in case.body["operations"]:
            yield f"rejected: {step['rejected']}"
        return
    objects = {(one["kind"], one["metadata"]["name"]): one for one in step["objects"]}
    (condition,) = object_in(objects["ExternalSecret", "es"], "status")["conditions"]
    secret = objects.get(("Secret", "es"))
    wanted = {key: value for key, value in case.body.get("want", {}).items() if key}  # none is left out
    if case.body.get("error") is True or not all(_VALID_KEY.fullmatch(key) for key in wanted):
        if condition["status"] != "False" or secret is not None:
            yield f"expected an error; came {condition}"
        return
    came = object_in(secret, "data") if secret is not None else {}
    values = {key: b64decode(value).decode() for key, value in came.items()}
    if condition["status"] != "True" or values != wanted:
        yield f"expected {wanted}; came {values} and {condition}"
