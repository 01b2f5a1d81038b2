"""Compiles documents that are written as text, as the command does with files."""

from syncret.config.errors import Severity
from syncret.config.manifests.loader import LoadedDocument, load_bytes
from syncret.config.meta import Document
from syncret.daemon.release.compiler import Rendered, parse, rendered, resolved
from syncret.daemon.release.findings import Reported
from syncret.daemon.release.parsed import Parsed
from syncret.daemon.release.report import problems_of
from syncret.providers.values import SecretBytes

HEAD = "apiVersion: syncret.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: app}}\nspec:\n"
CONTAINERS = "  containers: {main: {image: x}}\n"
STORE = "  secretStoreRef: {name: platform, kind: ClusterSecretStore}\n"


def loaded(file: str, text: str) -> list[LoadedDocument]:
    """The documents of one file."""
    return list(load_bytes(file, text.encode()))


def module(spec: str, kind: str = "Module") -> str:
    """A module that has a container; its spec is indented by two."""
    return HEAD.format(kind=kind) + spec + ("" if "  container" in spec else CONTAINERS)


class Compiled:
    """What came of a run."""

    def __init__(
        self,
        spec: str,
        values: str = "",
        platform: str = "",
        *,
        answers: dict[str, bytes] | None = None,
        kind: str = "Module",
        strict: bool = False,
    ) -> None:
        documents = loaded("module.yaml", module(spec, kind))
        if values:
            documents += loaded("values.yaml", values)
        if platform:
            documents += loaded("platform.yaml", HEAD.format(kind="Platform") + platform)
        parsed = parse(documents, strict=strict)
        values_of = {label: SecretBytes(value) for label, value in (answers or {}).items()}
        self.parsed: Parsed = resolved(parsed, values_of)
        self.result: Rendered = rendered(self.parsed)
        self.problems: list[Reported] = problems_of(self.parsed)

    @property
    def errors(self) -> list[str]:
        """The places of all errors."""
        return self._at(Severity.ERROR)

    @property
    def warnings(self) -> list[str]:
        """The places of all warnings."""
        return self._at(Severity.WARNING)

    def _at(self, severity: Severity) -> list[str]:
        return [
            f"{file}:{problem.line} {problem.path}"
            for file, problem in self.problems
            if problem.severity is severity
        ]

    @property
    def told(self) -> str:
        """What all problems say."""
        return "\n".join(str(problem) for _, problem in self.problems)

    def item(self, kind: str) -> Document:
        """The only manifest of a kind."""
        (found,) = [item for item in self.result.items if item["kind"] == kind]
        return found

    @property
    def pod(self) -> Document:
        """The spec of the pod."""
        spec: Document = self.item("Deployment")["spec"]["template"]["spec"]
        return spec

    @property
    def container(self) -> Document:
        """The first container."""
        first: Document = self.pod["containers"][0]
        return first
