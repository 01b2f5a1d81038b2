"""Names of the admission webhook, as the operator has them: installation and daemon agree on them."""

from typing import Final

from syncret.config.meta import GroupKind
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE, EXTERNAL_SECRET, SECRET_STORE

COMPONENT: Final = "external-secrets.io/component"
WEBHOOK: Final = "webhook"
"""The label by which a configuration is known to be the webhook's."""

WEBHOOK_CONFIGURATION: Final = GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration")

CONFIGURATIONS: Final = {
    "secretstore-validate": (SECRET_STORE, CLUSTER_SECRET_STORE),
    "externalsecret-validate": (EXTERNAL_SECRET,),
}
"""The webhook configurations, and the kinds that each is about."""

PATHS: Final = {
    f"/validate-external-secrets-io-v1-{kind.kind.lower()}": kind.group_kind
    for kinds in CONFIGURATIONS.values()
    for kind in kinds
}
"""The paths of the webhooks, and the kind that each is asked about."""

CRDS: Final = tuple(f"{kind.plural}.{kind.group}" for kinds in CONFIGURATIONS.values() for kind in kinds)
"""The CRDs that older versions converted by a webhook."""
