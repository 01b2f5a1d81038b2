"""The command line of `syncret export`: which document, and what can be chosen about it."""

from argparse import ArgumentParser

from syncret.daemon.cli.parser.options import NAME, NAMESPACE, Commands, add, path


def add_export(commands: Commands) -> None:
    """Add the command."""
    command = add(
        commands,
        "export",
        "print schemas, CRDs, manifests, rights, settings, a dashboard, completion, the man page",
        "schema KIND       the schema of one kind, as JSON\n"
        "crds              CustomResourceDefinitions of all kinds, for a cluster\n"
        "manifests         the daemon in a cluster: account, roles, Deployment, Service and more\n"
        "operator          `syncret operator` in a cluster: namespace, account, roles, Deployment;\n"
        "                  --bundle DIR writes it as a bundle of the Operator Lifecycle Manager\n"
        "polkit            the rule by which the daemon of a host may reload what Deliveries name;\n"
        "                  --check asks, as root, whether it is in force\n"
        "settings          a settings file with every setting, its default and its meaning\n"
        "dashboard         a Grafana dashboard for the daemon's metrics, as JSON to import; its\n"
        "                  variables choose the data source and the daemons\n"
        "completion SHELL  for bash, zsh or fish\n"
        "man               the man page",
        "syncret export crds > crds.yaml",
        "syncret export manifests --image registry.example/syncret:0.1.0 > syncret.yaml",
        "syncret export manifests --values values.yaml --namespace secrets > syncret.yaml",
        "syncret export manifests -f config.yaml --image registry.example/syncret:0.1.0",
        "syncret export operator --image registry.example/syncret:0.1.0 --bundle bundle",
        "syncret export polkit -f /etc/syncret/manifests > 50-syncret.rules",
        "syncret export settings > /etc/syncret/syncret.yaml",
        "syncret export dashboard > syncret.json",
        "syncret export completion bash > /etc/bash_completion.d/syncret",
        "syncret export man > /usr/share/man/man1/syncret.1",
    )
    command.add_argument(
        "what",
        choices=(
            *("schema", "crds", "manifests", "operator", "polkit", "settings"),
            *("dashboard", "completion", "man"),
        ),
        metavar="DOCUMENT",
        help="what to print, one of those above",
    )
    command.add_argument(
        "name", nargs="?", metavar="KIND|SHELL", help="the kind of a schema, the shell of a completion"
    )
    command.add_argument(
        "--serve-v1beta1",
        action="store_true",
        help="crds: serve external-secrets.io/v1beta1 as well, for clients that still ask for it",
    )
    command.add_argument(
        "--operator",
        action="store_true",
        help="crds: those of ExternalSecretsConfig and ExternalSecretsManager instead, for syncret operator",
    )
    command.add_argument(
        "--compat",
        action="store_true",
        help="crds: without rules between fields (CEL), for Kubernetes before 1.30",
    )
    command.add_argument(
        "--bundle",
        metavar="DIR",
        help="operator: write a ClusterServiceVersion, all CRDs and the annotations into this empty folder",
    )
    _polkit(command)
    _installation(command)


def _polkit(command: ArgumentParser) -> None:
    """The flags of a polkit rule; `-f` is among the flags of manifests."""
    group = command.add_argument_group("polkit")
    group.add_argument(
        "--config",
        type=path,
        metavar="FILE",
        help="the settings that name the manifests; or name manifests with -f, which may be repeated",
    )
    group.add_argument(
        "--user", metavar=NAME, help="the user that the daemon runs as (default: syncret, as shipped)"
    )
    group.add_argument(
        "--check",
        action="store_true",
        help="print for each right whether polkit grants it, and exit 1 if one is missing (as root)",
    )


def _installation(command: ArgumentParser) -> None:
    """The flags of an installation. They have no defaults here, so that it is known which were given."""
    group = command.add_argument_group("manifests")
    group.add_argument(
        "--values",
        metavar="FILE",
        help="values of the Helm chart, for those who install without Helm: what `helm template` makes of "
        "them, CRDs included; beside it only --image, --name and --namespace are taken",
    )
    group.add_argument(
        "-f",
        "--configuration",
        action="append",
        type=path,
        metavar="FILE",
        help="polkit: manifests, may be repeated. manifests: an ExternalSecretsConfig, and an "
        "ExternalSecretsManager if there is one: what `syncret operator` installs for it, but its own "
        "rights; beside it only the flags of images are taken",
    )
    group.add_argument(
        "--bitwarden-image",
        metavar="REPO:TAG",
        help="operator, and manifests with -f: the image of the Bitwarden server (default: none)",
    )
    group.add_argument("--image", metavar="REPO:TAG", help="the image; there is no default")
    group.add_argument(
        "--name", dest="installation", metavar=NAME, help="name of all objects (default: syncret)"
    )
    group.add_argument(
        "--namespace", metavar=NAMESPACE, help="where the daemon runs; it must exist (default: syncret)"
    )
    group.add_argument(
        "--only-namespace",
        metavar=NAMESPACE,
        help="the only namespace to work in, by Roles; cluster-scoped stores and generators still need a "
        "ClusterRole, unless --set process.clusterStore=false (default: the whole cluster)",
    )
    group.add_argument(
        "--replicas",
        type=int,
        metavar="N",
        help="with several, one is active by a Lease and the others take over (default: 1)",
    )
    group.add_argument(
        "--min-available",
        metavar="N|N%",
        help="how many an eviction leaves, by a PodDisruptionBudget (default: 1 of several replicas)",
    )
    group.add_argument(
        "--service-account",
        metavar=NAME,
        help="an account that exists; the roles are bound to it (default: a new one)",
    )
    group.add_argument(
        "--generic-target",
        action="append",
        metavar="RESOURCE[.GROUP]",
        help="resources besides Secrets that ExternalSecrets may write, such as deployments.apps; may be "
        "repeated",
    )
    group.add_argument("--pull-secret", action="append", metavar=NAME, help="a Secret to pull the image with")
    group.add_argument(
        "--network-policy",
        action="store_true",
        help="a NetworkPolicy: only the port of metrics and probes can be reached",
    )
    group.add_argument(
        "--service-monitor", action="store_true", help="a ServiceMonitor, for the Prometheus operator"
    )
    group.add_argument(
        "--webhook",
        nargs="?",
        choices=("Ignore", "Fail"),
        const="Ignore",
        help="an admission webhook, and what the API server does while it does not answer (default: Ignore); "
        "not with --only-namespace",
    )
    group.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="a setting of the daemon (`syncret export settings` lists them all); may be repeated",
    )
