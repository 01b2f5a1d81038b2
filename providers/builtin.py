"""The built-in providers and generators, by name, and secret APIs. Each is imported on first use."""

from collections.abc import Mapping
from typing import Final

STORES: Final[Mapping[str, str]] = {
    "akeyless": "syncret.providers.akeyless:PROVIDER",
    "alibaba": "syncret.providers.alibaba:PROVIDER",
    "aws": "syncret.providers.aws:PROVIDER",
    "azurekv": "syncret.providers.azurekv:PROVIDER",
    "barbican": "syncret.providers.barbican:PROVIDER",
    "beyondtrust": "syncret.providers.beyondtrust:PROVIDER",
    "beyondtrustworkloadcredentials": "syncret.providers.beyondtrustworkloadcredentials:PROVIDER",
    "bitwardensecretsmanager": "syncret.providers.bitwardensecretsmanager:PROVIDER",
    "chef": "syncret.providers.chef:PROVIDER",
    "cloudrusm": "syncret.providers.cloudrusm:PROVIDER",
    "conjur": "syncret.providers.conjur:PROVIDER",
    "crd": "syncret.providers.crd:PROVIDER",
    "delinea": "syncret.providers.delinea:PROVIDER",
    "doppler": "syncret.providers.doppler:PROVIDER",
    "dvls": "syncret.providers.dvls:PROVIDER",
    "fake": "syncret.providers.fake:PROVIDER",
    "fortanix": "syncret.providers.fortanix:PROVIDER",
    "gcpsm": "syncret.providers.gcpsm:PROVIDER",
    "github": "syncret.providers.github:PROVIDER",
    "gitlab": "syncret.providers.gitlab:PROVIDER",
    "ibm": "syncret.providers.ibm:PROVIDER",
    "infisical": "syncret.providers.infisical:PROVIDER",
    "keepersecurity": "syncret.providers.keepersecurity:PROVIDER",
    "kubernetes": "syncret.providers.kubernetes:PROVIDER",
    "nebiusmysterybox": "syncret.providers.nebiusmysterybox:PROVIDER",
    "ngrok": "syncret.providers.ngrok:PROVIDER",
    "onboardbase": "syncret.providers.onboardbase:PROVIDER",
    "onepassword": "syncret.providers.onepassword:PROVIDER",
    "onepasswordSDK": "syncret.providers.onepassword_sdk:PROVIDER",
    "openBao": "syncret.providers.openbao:PROVIDER",
    "oracle": "syncret.providers.oracle:PROVIDER",
    "ovh": "syncret.providers.ovh:PROVIDER",
    "passbolt": "syncret.providers.passbolt:PROVIDER",
    "passworddepot": "syncret.providers.passworddepot:PROVIDER",
    "previder": "syncret.providers.previder:PROVIDER",
    "pulumi": "syncret.providers.pulumi:PROVIDER",
    "scaleway": "syncret.providers.scaleway:PROVIDER",
    "secretserver": "syncret.providers.secretserver:PROVIDER",
    "senhasegura": "syncret.providers.senhasegura:PROVIDER",
    "vault": "syncret.providers.vault:PROVIDER",
    "volcengine": "syncret.providers.volcengine:PROVIDER",
    "webhook": "syncret.providers.webhook:PROVIDER",
    "yandexcertificatemanager": "syncret.providers.yandexcertificatemanager:PROVIDER",
    "yandexlockbox": "syncret.providers.yandexlockbox:PROVIDER",
}
"""The key under `spec.provider` of a store, and the address of its Provider."""

GENERATORS: Final[Mapping[str, str]] = {
    "ACRAccessToken": "syncret.providers.azurekv.acr:ACR",
    "BeyondtrustWorkloadCredentialsDynamicSecret": (
        "syncret.providers.beyondtrustworkloadcredentials.dynamic_secret:DYNAMIC_SECRET"
    ),
    "CloudsmithAccessToken": "syncret.providers.generators.cloudsmith:GENERATOR",
    "ECRAuthorizationToken": "syncret.providers.aws.ecr:ECR",
    "Fake": "syncret.providers.generators.fake:GENERATOR",
    "GCRAccessToken": "syncret.providers.gcpsm.gcr:GCR",
    "GithubAccessToken": "syncret.providers.github.access_token:ACCESS_TOKEN",
    "GitlabDeployToken": "syncret.providers.gitlab.deploy_token:DEPLOY_TOKEN",
    "Grafana": "syncret.providers.generators.grafana:GENERATOR",
    "MFA": "syncret.providers.generators.mfa:GENERATOR",
    "Password": "syncret.providers.generators.password:GENERATOR",
    "QuayAccessToken": "syncret.providers.generators.quay:GENERATOR",
    "SSHKey": "syncret.providers.generators.ssh_key:GENERATOR",
    "STSSessionToken": "syncret.providers.aws.sts:STS",
    "UUID": "syncret.providers.generators.uuid:GENERATOR",
    "VaultDynamicSecret": "syncret.providers.vault.dynamic_secret:DYNAMIC_SECRET",
    "Webhook": "syncret.providers.webhook.generator:GENERATOR",
}
"""The kind of a generator resource, and the address of its Generator."""

SECRET_APIS: Final[Mapping[str, str]] = {"azure.com": "syncret.providers.azurerm:SECRET_APIS"}
"""The end of the API groups of a vendor's resources, and the address of its SecretApis."""
