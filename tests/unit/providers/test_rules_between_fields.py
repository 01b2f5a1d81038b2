"""Rules between the fields of stores and generators, as CEL has them in the operator's CRDs."""

import pytest

from syncret.config.fields import Model
from syncret.config.meta import Document
from syncret.providers.gitlab.deploy_token import GitlabDeployTokenSpec
from syncret.providers.nebiusmysterybox.spec import NebiusAuth
from syncret.providers.onepassword_sdk.spec import OnePasswordSDKSpec
from syncret.providers.openbao.spec import OpenBaoAppRole, OpenBaoAuth, OpenBaoSpec
from syncret.providers.pulumi.spec import PulumiAuth, PulumiSpec
from syncret.providers.registry import Registry
from syncret.providers.secretserver.spec import SecretServerRef, SecretServerSpec

REGISTRY = Registry()

NEBIUS = "either serviceAccountCredsSecretRef or tokenSecretRef must be set"
SDK = "at most one of the fields in [vault environment] may be set"
BAO = "at most one of the fields in [caBundle caProvider] may be set"
BAO_AUTH = "exactly one of the fields in [appRole tokenSecretRef userPass] must be set"
BAO_ROLE = "exactly one of the fields in [roleId roleRef] must be set"
PULUMI = "Exactly one of 'auth' or deprecated 'accessToken' must be specified"
PULUMI_AUTH = "Exactly one of 'accessToken' or 'oidcConfig' must be specified"
LOGIN = "either token, or both username and password, must be set"
VALUE = "exactly one of value or secretRef must be set"
OWNER = "exactly one of projectID or groupID must be set"


@pytest.mark.parametrize(
    ("model", "fields", "broken"),
    [
        pytest.param(NebiusAuth, "", NEBIUS, id="nebius-none"),
        pytest.param(NebiusAuth, "tokenSecretRef", "", id="nebius-token"),
        pytest.param(NebiusAuth, "tokenSecretRef serviceAccountCredsSecretRef", "", id="nebius-both"),
        pytest.param(OnePasswordSDKSpec, "auth", "", id="onepasswordSDK-none"),
        pytest.param(OnePasswordSDKSpec, "auth vault", "", id="onepasswordSDK-vault"),
        pytest.param(OnePasswordSDKSpec, "auth vault environment", SDK, id="onepasswordSDK-both"),
        pytest.param(OpenBaoSpec, "server caBundle", "", id="openbao-bundle"),
        pytest.param(OpenBaoSpec, "server caBundle caProvider", BAO, id="openbao-both"),
        pytest.param(OpenBaoAuth, "", BAO_AUTH, id="openbao-auth-none"),
        pytest.param(OpenBaoAuth, "userPass namespace", "", id="openbao-auth-one"),
        pytest.param(OpenBaoAuth, "userPass appRole", BAO_AUTH, id="openbao-auth-two"),
        pytest.param(OpenBaoAppRole, "secretRef", BAO_ROLE, id="openbao-role-none"),
        pytest.param(OpenBaoAppRole, "secretRef roleRef", "", id="openbao-role-ref"),
        pytest.param(OpenBaoAppRole, "secretRef roleRef roleId", BAO_ROLE, id="openbao-role-both"),
        pytest.param(PulumiSpec, "", PULUMI, id="pulumi-none"),
        pytest.param(PulumiSpec, "accessToken", "", id="pulumi-deprecated"),
        pytest.param(PulumiSpec, "accessToken auth", PULUMI, id="pulumi-both"),
        pytest.param(PulumiAuth, "", PULUMI_AUTH, id="pulumi-auth-none"),
        pytest.param(PulumiAuth, "oidcConfig", "", id="pulumi-auth-oidc"),
        pytest.param(PulumiAuth, "oidcConfig accessToken", PULUMI_AUTH, id="pulumi-auth-both"),
        pytest.param(SecretServerSpec, "username", LOGIN, id="secretserver-half"),
        pytest.param(SecretServerSpec, "username password", "", id="secretserver-user"),
        pytest.param(SecretServerSpec, "token", "", id="secretserver-token"),
        pytest.param(SecretServerRef, "", VALUE, id="secretserver-no-value"),
        pytest.param(SecretServerRef, "value", "", id="secretserver-value"),
        pytest.param(SecretServerRef, "value secretRef", VALUE, id="secretserver-two-values"),
        pytest.param(GitlabDeployTokenSpec, "name", OWNER, id="deploy-token-none"),
        pytest.param(GitlabDeployTokenSpec, "groupID", "", id="deploy-token-group"),
        pytest.param(GitlabDeployTokenSpec, "groupID projectID", OWNER, id="deploy-token-both"),
    ],
)
def test_rules_between_fields(model: type[Model], fields: str, broken: str) -> None:
    document: Document = dict.fromkeys(fields.split())

    assert [rule.message for rule in model.RULES if not rule.holds(document)] == ([broken] if broken else [])


@pytest.mark.parametrize(
    ("document", "holds"),
    [
        pytest.param({}, True, id="none"),
        pytest.param({"customSessionTags": {"team": "a"}}, True, id="own"),
        pytest.param({"customSessionTags": {"esoNamespace": "a"}}, False, id="namespace"),
        pytest.param({"customSessionTags": {"esoStoreName": "a"}}, False, id="name"),
        pytest.param({"customSessionTags": {"esoStoreKind": "a"}}, False, id="kind"),
    ],
)
def test_reserved_session_tags_are_refused(document: Document, *, holds: bool) -> None:
    [rule] = REGISTRY.store("aws").model.RULES
    assert rule.holds(document) is holds


@pytest.mark.parametrize(
    ("document", "broken"),
    [
        pytest.param({"auth": {}}, [], id="auth"),
        pytest.param({"authRef": {}}, [], id="authRef"),
        pytest.param({}, ["one of auth or authRef is required"], id="neither"),
        pytest.param(
            {"auth": {}, "authRef": {}},
            ["at most one of the fields in [auth authRef] may be set"],
            id="both",
        ),
    ],
)
def test_a_crd_store_logs_in_one_way(document: Document, broken: list[str]) -> None:
    rules = REGISTRY.store("crd").model.RULES
    assert [rule.message for rule in rules if not rule.holds(document)] == broken


@pytest.mark.parametrize(
    ("document", "holds"),
    [
        pytest.param({"secretRef": {}}, True, id="token"),
        pytest.param({"oidcConfig": {}}, True, id="oidc"),
        pytest.param({}, False, id="neither"),
        pytest.param({"secretRef": {}, "oidcConfig": {}}, False, id="both"),
    ],
)
def test_a_doppler_store_logs_in_one_way(document: Document, *, holds: bool) -> None:
    auth = REGISTRY.store("doppler").model.__annotations__["auth"]
    assert [rule.holds(document) for rule in auth.RULES] == [holds]
