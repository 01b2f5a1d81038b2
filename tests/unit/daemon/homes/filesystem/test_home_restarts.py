"""The host home: what it finds of a former life."""

from base64 import b64encode
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.digest import data_hash
from syncret.daemon.core.ownership import DATA_HASH, MANAGED
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.filesystem.manifests import folders as manifest_folders
from syncret.daemon.homes.filesystem.state.database import StateError, read_state
from syncret.daemon.homes.filesystem.state.rows import file_ref, is_file, pack
from syncret.daemon.homes.filesystem.state.writer import StateWriter
from tests.unit.daemon.homes.filesystem.homes import (
    ES,
    ES_YAML,
    GIVEN,
    MADE,
    SECRET_YAML,
    STORE,
    STORE_YAML,
    VALUE,
    Opener,
    existing,
    files,
    is_anywhere,
    made,
)


async def test_a_restart_changes_nothing_that_did_not_change(opened: Opener, manifests: Path) -> None:
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML)
    refs = (ES, STORE, GIVEN, MADE)
    async with opened() as home:
        app = await existing(home, ES)
        await home.update_status(app, {"refreshTime": "2026-01-01T00:00:00Z"})
        await home.update_status(await existing(home, STORE), {"conditions": []})
        await home.create(made(app, a=VALUE))
        before = [await existing(home, ref) for ref in refs]
    async with opened() as home:
        assert [await existing(home, ref) for ref in refs] == before
        assert before[0].document["status"] == {"refreshTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("kept", ["uid", "creationTimestamp"])
async def test_what_changed_while_nobody_ran_is_applied(opened: Opener, manifests: Path, kept: str) -> None:
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML)
    async with opened() as home:
        before = {ref: (await existing(home, ref)).document for ref in (ES, STORE, GIVEN)}
    changed = (ES_YAML % "2h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML).replace(VALUE, "other-value")
    (manifests / "all.yaml").write_text(changed)
    async with opened() as home:
        after = {ref: (await existing(home, ref)).document for ref in (ES, STORE, GIVEN)}
    for ref, old in before.items():
        assert after[ref]["metadata"][kept] == old["metadata"][kept]
        assert after[ref]["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]
    assert after[ES]["metadata"]["generation"] == before[ES]["metadata"]["generation"] + 1
    assert after[STORE]["metadata"]["generation"] == before[STORE]["metadata"]["generation"] + 1
    assert after[STORE]["spec"]["provider"]["fake"]["data"][0]["value"] == "other-value"
    assert after[GIVEN]["data"]["password"] == b64encode(b"other-value").decode()


async def test_a_large_store_is_the_same_after_a_restart(opened: Opener, manifests: Path) -> None:
    values = "".join(f"{{key: k{n}, value: {VALUE}}}, " for n in range(2_000))
    (manifests / "a.yaml").write_text(STORE_YAML.replace("{key: k,", f"{values}{{key: k,"))
    async with opened() as home:
        before = await existing(home, STORE)
        await home.update_status(before, {"conditions": []})
        before = await existing(home, STORE)
        assert len(before.data) > 64 * 1024
    async with opened() as home:
        assert await existing(home, STORE) == before


async def test_what_went_while_nobody_ran_is_deleted_with_what_it_owned(
    opened: Opener, manifests: Path, tmp_path: Path
) -> None:
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + SECRET_YAML)
    async with opened() as home:
        await home.create(made(await existing(home, ES), a="1"))
    (manifests / "all.yaml").unlink()
    async with opened() as home:
        assert [await home.get(ref) for ref in (ES, STORE, GIVEN, MADE)] == [None] * 4
    assert not (tmp_path / "out/default/made").exists()
    left = [ref for ref, _ in read_state(str(tmp_path / "state.db")).rows if ref.kind != "Namespace"]
    assert left == [file_ref(str(manifests))], "only which folder it was"


async def test_finalizers_hold_what_went_while_nobody_ran(opened: Opener, manifests: Path) -> None:
    (manifests / "app.yaml").write_text(ES_YAML % "1h")
    async with opened() as home:
        app = (await existing(home, ES)).document
        app["metadata"]["finalizers"] = ["example.com/held"]
        await home.update(app)
    (manifests / "app.yaml").unlink()
    async with opened() as home:
        held = (await existing(home, ES)).document
        assert held["metadata"]["deletionTimestamp"]
        assert held["spec"]["refreshInterval"] == "1h"
    async with opened() as home:
        held = (await existing(home, ES)).document
        held["metadata"]["finalizers"] = []
        await home.update(held)
        assert await home.get(ES) is None


async def test_files_that_a_reboot_took_are_a_secret_that_is_gone(opened: Opener, tmp_path: Path) -> None:
    """The output folder is in memory on most hosts, the state is not."""
    async with opened() as home:
        await home.create(made(a="1"))
    (tmp_path / "out").rename(tmp_path / "before-the-reboot")
    async with opened() as home:
        assert await home.get(MADE) is None
        await home.create(made(a="1"))
    assert files(tmp_path / "out") == {"default/made/a": "1"}


async def test_no_value_is_ever_in_the_state(opened: Opener, manifests: Path, tmp_path: Path) -> None:
    annotation = "kubectl.kubernetes.io/last-applied-configuration"
    secret = SECRET_YAML.replace("labels:", f"annotations: {{{annotation}: {VALUE}}}, labels:")
    (manifests / "all.yaml").write_text(ES_YAML % "1h" + "---\n" + STORE_YAML + "---\n" + secret)
    async with opened() as home:
        assert str(await home.get(STORE))
        await home.create(made(a=VALUE))
        given = (await existing(home, GIVEN)).document
        given["data"]["merged"] = b64encode(VALUE.encode()).decode()
        await home.update(given)
        assert sorted(is_anywhere(tmp_path, VALUE)) == ["a", "all.yaml", "merged", "password"]
    assert sorted(is_anywhere(tmp_path, VALUE)) == ["a", "all.yaml", "merged", "password"]
    assert read_state(str(tmp_path / "state.db")).rows


async def test_rows_that_none_of_us_wrote_are_refused(opened: Opener, tmp_path: Path) -> None:
    state = StateWriter(str(tmp_path / "state.db"))
    state.put(ES, b'{"document": {}}')
    await state.aclose()
    with pytest.raises(StateError, match="damaged"):
        async with opened():
            pass


async def test_two_daemons_do_not_share_a_state_or_an_output_folder(opened: Opener, tmp_path: Path) -> None:
    async with opened():
        with pytest.raises(StateError, match="another syncret"):
            async with opened(output_dir=None):
                pass
        with pytest.raises(StorageUnavailable, match="another syncret"):
            async with opened(state_file=None):
                pass
        other = str(tmp_path / "other.db")
        with pytest.raises(StorageUnavailable, match="another syncret"):
            async with opened(state_file=other):
                pass
        async with opened(state_file=other, output_dir=str(tmp_path / "other")):
            pass


def file_rows(state: Path) -> list[str]:
    """The manifest files that the state remembers, by name; not their folder."""
    names = (Path(ref.name).name for ref, _ in read_state(str(state)).rows if is_file(ref))
    return sorted(name for name in names if name.endswith(".yaml"))


async def test_manifest_files_that_are_gone_are_not_remembered_for_ever(
    opened: Opener, manifests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_folders, "_RACY_NS", 0)  # files count as old enough at once
    for name in ("a", "b", "c"):
        (manifests / f"{name}.yaml").write_text((ES_YAML % "1h").replace("name: app", f"name: {name}"))
    async with opened() as home:
        (manifests / "a.yaml").unlink()
        await home.look()
    assert file_rows(tmp_path / "state.db") == ["b.yaml", "c.yaml"]
    (manifests / "b.yaml").unlink()
    async with opened():
        pass
    assert file_rows(tmp_path / "state.db") == ["c.yaml"]


@pytest.mark.parametrize("replaced", [False, True], ids=["before", "after"])
async def test_a_process_that_ended_while_files_were_replaced_left_a_whole_version(
    opened: Opener,
    tmp_path: Path,
    replaced: bool,  # noqa: FBT001  # a column
) -> None:
    def marked(value: str) -> Document:
        labels, annotations = {MANAGED: "true"}, {DATA_HASH: data_hash({"a": value.encode()})}
        document = made(a=value)
        document["metadata"] |= {"labels": labels, "annotations": annotations}
        return document

    path = str(tmp_path / "state.db")
    async with opened() as home:
        before = await home.create(marked("1"))
        after = await home.update(marked("2"))
        if not replaced:
            await home.update(marked("1"))
    state = StateWriter(path)
    state.put(MADE, pack(after, applied=None, output=True, before=before))
    await state.aclose()
    async with opened() as home:
        found = await existing(home, MADE)
        assert found.resource_version == (after if replaced else before).resource_version
        assert found.document["metadata"]["annotations"] == {
            DATA_HASH: data_hash({"a": b"2" if replaced else b"1"})
        }
