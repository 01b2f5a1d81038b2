"""Links in and around bound folders: none leads out of one, or into one from elsewhere."""

import os
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.config.settings import BoundFolder
from syncret.daemon.homes.filesystem.manifests.bindings import Bindings
from syncret.daemon.homes.filesystem.manifests.folders import ManifestFolders
from syncret.daemon.homes.filesystem.manifests.reader import ManifestReader
from syncret.daemon.homes.filesystem.manifests.snapshot import Snapshot
from syncret.providers.registry import Registry

OWN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\n"


class Host:
    """A folder of the operator, which is not bound, and one of each team."""

    def __init__(self, folder: Path) -> None:
        self.main, self.a, self.b = (folder / name for name in ("main", "team-a", "team-b"))
        for path in (self.main, self.a, self.b):
            path.mkdir()
        self.paths = [self.main, self.a, self.b]
        self.bound = [_bound(self.a, "team-a"), _bound(self.b, "team-b")]

    def scan(self) -> Snapshot:
        reader = ManifestReader(Registry())
        return ManifestFolders(
            [str(path) for path in self.paths], reader, bindings=Bindings(self.bound)
        ).scan()

    def found(self) -> dict[str, str]:
        """The objects by name, and the file of each."""
        return {ref.name: Path(each.file).name for ref, each in self.scan().manifests.items()}

    def problems(self) -> dict[str, str]:
        """The problem of each file."""
        return {Path(each.source).name: str(each.problem) for each in self.scan().problems}


def _bound(path: Path, *namespaces: str) -> BoundFolder:
    return BoundFolder(path=str(path), namespaces=namespaces)


