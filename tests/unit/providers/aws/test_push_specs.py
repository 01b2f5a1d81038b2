"""What a PushSecret says to AWS beside the value."""

from typing import Any

import pytest

from syncret.providers.aws import push_specs
from syncret.providers.aws.push_specs import ParameterPush, SecretPush
from syncret.providers.errors import Malformed


def envelope(**spec: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return {
        "apiVersion": "kubernetes.external-secrets.io/v1alpha1",
        "kind": "PushSecretMetadata",
        "spec": spec,
    }


def test_nothing_said_means_the_defaults() -> None:
    options = push_specs.options(None, SecretPush)

    assert options.all_tags() == {"managed-by": "external-secrets"}
    assert options.key == "alias/aws/secretsmanager"
    assert options.value(b"\xff") == {"SecretBinary": b"\xff"}


def test_all_that_can_be_said() -> None:
    options = push_specs.options(
        envelope(
            tags={"team": "a"},
            description="d",
            secretPushFormat="string",
            kmsKeyId="k",
            resourcePolicy={
                "blockPublicPolicy": True,
                "policySourceRef": {"kind": "ConfigMap", "name": "n", "key": "k"},
            },
            replicationLocations=["eu-central-1"],
        ),
        SecretPush,
    )

    assert options.all_tags() == {"team": "a", "managed-by": "external-secrets"}
    assert (options.key, options.value(b"x")) == ("k", {"SecretString": "x"})
    parameter = push_specs.options(
        envelope(secretType="SecureString", kmsKeyID="k", tier={"type": "Advanced", "policies": [{}]}),
        ParameterPush,
    )
    assert (parameter.kms_key_id, parameter.tier.policies) == ("k", [{}])


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        pytest.param({"spec": {}}, "unexpected apiVersion", id="no envelope"),
        pytest.param(envelope() | {"kind": "Secret"}, "unexpected kind", id="another kind"),
        pytest.param(envelope() | {"tags": "x"}, "unknown field 'tags'", id="beside the spec"),
        pytest.param(envelope(kmsKey="k"), "unknown field `kmsKey`", id="unknown in the spec"),
        pytest.param(envelope(tags={"managed-by": "me"}), "Cannot specify a 'managed-by' tag", id="our tag"),
        pytest.param(envelope(secretPushFormat="hex"), "Invalid enum value", id="a format there is not"),
        pytest.param("text", "unexpected apiVersion", id="no object"),
    ],
)
def test_what_cannot_be_said(metadata: object, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        push_specs.options(metadata, SecretPush)
