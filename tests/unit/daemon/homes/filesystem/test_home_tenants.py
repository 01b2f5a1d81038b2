"""The host home: folders that are bound to namespaces and kinds, and what their authors try."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from syncret.config.meta import GroupKind, ObjectRef
from syncret.config.settings import BoundFolder
from syncret.daemon.homes.filesystem.home import HostHome
from syncret.daemon.homes.filesystem.manifests import folders as manifest_folders
from tests.unit.daemon.homes.filesystem.homes import Opener, Problems, existing

GROUP = "external-secrets.io"
STORE = """apiVersion: external-secrets.io/v1
kind: %s
metadata: {name: %s, namespace: %s}
spec: {provider: {fake: {data: [{key: k, value: v}]}}}
"""
EXTERNAL = """apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: %s, namespace: %s}
spec:
  secretStoreRef: {name: store}
  target: %s
  data: [{secretKey: a, remoteRef: {key: k}}]
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {trusted: 'yes'}}\n"


class Tenants:
    """A folder for the operator and one for each of two teams, and what a home makes of them."""

    def __init__(self, folder: Path, opened: Opener) -> None:
        self.folder, self._opened = folder, opened
        self.bounds: dict[str, BoundFolder] = {}
        for name in ("main", "team-a", "team-b"):
            (folder / name).mkdir()

    def bind(self, name: str, *namespaces: str, kinds: tuple[str, ...] = ()) -> None:
        path = str(self.folder / name)
        self.bounds[name] = BoundFolder(path=path, namespaces=namespaces, kinds=kinds)

    def put(self, file: str, *texts: str) -> Path:
        path = self.folder / file
        path.write_text("---\n".join(texts))
        return path

    def opened(self, **changes: object):  # type: ignore[no-untyped-def]  # noqa: ANN201  # as the opener's
        folders = [str(self.folder / name) for name in ("main", "team-a", "team-b")]
        return self._opened(manifests=folders, bound=list(self.bounds.values()), **changes)


@pytest.fixture
def tenants(manifests: Path, opened: Opener) -> Tenants:
    made = Tenants(manifests, opened)
    made.bind("team-a", "team-a")
    made.bind("team-b", "team-b", "b-*")
    return made


def store(namespace: str, name: str = "store") -> ObjectRef:
    return ObjectRef(GROUP, "SecretStore", namespace, name)


async def objects(home: HostHome) -> set[str]:
    """The objects that manifests gave, as kind/namespace/name."""
    found = [one for kind in home.kinds() for one in await home.list(kind)]
    return {str(one.ref) for one in found if one.ref.kind != "Namespace" or "trusted" in str(one.document)}


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        pytest.param(
            STORE % ("SecretStore", "store", "team-a"),
            7,
            "metadata.namespace: team-a is not a namespace of {}/team-b "
            "(the setting manifests binds it to team-b, b-*)",
            id="namespace",
        ),
        pytest.param(
            (STORE % ("SecretStore", "store", "x")).replace(", namespace: x", ""),
            7,
            "metadata.namespace: default is not a namespace of {}/team-b",
            id="no-namespace",
        ),
        pytest.param(
            STORE % ("ClusterSecretStore", "store", "team-b"),
            6,
            "kind: {}/team-b may not define a ClusterSecretStore, which is cluster-scoped",
            id="cluster-scoped",
        ),
        pytest.param(
            NAMESPACE % "team-b",
            6,
            "kind: {}/team-b may not define a Namespace, which is cluster-scoped",
            id="its-own-namespace",
        ),
        pytest.param(
            EXTERNAL
            % ("e", "team-b", "{manifest: {apiVersion: external-secrets.io/v1, kind: ClusterSecretStore}}"),
            10,
            "spec.target.manifest.kind: {}/team-b may not define a ClusterSecretStore",
            id="what-it-would-write",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s, "
            "namespace: team-a}}\n",
            8,
            "metadata.namespace: team-a is not a namespace",
            id="item-of-a-list",
        ),
    ],
)
async def test_a_document_outside_never_becomes_an_object(
    tenants: Tenants, problems: Problems, text: str, line: int, told: str
) -> None:
    own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: b-1}\n"
    file = tenants.put("team-b/all.yaml", own, text)
    async with tenants.opened() as home:
        assert await objects(home) == {"ConfigMap/b-1/own"}
        [problem] = problems.last
        assert str(problem).startswith(f"{file}:{line}: {told.format(tenants.folder)}")
        assert problem.problem.fatal
        await home.look()
        assert await objects(home) == {"ConfigMap/b-1/own"}


async def test_kinds_that_are_named_may_be_defined_and_no_others(
    tenants: Tenants, problems: Problems
) -> None:
    tenants.bind("team-b", "team-b", kinds=("ClusterSecretStore", "Namespace"))
    tenants.put("team-b/store.yaml", STORE % ("ClusterSecretStore", "b", ""))
    tenants.put("team-b/own.yaml", NAMESPACE % "team-b")
    tenants.put("team-b/other.yaml", NAMESPACE % "team-a")
    tenants.put("team-b/kind.yaml", STORE % ("SecretStore", "store", "team-b"))
    async with tenants.opened() as home:
        assert await objects(home) == {"ClusterSecretStore/b", "Namespace/team-b"}
        assert sorted(Path(each.source).name for each in problems.last) == ["kind.yaml", "other.yaml"]


