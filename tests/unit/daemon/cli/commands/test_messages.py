"""The messages of failing objects: the same in each home, with the line of the manifest that is meant."""

import json
from pathlib import Path
from typing import Final

import pytest
import yaml

from syncret.config.meta import Document
from syncret.daemon.cli.main import main

MANIFESTS: Final = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo, namespace: default}
spec:
  provider: {fake: {data: [{key: db, value: '{"user": "u", "password": "p"}'}]}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: key, namespace: default}
spec:
  secretStoreRef: {name: demo}
  data:
    - {secretKey: user, remoteRef: {key: db, property: user}}
    - {secretKey: gone, remoteRef: {key: db/password}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: extract, namespace: default}
spec:
  secretStoreRef: {name: demo}
  dataFrom:
    - extract: {key: gone}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: function, namespace: default}
spec:
  secretStoreRef: {name: demo}
  dataFrom: [{extract: {key: db}}]
  target:
    template:
      data:
        url: |
          postgres://{{ .user }}
          {{ .password | toBase64 }}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: no-key, namespace: default}
spec:
  secretStoreRef: {name: demo}
  dataFrom: [{extract: {key: db}}]
  target:
    template:
      metadata:
        labels:
          app: "{{ .usr }}"
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: rewrite, namespace: default}
spec:
  secretStoreRef: {name: demo}
  dataFrom:
    - extract: {key: db}
      rewrite:
        - regexp: {source: a, target: b}
        - transform:
            template: |
              {{- .value | uper -}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: find, namespace: default}
spec:
  secretStoreRef: {name: demo}
  dataFrom:
    - find: {name: {regexp: ^svc-}}
---
apiVersion: v1
kind: Secret
metadata: {name: local, namespace: default}
stringData: {user: u, password: p}
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: push, namespace: default}
spec:
  secretStoreRefs: [{name: demo}]
  selector: {secret: {name: local}}
  data:
    - match: {secretKey: passwort, remoteRef: {remoteKey: out}}
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: push-template, namespace: default}
spec:
  secretStoreRefs: [{name: demo}]
  selector: {secret: {name: local}}
  template:
    data:
      line: '{{ .pasword }}'
  data:
    - match: {secretKey: line, remoteRef: {remoteKey: out}}
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: push-all, namespace: default}
spec:
  secretStoreRefs: [{name: demo}]
  selector: {secret: {name: local}}
  dataTo:
    - storeRef: {name: demo}
      rewrite:
        - transform: {template: "{{ .valu | uper }}"}
"""

RETAINED: Final = "secret retained due to DeletionPolicy=Retain: nothing in SecretStore/demo matches ^svc-"
NO_DATA: Final = "could not get secret data from provider"
NO_UPDATE: Final = "could not update secret"
EXPAND: Final = "failed to expand dataTo: dataTo[0]: rewrite failed: rewrite[0]"
FAILING: Final = {
    "key": (14, f"{NO_DATA}: db/password does not exist in SecretStore/demo"),
    "extract": (22, f"{NO_DATA}: gone does not exist in SecretStore/demo"),
    "function": (
        35,
        (
            f"{NO_UPDATE}: unable to parse template at key url: "
            'template url, line 2, column 16: function "toBase64" not defined'
        ),
    ),
    "no-key": (
        47,
        (
            f"{NO_UPDATE}: unable to execute template at key app: "
            'template app, line 1, column 4: map has no entry for key "usr"'
        ),
    ),
    "rewrite": (
        60,
        (
            f"{NO_DATA}: failed rewrite operation[1]: failed to parse template: "
            'template transform, line 1, column 14: function "uper" not defined'
        ),
    ),
    "push": (82, "set secret failed: secret key passwort does not exist"),
    "push-template": (92, ""),
    "push-all": (
        105,
        (
            f"set secret failed: {EXPAND}: invalid template: failed to parse template: "
            'template transform, line 1, column 12: function "uper" not defined'
        ),
    ),
}
"""The line of the manifest, and the message of the condition (PushSecrets have none for their template)."""


def conditions(items: list[Document]) -> dict[str, str]:
    return {
        item["metadata"]["name"]: next(
            (one["message"] for one in item.get("status", {}).get("conditions", [])), ""
        )
        for item in items
        if item["kind"] in {"ExternalSecret", "PushSecret"}
    }


def test_conditions_say_the_same_in_each_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(MANIFESTS)
    expected = {name: message for name, (_, message) in FAILING.items()} | {"find": RETAINED}
    assert main(["sync", "-f", str(file), "-o", "json"]) == 1
    assert conditions(json.loads(capsys.readouterr().out)["items"]) == expected
    scenario = {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "messages"},
        "spec": {"now": "2026-01-01T00:00:00Z", "steps": [{"apply": list(yaml.safe_load_all(MANIFESTS))}]},
    }
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    assert main(["simulate", str(tmp_path / "scenario.yaml"), "-o", "json"]) == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert conditions(step["objects"]) == expected


def test_a_failure_names_the_very_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(MANIFESTS)
    assert main(["plan", "-f", str(file)]) == 1
    shown = [line.split(": ")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("! ")]
    assert sorted(shown) == sorted(
        f"! {'PushSecret' if name.startswith('push') else 'ExternalSecret'}/default/{name} ({file}:{line})"
        for name, (line, _) in FAILING.items()
    )


def test_a_store_of_another_namespace_is_named_where_manifests_are_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = "{apiVersion: external-secrets.io/v1, kind: SecretStore, metadata: {name: s, namespace: shared}, "
    store += "spec: {provider: {fake: {data: [{key: a, value: b}]}}}}"
    wanting = "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: x}, "
    wanting += "spec: {secretStoreRef: {name: s}, data: [{secretKey: a, remoteRef: {key: a}}]}}"
    (tmp_path / "app.yaml").write_text(f"{store}\n---\n{wanting}\n")
    assert main(["plan", "-f", str(tmp_path)]) == 1
    there = "SecretStore/shared/s is there, in another namespace"
    assert f"({there}: define it in default, or use a ClusterSecretStore)" in capsys.readouterr().out
