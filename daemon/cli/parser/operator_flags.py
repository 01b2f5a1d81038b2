"""The flags of `operator`."""

from syncret.daemon.cli.parser.options import DEFAULTS, Commands, add, settings


def add_operator(commands: Commands) -> None:
    """`syncret operator`."""
    command = add(
        commands,
        "operator",
        "install the daemon in a cluster as an ExternalSecretsConfig says, and keep it so",
        "Runs in a cluster, as `syncret export operator` installs it, or beside one with a kubeconfig. It "
        "installs the daemon, its webhook and what keeps the webhook's certificates as the "
        "ExternalSecretsConfig `cluster` says, with defaults from the ExternalSecretsManager `cluster`, "
        "which it makes itself; it writes into their conditions how far everything is, and repairs what is "
        "changed. Deleting the ExternalSecretsConfig ends that, and removes nothing. The CRDs are not "
        "installed: syncret export crds prints them, and with --operator those of these two kinds. SIGTERM "
        "exits with 0. Exit code 2 if the settings are wrong, 3 if the API server or the address cannot be "
        "used.",
        "syncret export crds --operator",
        "syncret export crds",
        "syncret export operator --image registry.example.com/syncret:1.0",
        "syncret explain --field ExternalSecretsConfig.spec",
        "syncret operator --set operator.operandImage=registry.example.com/syncret:1.0",
    )
    command.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="address of /metrics, /healthz and /readyz; port 0: any free port, empty: none "
        f"(setting listen, default: {DEFAULTS['listen']})",
    )
    settings(command)
