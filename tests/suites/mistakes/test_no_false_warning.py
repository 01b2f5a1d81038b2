"""What `validate` warns of as failing at run time does fail in the operator, case by case of the corpus."""

from pathlib import Path
from typing import Final

import pytest
import yaml

from syncret.config.meta import Document, ObjectRef
from syncret.config.schema.admission import admit
from syncret.daemon.core.lint.check import runtime_warnings
from syncret.daemon.core.lint.given import GivenObject
from syncret.providers.registry import Registry

CASES: Final = Path(__file__).parents[1] / "corpus" / "cases"
FILES: Final = sorted(CASES.rglob("*secret_cases.yaml"))
WITHOUT_CONDITION: Final = {"template.error-no-condition"}
"""A PushSecret whose template fails has no condition, as in the operator."""


def warnings(case: Document, registry: Registry) -> list[str]:
    """The runtime warnings of the objects of a case, taken as manifests."""
    objects: dict[ObjectRef, GivenObject] = {}
    for document in (*case.get("objects", ()), case.get("externalSecret") or case.get("pushSecret")):
        resource = admit(document, registry).resource
        if resource is not None:
            objects[resource.ref] = GivenObject("case:1", resource)
    return [str(each) for found in runtime_warnings(objects, registry).values() for each in found]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_only_what_fails_is_warned_of(file: Path) -> None:
    registry = Registry()
    cases = [case for case in yaml.load(file.read_text(), yaml.CSafeLoader)["cases"] if "expect" in case]
    warned = {case["id"]: found for case in cases if (found := warnings(case, registry))}
    fails = {case["id"] for case in cases if case["expect"].get("condition", {}).get("status") == "False"}

    assert len(cases) > 20
    assert {id_: found for id_, found in warned.items() if id_ not in fails | WITHOUT_CONDITION} == {}


def test_mistakes_that_need_no_provider_to_be_seen_are_warned_of() -> None:
    registry = Registry()
    cases = [case for file in FILES for case in yaml.load(file.read_text(), yaml.CSafeLoader)["cases"]]
    warned = {case["id"] for case in cases if warnings(case, registry)}

    assert warned >= {
        "template.syntax-error",
        "template.unknown-key-error",
        "manifest.template-error-reason",
        "extract.rewrite-bad-regexp",
        "find.bad-regexp",
        "owner.second-es-on-same-target",
        "owner.second-es-merges-into-owned",
        "data.secret-key-missing",
        "dataTo.match-bad-regexp",
        "dataTo.rewrite-bad-regexp",
        "dataTo.storeRef-not-in-refs",
    }
