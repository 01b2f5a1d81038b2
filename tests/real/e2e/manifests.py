"""Manifests that the tests of lives share."""

from pathlib import Path


def store(name: str = "fake", **values: str) -> str:
    """A fake store with these values."""
    entries = ", ".join(f"{{key: {key}, value: {value}}}" for key, value in values.items())
    return f"""apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: {name}}}
spec: {{provider: {{fake: {{data: [{entries}]}}}}}}
"""


def external(
    name: str, *keys: str, interval: str = "1h", store: str = "fake", more: str = "", target: str = "{}"
) -> str:
    """An ExternalSecret that takes each key as it is called in the store."""
    data = ", ".join(f"{{secretKey: {key}, remoteRef: {{key: {key}}}}}" for key in keys)
    return f"""apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {name}}}
spec:
  refreshInterval: {interval}
  secretStoreRef: {{name: {store}}}
  target: {target}
  data: [{data}]
{more}"""


def written(folder: Path, **texts: str) -> Path:
    """A folder of manifests: one file for each text, named after its argument."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        replaced(folder / f"{name}.yaml", text)
    return folder


def replaced(file: Path, text: str) -> None:
    """Write a file as editors do: whole, or not at all."""
    partial = file.with_name(f".{file.name}")
    partial.write_text(text)
    partial.rename(file)
