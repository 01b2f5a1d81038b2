"""What is expected of ExternalSecrets."""

SYNCED = ("True", "SecretSynced", "secret synced")
NO_DATA = ("False", "SecretSyncedError", "could not get secret data from provider")
