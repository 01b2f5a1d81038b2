"""Manifests that many tests begin with."""

SYNCED = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec: {provider: {fake: {data: [{key: a, value: b}]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec: {secretStoreRef: {name: demo}, data: [{secretKey: k, remoteRef: {key: a}}]}
"""
"""One store, and one ExternalSecret that reads from it."""
