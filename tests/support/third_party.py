"""Packages of somebody else, as pip would install them: modules and entry points in a folder of the path."""

from collections.abc import Mapping
from pathlib import Path

WORDS = """
from typing import Annotated

from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.values import SecretBytes


class Words(Model):
    count: Annotated[int, Meta(ge=1, le=10)] = 3


async def generate(spec: Words, _context: OpenContext) -> Generated:
    return Generated({"words": SecretBytes(" ".join(["correct"] * spec.count).encode())})


GENERATOR = Generator(SpecType("Words", Words), generate=generate, local=True)
"""
"""A module with a generator of the kind Words."""

MANIFESTS = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: files}}
spec: {{provider: {{directory: {{path: {folder}}}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: db}}
spec:
  secretStoreRef: {{name: files}}
  data: [{{secretKey: password, remoteRef: {{key: db, property: password}}}}]
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Words
metadata: {{name: two}}
spec: {{count: 2}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: words}}
spec:
  refreshInterval: 1h
  dataFrom: [{{sourceRef: {{generatorRef: {{kind: Words, name: two}}}}}}]
"""
"""Manifests that use the provider and the generator of the guide for authors; `folder` has the entries."""


def install(folder: Path, name: str, modules: Mapping[str, str], **entry_points: Mapping[str, str]) -> None:
    """Put a distribution into a folder; `entry_points` are those of `syncret.<keyword>`, by their names."""
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in entry_points.items()
        for line in (f"[syncret.{group}]", *(f"{point} = {address}" for point, address in points.items()), "")
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
