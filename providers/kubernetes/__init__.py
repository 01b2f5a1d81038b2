"""Secrets of another Kubernetes cluster or namespace."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.kubernetes.spec import KubernetesSpec, check

PROVIDER: Final = Provider(SpecType("kubernetes", KubernetesSpec, check=check))
