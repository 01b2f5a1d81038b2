"""The rights on the page about clusters are those that are rendered for an installation."""

from typing import Final

from syncret.config.manifests.loader import load_bytes
from syncret.config.meta import Document
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "guides" / "kubernetes.md"


def shown() -> list[Document]:
    """The objects of the page."""
    (block,) = [each for each in blocks(PAGE, "yaml") if each.title == "rbac.yaml"]
    return [
        each.document for each in load_bytes(str(block), block.text.encode()) if each.document is not None
    ]


def without_labels(document: Document) -> Document:
    metadata = document["metadata"]
    return {
        **document,
        "metadata": {name: metadata[name] for name in ("name", "namespace") if name in metadata},
    }


EXPORTS: Final = {"syncret-exports", "syncret-exports-more"}
"""Roles that the page about exports tells of."""


def test_the_rights_of_the_page_are_those_of_an_installation() -> None:
    installation = Installation(image="r.example/s:1", namespace="external-secrets", replicas=2)
    account, *rights = shown()
    assert account["metadata"] == {"name": installation.account, "namespace": installation.namespace}
    names = {each["metadata"]["name"] for each in rights}
    rendered = [without_labels(each) for each in render(installation, Registry()) if "Role" in each["kind"]]
    assert rights == [each for each in rendered if each["metadata"]["name"] in names]
    bound = {each["roleRef"]["name"] for each in rendered if "roleRef" in each}
    assert bound <= names | EXPORTS