TARGET = "{manifest: {apiVersion: external-secrets.io/v1, kind: ClusterSecretStore}}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STORE % ("SecretStore", "x", "team-a"), id="a-store"),
        pytest.param(EXTERNAL % ("x", "team-a", "{}"), id="an-external-secret"),
        pytest.param(EXTERNAL % ("x", "team-b", TARGET), id="what-it-writes"),
        pytest.param(
            "---\n".join(EXTERNAL % (name, "team-a", "{}") for name in "abcdefg"), id="most-objects"
        ),
    ],
)
@pytest.mark.parametrize("broken", ["", "---\na: ["], ids=["", "in-a-file-that-is-broken"])
async def test_what_was_in_force_before_its_folder_was_bound_is_deleted_at_once(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch, text: str, broken: str
) -> None:
    """Also if the file is not read again, or cannot be: nothing keeps an object that may not be there."""
    monkeypatch.setattr(manifest_folders, "_RACY_NS", 0)  # files are remembered at once
    bounds, tenants.bounds = tenants.bounds, {}
    file = tenants.put("team-b/all.yaml", text)
    tenants.put("team-b/own.yaml", EXTERNAL % ("own", "team-b", "{}"))
    async with tenants.opened() as home:
        assert len(await objects(home)) > 1
    if broken:
        file.write_text(text + broken)
    tenants.bounds = bounds
    async with tenants.opened() as home:
        assert await objects(home) == {"ExternalSecret/team-b/own"}


async def test_a_version_that_may_not_write_its_target_leaves_the_last_good_one(
    tenants: Tenants, problems: Problems
) -> None:
    tenants.put("team-b/own.yaml", EXTERNAL % ("x", "team-b", "{name: given}"))
    async with tenants.opened() as home:
        tenants.put("team-b/own.yaml", EXTERNAL % ("x", "team-b", TARGET))
        await home.look()
        [problem] = problems.last
        assert problem.problem.path == "spec.target.manifest.kind"
        [found] = await home.list(GroupKind(GROUP, "ExternalSecret"))
        assert found.document["spec"]["target"]["name"] == "given"


@pytest.mark.parametrize("age", [pytest.param(0, id="old files"), pytest.param(2 * 10**9, id="young files")])
async def test_the_owner_of_a_namespace_wins(
    tenants: Tenants, problems: Problems, monkeypatch: pytest.MonkeyPatch, age: int
) -> None:
    """What another file said all the while is parsed again once it counts: its document was let go."""
    monkeypatch.setattr("syncret.daemon.homes.filesystem.manifests.folders._RACY_NS", age)
    main = tenants.put("main/a.yaml", STORE % ("SecretStore", "store", "team-a"))
    async with tenants.opened() as home:
        before = await existing(home, store("team-a"))
        own = tenants.put("team-a/z.yaml", (STORE % ("SecretStore", "store", "team-a")).replace("k,", "own,"))
        await home.look()
        assert "own" in str((await existing(home, store("team-a"))).document)
        assert str(problems) == (
            f"{main}:1: metadata.name: SecretStore/team-a/store is defined in a bound folder at {own}:1, "
            "which stays in force (remove one of them, or give it another name)"
        )
        own.unlink()
        await home.look()
        after = await existing(home, store("team-a"))
        assert (after.uid, after.document["spec"]) == (before.uid, before.document["spec"])
        assert problems.last == ()


async def test_a_tenant_cannot_keep_what_another_removed(tenants: Tenants) -> None:
    """A document that is wrong keeps its object in force, but only where that object may be defined."""
    own = tenants.put("team-a/store.yaml", STORE % ("SecretStore", "store", "team-a"))
    twice = (STORE % ("SecretStore", "store", "team-a")) + "kind: SecretStore\n"
    tenants.put("team-b/keep.yaml", twice)
    async with tenants.opened() as home:
        await existing(home, store("team-a"))
        own.unlink()
        await home.look()
        assert await home.get(store("team-a")) is None


async def test_two_tenants_of_one_namespace_are_equal(tenants: Tenants, problems: Problems) -> None:
    tenants.bind("team-b", "team-*")
    tenants.put("team-b/store.yaml", STORE % ("SecretStore", "store", "team-a"))
    async with tenants.opened() as home:
        tenants.put("team-a/store.yaml", STORE % ("SecretStore", "store", "team-a"))
        await home.look()
        [problem] = problems.last
        assert problem.source.endswith("team-a/store.yaml")
        assert "is already defined at" in problem.problem.message


NARROWED: Mapping[str, tuple[str, ...]] = {"wider": ("team-b", "team-a"), "other": ("team-a",)}


@pytest.mark.parametrize("namespaces", NARROWED.values(), ids=NARROWED.keys())
async def test_a_file_that_did_not_change_is_read_again_under_new_bounds(
    tenants: Tenants, problems: Problems, monkeypatch: pytest.MonkeyPatch, namespaces: tuple[str, ...]
) -> None:
    monkeypatch.setattr(manifest_folders, "_RACY_NS", 0)  # files are remembered at once
    tenants.put("team-b/own.yaml", EXTERNAL % ("own", "team-b", "{}"))
    async with tenants.opened():
        pass
    tenants.bind("team-b", *namespaces)
    async with tenants.opened() as home:
        assert bool(await objects(home)) is ("team-b" in namespaces)
        assert bool(problems.last) is ("team-b" not in namespaces)
