"""A real API server with our CRDs, which is asked what it would store."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from syncret.config.catalog import Catalog
from syncret.config.meta import Document
from syncret.config.resources.kinds import Kind
from syncret.config.schema.crds import crd
from tests.support.servers.kube.crds import DRY_RUN, collection, install
from tests.support.servers.kube.running import Answer, KubeApi, kube_api


class Server(NamedTuple):
    """The server, our kinds, and the schema that it has of each."""

    api: KubeApi
    kinds: Mapping[str, Kind]
    schemas: Mapping[str, Document]

    def asked(self, document: Document) -> tuple[Document | None, str]:
        """The document as it would be stored, or why it is refused."""
        answer = self._answer(document)
        return (answer.body, "") if answer.status == 201 else (None, str(answer.body["message"]))

    def refused(self, document: Document) -> list[dict[str, Any]]:
        """Why a document is refused: field and message of each cause."""
        answer = self._answer(document)
        assert answer.status != 201, "the document is accepted"
        causes: list[dict[str, Any]] = answer.body["details"]["causes"]
        return causes

    def _answer(self, document: Document) -> Answer:
        answer = self.api.request("POST", collection(self.kinds[document["kind"]]) + DRY_RUN, document)
        assert answer.status in {201, 400, 422}, answer
        return answer


@cache
def server_with_crds(catalog: Catalog) -> Server:
    """The API server of this run, with the CRDs of all kinds."""
    api = kube_api()
    kinds = install(api)
    schemas = {
        name: crd(kind, catalog)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for name, kind in kinds.items()
    }
    return Server(api, kinds, schemas)
