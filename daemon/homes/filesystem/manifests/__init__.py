"""The manifests of a host: folders found, watched, read and applied."""
