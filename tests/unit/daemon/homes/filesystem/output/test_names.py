import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import Invalid
from syncret.daemon.homes.filesystem.output.names import check_keys, folder_of, manifest_name

SECRET = ObjectRef("", "Secret", "default", "db")


@pytest.mark.parametrize(
    "key", ["password", "tls.crt", ".dockerconfigjson", "A_b-9", "a..b", "-", ".x.", "k" * 253]
)
def test_keys_of_kubernetes_are_file_names(key: str) -> None:
    check_keys(SECRET, [key])


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param(".", "the folder itself", id="dot"),
        pytest.param("..", "starts with '..'", id="dot-dot"),
        pytest.param("..data", "starts with '..'", id="leading-dots"),
        pytest.param("../../etc/passwd", "contains '/'", id="way-out"),
        pytest.param("a/b", "contains '/'", id="slash"),
        pytest.param("/etc/passwd", "contains '/'", id="absolute"),
        pytest.param("a\0b", "NUL", id="nul"),
        pytest.param("k" * 254, "longer than 253", id="long"),
        pytest.param("naïve", "not allowed", id="letter"),
        pytest.param("a\n", "not allowed", id="newline"),
        pytest.param("a b", "not allowed", id="space"),
        pytest.param("\udcff", "not allowed", id="surrogate"),
    ],
)
def test_other_keys_are_refused_by_position_and_unquoted(key: str, fault: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_keys(SECRET, ["zz-fine", key])
    message = str(caught.value)
    assert fault in message
    position = sorted(["zz-fine", key]).index(key) + 1
    assert f"key number {position}" in message
    assert len(key) < 4 or key not in message


@pytest.mark.parametrize("namespace", ["..", ".", "../up", "a/b", "a\0", "a b", ".hidden"])
def test_a_namespace_is_no_way_out(namespace: str) -> None:
    with pytest.raises(Invalid):
        folder_of(ObjectRef("", "Secret", namespace, "x"))


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        pytest.param(ObjectRef("", "ConfigMap", "a", "app"), "ConfigMap_app.yaml", id="core"),
        pytest.param(
            ObjectRef("argoproj.io", "Application", "a", "app"),
            "Application.argoproj.io_app.yaml",
            id="group",
        ),
        pytest.param(
            ObjectRef("rbac.io", "Role", "", "system:x"), "Role.rbac.io_system:x.yaml", id="name-with-colon"
        ),
    ],
)
def test_manifests_are_named_after_kind_group_and_name(ref: ObjectRef, name: str) -> None:
    assert manifest_name(ref) == name


def test_cluster_scoped_objects_have_a_folder_that_no_namespace_can_have() -> None:
    assert folder_of(ObjectRef("rbac.io", "Role", "", "x")) == "_cluster"
