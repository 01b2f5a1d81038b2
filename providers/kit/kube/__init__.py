"""A thin client of the Kubernetes API: objects as JSON, lists in pages, reviews and tokens."""

from syncret.providers.kit.kube.client import Kube, place
from syncret.providers.kit.kube.connection import open_kube

__all__ = ["Kube", "open_kube", "place"]
