"""The sidecar by API: wanted objects come from an API server, Secrets are files of a pod."""
