"""Models of manifests and settings: how they are loaded and validated. Imports no other package of ours."""
