"""What `syncret export` makes with the operator: its bundle, and what it installs for a configuration."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncret.config.errors import ConfigError, Problem
from syncret.config.meta import Document, GroupKind
from syncret.config.resources.kinds import EXTERNAL_SECRETS_CONFIG, EXTERNAL_SECRETS_MANAGER

if TYPE_CHECKING:  # slow to import
    from syncret.config.catalog import Catalog
    from syncret.daemon.install.operator.choices import Environment

OWN_FLAGS: Final = {"image": "--image", "namespace": "--namespace", "bitwarden_image": "--bitwarden-image"}
"""The flags of `export operator` but its own `--bundle`, by their attributes."""

_WITH_CONFIGURATION: Final = ("configuration", "image", "bitwarden_image")
"""The flags of `export manifests` that say what a configuration does not."""


def environment_of(options: Namespace) -> "Environment":
    """What the flags say of images. Raises ConfigError."""
    from syncret.config.version import version
    from syncret.daemon.install.operator.choices import Environment

    if not options.image:
        hint = "write --image REPOSITORY:TAG"
        raise ConfigError([Problem(path="--image", message="is missing", hint=hint)])
    bitwarden: str = options.bitwarden_image or ""
    _, colon, tag = bitwarden.rpartition("/")[2].partition(":")
    return Environment(
        image=options.image,
        version=version(),
        bitwarden_image=bitwarden,
        bitwarden_version=tag if colon and "@" not in tag else "",
    )


def write_bundle(folder: Path, environment: "Environment", catalog: "Catalog") -> None:
    """Write the files of the bundle into a folder that is empty or not there. Raises ConfigError."""
    from syncret.config.text.yaml import to_yaml
    from syncret.daemon.install.operator.bundle import bundle

    try:
        if folder.exists() and any(folder.iterdir()):
            hint = "name a folder that is empty, or not there"
            raise ConfigError([Problem(path=f"--bundle {folder}", message="is not empty", hint=hint)])
        for name, document in bundle(environment, catalog).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(to_yaml(document), encoding="utf-8")
    except OSError as error:
        hint = "name a folder that can be written to"
        message = f"cannot be written: {error.strerror}"
        raise ConfigError([Problem(path=f"--bundle {folder}", message=message, hint=hint)]) from error


def installed_by(options: Namespace, flags: dict[str, str], catalog: "Catalog") -> Sequence[Document]:
    """What the operator would install for a configuration, but its own rights. Raises ConfigError."""
    from syncret.daemon.install.operator.checks import problems
    from syncret.daemon.install.operator.choices import choices
    from syncret.daemon.install.operator.rendering import is_right_of_operator, wanted

    [file] = options.configuration
    for attribute, flag in flags.items():
        if attribute not in _WITH_CONFIGURATION and getattr(options, attribute):
            hint = f"write its value into {file}"
            raise ConfigError([Problem(path=flag, message="is not taken beside --configuration", hint=hint)])
    environment = environment_of(options)
    config, manager = _read(file, catalog)
    chosen = choices(config, manager, environment)
    found = list(problems(chosen, environment, None))
    if found:
        raise ConfigError([in_file(file, 0, each) for each in found])
    return [each for each in wanted(chosen, environment, catalog) if not is_right_of_operator(each)]


def _read(file: str, catalog: "Catalog") -> tuple[Document, Document]:
    """The configuration and the manager of a file, with all defaults; an empty manager if there is none."""
    documents: dict[GroupKind, Document] = {}
    found: list[Problem] = []
    for problem, document in _admitted(file, catalog):
        if problem is not None:
            found.append(problem)
        if document is not None:
            documents[GroupKind(document["apiVersion"].rpartition("/")[0], document["kind"])] = document
    if not found and EXTERNAL_SECRETS_CONFIG.group_kind not in documents:
        hint = "it has apiVersion: operator.openshift.io/v1alpha1 and kind: ExternalSecretsConfig"
        found.append(Problem(path=file, message="has no ExternalSecretsConfig", hint=hint))
    if found:
        raise ConfigError(found)
    manager = documents.get(EXTERNAL_SECRETS_MANAGER.group_kind, {})
    return documents[EXTERNAL_SECRETS_CONFIG.group_kind], manager


def _admitted(file: str, catalog: "Catalog") -> Iterator[tuple[Problem | None, Document | None]]:
    from syncret.config.manifests.loader import load
    from syncret.config.schema.admission import admit

    for each in load([file]):
        fatal = [problem for problem in each.problems if problem.fatal]
        document = None
        if each.document is not None:
            result = admit(each.document, catalog)
            fatal += [problem for problem in result.all_problems if problem.fatal]
            document = result.document
            kind = None if document is None else document.get("kind")
            if not fatal and kind not in {EXTERNAL_SECRETS_CONFIG.kind, EXTERNAL_SECRETS_MANAGER.kind}:
                hint = "write an ExternalSecretsConfig, and an ExternalSecretsManager if there is one"
                fatal.append(Problem(path="kind", message=f"{kind} is not the operator's", hint=hint))
        for problem in each.located(fatal):
            yield in_file(each.file, problem.line, problem), None
        if not fatal:
            yield None, document


def in_file(file: str, line: int, problem: Problem) -> Problem:
    """A problem with the file and line of its value."""
    field = f"{problem.path}: " if problem.path else ""
    path = f"{file}:{line}" if line else file
    return Problem(path=path, message=f"{field}{problem.message}", hint=problem.hint)
