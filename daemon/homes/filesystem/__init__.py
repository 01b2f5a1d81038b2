"""The host home: reads folders of manifests, writes files, and keeps its state in one SQLite file."""
