"""A thin client of the Kubernetes API: objects as JSON, lists in pages, reviews and tokens."""
