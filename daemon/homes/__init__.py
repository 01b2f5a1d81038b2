"""The homes: where manifests come from, and where secrets and status go."""
