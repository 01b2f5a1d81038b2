"""The sensitive data model: a module, a release and a platform become Kubernetes manifests, purely.

A compiler: parse, resolve tags (the caller does: the only step that asks anyone), check, plan, render.
"""
