"""The host home: folders of manifests say what is wanted, files are written, one sqlite file remembers."""
