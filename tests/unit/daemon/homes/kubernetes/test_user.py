"""What `kubectl apply` would send, of which the plan of a person is made."""

import json

import pytest

from syncret.config.meta import Document
from syncret.daemon.homes.kubernetes.user import LAST_APPLIED, apply_patch


def applied(spec: Document, **annotations: str) -> Document:
    return {"kind": "ExternalSecret", "metadata": {"name": "e", "annotations": annotations}, "spec": spec}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"a": 1}, {"a": 2}, {"a": 2}, id="changed"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": None}, id="removed"),
        pytest.param({"t": {"x": 1, "y": 2}}, {"t": {"x": 1}}, {"t": {"x": 1, "y": None}}, id="below"),
        pytest.param({"l": [1, 2]}, {"l": [1]}, {"l": [1]}, id="a list is replaced"),
    ],
)
def test_what_was_removed_from_the_file_goes(before: Document, after: Document, expected: Document) -> None:
    standing = applied(before, **{LAST_APPLIED: json.dumps(applied(before))})
    patch = apply_patch(standing, applied(after))
    assert patch["spec"] == expected
    assert json.loads(patch["metadata"]["annotations"][LAST_APPLIED]) == applied(after)


def test_an_equal_file_leaves_the_annotation_alone() -> None:
    given: Document = {"kind": "ExternalSecret", "metadata": {"name": "e"}, "spec": {"a": 1}}
    standing = applied({"a": 1}, **{LAST_APPLIED: json.dumps(applied({"a": 1}))})
    assert apply_patch(standing, given) == given


def test_annotations_of_others_stay() -> None:
    before: Document = {"metadata": {"name": "e", "annotations": {"mine": "1"}}, "spec": {}}
    standing = applied({}, mine="1", theirs="2", **{LAST_APPLIED: json.dumps(before)})
    patch = apply_patch(standing, {"metadata": {"name": "e"}, "spec": {}})
    annotations = patch["metadata"]["annotations"]
    assert annotations.pop(LAST_APPLIED)
    assert annotations == {"mine": None}


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}"])
def test_without_a_copy_of_the_file_nothing_is_removed(text: str) -> None:
    wanted = applied({"a": 1})
    assert apply_patch(applied({"b": 2}, **{LAST_APPLIED: text}), wanted) == wanted
