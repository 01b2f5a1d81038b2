"""What calls of a Reader depend on, beside the key of an entry: on its version, or on nothing."""

from syncret.providers.values import RemoteKey, RemoteRef


class Unversioned:
    """The `remote_key` of a Reader whose entries have no versions and no metadata, or none that are read."""

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """The key alone: one call serves all refs to the entry."""
        return RemoteKey(ref.key)


class Versioned:
    """The `remote_key` of a Reader whose entries have versions, but no metadata to read."""

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Key and version."""
        return RemoteKey(ref.key, ref.version)
