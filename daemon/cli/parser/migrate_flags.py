"""The command line of `syncret migrate`."""

from syncret.daemon.cli.parser.options import Commands, add, output, settings


def add_migrate(commands: Commands) -> None:
    """Add the command."""
    command = add(
        commands,
        "migrate",
        "show what a takeover from ESO would change in a cluster; writes nothing",
        "Reads the cluster by your kubeconfig and decides for each object what the daemon would do at its "
        "start, without asking any secret manager. Nothing should change: statuses, labels, owners and "
        "hashes are the same. Then it lists:\n\n"
        "- the flags of ESO's Deployment as settings of the daemon, and those that cannot be had;\n\n"
        "- stores that log in as the operator itself, with the lines of ownIdentity for the daemon;"
        "\n\n"
        "- CRDs that `helm uninstall` would delete with all their objects, and how to keep them; those with "
        "objects in the version v1beta1; webhooks that refuse every write once ESO is gone;"
        "\n\n"
        "- what is due: there the daemon would ask at once, as ESO would.\n\n"
        "`clean` is said only if nothing would change, no store would lose its login, and everything could "
        "be looked at. You need the right to read what the daemon reads, Secrets included; no value is "
        "shown. Exit code 0 if it is clean, 1 if it is not, 2 if the settings are wrong, 3 if the cluster "
        "cannot be reached.",
        "syncret migrate",
        "syncret migrate --context production --config syncret.yaml",
        "syncret migrate --namespace payments -o json",
        "syncret migrate --set migration.namespace=external-secrets",
    )
    command.add_argument(
        "--kubeconfig",
        metavar="FILE",
        help="the kubeconfig (setting kubeconfig, default: as kubectl has it)",
    )
    command.add_argument(
        "--context", metavar="NAME", help="its context (setting context, default: the current one)"
    )
    command.add_argument(
        "--namespace",
        metavar="NAME",
        help="the only namespace that the daemon is to work in (setting namespace, default: all)",
    )
    output(command, "text", "json")
    settings(command)