def put(file: Path, name: str, namespace: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(OWN % (name, namespace))
    return file


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_each_folder_has_its_bounds(host: Host) -> None:
    put(host.main / "any.yaml", "any", "team-a")
    put(host.a / "deep/er/own.yaml", "own", "team-a")
    put(host.b / "foreign.yaml", "foreign", "team-a")
    assert host.found() == {"any": "any.yaml", "own": "own.yaml"}
    assert list(host.problems()) == ["foreign.yaml"]


def test_the_innermost_folder_counts(host: Host) -> None:
    inner = host.a / "inner"
    host.paths += [inner]
    host.bound += [_bound(inner, "other")]
    put(inner / "own.yaml", "own", "other")
    put(inner / "foreign.yaml", "foreign", "team-a")
    put(host.a / "outer.yaml", "outer", "team-a")
    assert host.found() == {"own": "own.yaml", "outer": "outer.yaml"}


def test_a_bound_folder_within_the_operators_is_bound(host: Host) -> None:
    inner = host.main / "team-c"
    host.paths += [inner]
    host.bound += [_bound(inner, "team-c")]
    put(inner / "own.yaml", "own", "team-c")
    put(inner / "foreign.yaml", "foreign", "team-a")
    assert host.found() == {"own": "own.yaml"}
    assert host.problems().keys() == {"foreign.yaml"}


def test_links_within_a_bound_folder_are_followed(host: Host) -> None:
    """As in a mounted ConfigMap."""
    put(host.a / "..2026/own.yaml", "own", "team-a")
    (host.a / "..data").symlink_to("..2026")
    (host.a / "own.yaml").symlink_to("..data/own.yaml")
    assert host.found() == {"own": "own.yaml"}
    assert host.problems() == {}


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_out_of_a_bound_folder_is_not_followed(host: Host, *, absolute: bool) -> None:
    file = put(host.main.parent / "elsewhere.yaml", "elsewhere", "team-b")
    (host.b / "link.yaml").symlink_to(file if absolute else "../elsewhere.yaml")
    (host.b / "folder").symlink_to(host.main.parent)
    assert host.found() == {}
    leads = f"is a link that leads out of {host.b}, and is not followed (put the file here"
    assert [told.startswith(leads) for told in host.problems().values()] == [True, True]


def test_a_folder_that_is_not_a_link_stays_in_its_bounds_behind_one(host: Host) -> None:
    put(host.b / "real/own.yaml", "own", "team-b")
    (host.b / "alias").symlink_to("real")
    assert host.found() == {"own": "own.yaml"}


@pytest.mark.parametrize("below", ["", "deep", "deep/own.yaml"])
def test_a_link_into_a_bound_folder_is_not_followed(host: Host, below: str) -> None:
    """What is reached that way would not be held to the bounds."""
    put(host.b / "deep/own.yaml", "own", "team-b")
    put(host.b / "deep/foreign.yaml", "foreign", "team-a")
    (host.main / "link.yaml").symlink_to(host.b / below)
    assert host.found() == {"own": "own.yaml"}
    told = host.problems()
    assert told.keys() <= {"foreign.yaml", "link.yaml"}
    if below:
        assert told["link.yaml"].startswith(f"is a link into {host.b}, and is not followed")


@pytest.mark.parametrize("folder", [True, False])
def test_a_link_that_a_tenant_leads_on_is_not_followed(host: Host, *, folder: bool) -> None:
    """The operator's link leads to a name in the tenant's folder, and the tenant makes that a link."""
    file = put(host.main.parent / "tmp/evil.yaml", "evil", "team-a")
    (host.b / "current.yaml").symlink_to(file.parent if folder else file)
    (host.main / "link.yaml").symlink_to(host.b / "current.yaml")
    assert host.found() == {}
    assert host.problems()["link.yaml"].startswith(f"is a link into {host.b}")


def test_a_tenant_does_not_read_the_folder_of_another(host: Host) -> None:
    put(host.a / "own.yaml", "own", "team-a")
    (host.b / "link.yaml").symlink_to(host.a / "own.yaml")
    assert host.found() == {"own": "own.yaml"}


def test_a_path_of_the_settings_may_be_a_link_but_not_into_a_bound_folder(host: Host) -> None:
    put(host.a / "deep/own.yaml", "own", "team-a")
    put(host.a / "deep/foreign.yaml", "foreign", "team-b")
    put(host.main / "any.yaml", "any", "any")
    outer, inner = (host.main.parent / name for name in ("outer", "inner"))
    outer.symlink_to(host.main)
    inner.symlink_to(host.a / "deep")
    host.paths = [outer, inner, host.a]
    assert host.found() == {"any": "any.yaml", "own": "own.yaml"}
    assert host.problems()["inner"].startswith(f"is a link into {host.a}")


def test_a_bound_folder_may_be_a_link(host: Host) -> None:
    put(host.a / "own.yaml", "own", "team-a")
    link = host.main.parent / "link"
    link.symlink_to(host.a)
    host.paths, host.bound = [link], [_bound(link, "team-a")]
    assert host.found() == {"own": "own.yaml"}


def test_a_link_that_changes_while_it_is_followed_is_not_read(host: Host) -> None:
    file = put(host.main.parent / "elsewhere.yaml", "elsewhere", "team-b")
    (host.b / "link.yaml").symlink_to(file)
    bindings = Bindings(host.bound)
    for path in (host.b, host.main):
        inside = put(path / "own.yaml", "own", "team-b")
        assert bindings.read(str(path), str(inside), 10) == inside.read_bytes()[:10]
    assert bindings.read(str(host.main), str(file), 10), (
        "links out of a folder that is not bound are followed"
    )
    with pytest.raises(OSError, match="changed while it was followed"):
        bindings.read(str(host.b), str(host.b / "link.yaml"), 10)
    with pytest.raises(OSError, match="changed while it was followed"):
        bindings.read(str(host.main), str(host.b / "own.yaml"), 10)


def test_links_in_circles_and_to_nowhere_are_reported_as_ever(host: Host) -> None:
    (host.b / "loop.yaml").symlink_to("loop.yaml")
    (host.b / "dead.yaml").symlink_to("nowhere.yaml")
    assert {name: told.partition(":")[0] for name, told in host.problems().items()} == {
        "loop.yaml": "cannot be read",
        "dead.yaml": "cannot be read",
    }


def test_a_kind_that_does_not_exist_is_reported(host: Host) -> None:
    host.bound[0] = BoundFolder(path=str(host.a), namespaces=("team-a",), kinds=("SecretStor", "Password"))
    [problem] = host.scan().problems
    assert str(problem) == (
        f'{host.a}: kinds: unknown kind "SecretStor" in the setting manifests (did you mean SecretStore?)'
    )
    assert not problem.problem.fatal


def test_a_bound_path_may_be_a_file(host: Host) -> None:
    file = put(host.main / "one.yaml", "own", "team-a")
    put(host.main / "two.yaml", "two", "any")
    host.paths, host.bound = [host.main, file], [_bound(file, "team-b")]
    assert host.found() == {"two": "two.yaml"}
    assert host.problems().keys() == {"one.yaml"}


def test_what_a_link_led_to_before_is_gone(host: Host) -> None:
    snapshot = host.scan()
    ref = ObjectRef("", "ConfigMap", "team-a", "x")
    assert snapshot.is_gone(ref, os.fspath(host.main / "link.yaml"))
    (host.main / "link.yaml").symlink_to(put(host.b / "own.yaml", "own", "team-b"))
    assert host.scan().is_gone(ref, os.fspath(host.main / "link.yaml"))
