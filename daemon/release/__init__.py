"""The sensitive data model: a module, a release and a platform become Kubernetes manifests, purely.

A compiler: parse, resolve tags, check, plan, render. The caller resolves tags: all else is without I/O.
"""
