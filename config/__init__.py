"""What is wanted: models of manifests and settings, how they are loaded and judged. Imports no other room."""
