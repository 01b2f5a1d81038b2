"""What calls of a Reader depend on, beside the key of an entry: on its version, or on nothing."""

from syncret.providers.values import RemoteKey, RemoteRef


class Unversioned:
    """The `remote_key` of a Reader that reads no versions, and metadata only with the value, if at all."""

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """The key alone: one call serves all refs to the entry."""
        return RemoteKey(ref.key)


class Versioned:
    """The `remote_key` of a Reader that reads versions, and metadata only with the value, if at all."""

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Key and version."""
        return RemoteKey(ref.key, ref.version)
