"""The metadata of a PushSecret for Secrets Safe: of which kind a new secret is, and whose."""

from typing import Any, Literal

import msgspec

from syncret.config.fields import Json
from syncret.providers.errors import Malformed

_OF_USERS_AND_GROUPS = "3.1"
"""From this version of the API on, an owner is a user or a group; before, the type was written beside it."""


class PushOptions(msgspec.Struct, forbid_unknown_fields=True):
    """The metadata of a PushSecret; as in the operator without an envelope, and with underscores."""

    secret_type: Literal["CREDENTIAL", "TEXT", "credential", "text"] = "CREDENTIAL"
    username: str = ""
    folder_name: str = ""
    title: str = ""
    description: str = ""
    notes: str = ""
    owner_id: int = 0
    owner_type: Literal["", "User", "Group"] = ""
    group_id: int = 0

    @property
    def is_text(self) -> bool:
        return self.secret_type.upper() == "TEXT"

    def check(self, folder: str, title: str) -> None:
        """Folder and title are those of the remote key. Raises Malformed."""
        if self.folder_name not in {"", folder} or self.title not in {"", title}:
            raise Malformed(
                "metadata.folder_name or title differs from remoteKey",
                hint="write remoteKey as <folder>/<title>, as for reading, and leave both out",
            )

    def body(self, title: str, value: str, user: int, version: str) -> dict[str, Any]:
        """A new secret. Without an owner it is that of the user that is signed in."""
        about = {"Description": self.description, "Notes": self.notes}
        kind = {"Text": value} if self.is_text else {"Username": self.username or title, "Password": value}
        return {"Title": title, **kind, **{k: v for k, v in about.items() if v}, **self._owner(user, version)}

    def _owner(self, user: int, version: str) -> dict[str, Any]:
        group = self.group_id or (self.owner_id if self.owner_type == "Group" else 0)
        owner = self.owner_id or user
        if version >= _OF_USERS_AND_GROUPS:
            return {"Owners": [{"GroupId": group} if group else {"UserId": owner}]}
        if group:
            return {"OwnerType": "Group", "OwnerId": group}
        return {"OwnerType": "User", "Owners": [{"OwnerId": owner}]}


def options(metadata: Json) -> PushOptions:
    """The metadata of a push. Raises Malformed."""
    problem = ""
    try:
        return msgspec.convert(metadata or {}, PushOptions)
    except msgspec.ValidationError as error:
        problem = str(error)
    raise Malformed(f"metadata: {problem}", hint="write secret_type, username, description or an owner")
