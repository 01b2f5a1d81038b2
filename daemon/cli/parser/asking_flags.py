"""The flags of `status`, `explain` and `refresh`, which ask a running daemon, or an API server."""

from syncret.daemon.cli.parser.options import (
    NAME,
    NAMESPACE,
    Commands,
    add,
    daemon_options,
    duration,
    in_cluster,
    object_named,
)


def add_status(commands: Commands) -> None:
    """`syncret status`."""
    command = add(
        commands,
        "status",
        "show the state of a running daemon or of a cluster, object by object",
        "READY: whether the object is in order, what is not (NO) comes first; AGE: for how long its value "
        "has been known to be good; NEXT: when it is processed again. -o wide cuts nothing, and adds file "
        "and line of the manifest, and the remedy. Exit code 1 if an object is not in order or not there, 3 "
        "if no daemon answers.\n\n"
        "With --kubernetes it asks no daemon: conditions and events are read from the API server with your "
        "kubeconfig and your rights, in one namespace or, with -A, in all, of any controller. A "
        "right that is missing is named, and the rest is shown. Exit code 3 if nothing may be read.",
        "syncret status",
        "syncret status -o wide",
        "syncret status --failing -o json",
        "syncret status --kubernetes -n payments",
        "syncret status --kubernetes -A --failing",
        "syncret status --kubernetes --context production es/database",
    )
    command.add_argument(
        "names", nargs="*", metavar=NAME, help="only objects of these names; a name may be KIND/NAME"
    )
    command.add_argument("-n", "--namespace", metavar=NAMESPACE, help="only the objects of one namespace")
    command.add_argument(
        "-A",
        "--all-namespaces",
        action="store_true",
        help="with --kubernetes: those of all namespaces, and what is in none (default: the namespace of the "
        "kubeconfig's context)",
    )
    command.add_argument("--failing", action="store_true", help="only what is not in order")
    in_cluster(command)
    daemon_options(command, "wide")


def add_explain(commands: Commands) -> None:
    """`syncret explain`."""
    command = add(
        commands,
        "explain",
        "show where each key of an object comes from, and what is next",
        "For each key: the store, the remote key and property, the entry of the spec, the steps that "
        "changed it. Then the last error with its remedy, and when and why the next attempt is made. "
        "Kinds have short names: es, ps, ss, css, ces, cps. Exit code 1 if the daemon has no such object, 3 "
        "if no daemon answers.\n\n"
        "With --kubernetes it asks no daemon, but the API server, with your kubeconfig and your rights: the "
        "newest events, state and class of each store, and which Secret is missing are shown, too; of "
        "Secrets, the metadata alone is read. What only the process knows is left to the command that it "
        "prints.\n\n"
        "With --field, what a field of a manifest is for, as kubectl explain shows it: description, type, "
        "default, an example, the fields below it. That needs no daemon. Exit code 2 if there is none.",
        "syncret explain ExternalSecret/database",
        "syncret explain es database -n payments",
        "syncret explain --kubernetes es/database -n payments",
        "syncret explain --field externalsecret.spec.refreshInterval",
        "syncret explain --field secretstore.spec.provider.vault.auth --recursive",
    )
    object_named(command, or_field=True)
    command.add_argument(
        "--recursive", action="store_true", help="with --field: name all fields below it, at any depth"
    )
    in_cluster(command)
    daemon_options(command)


def add_refresh(commands: Commands) -> None:
    """`syncret refresh`."""
    command = add(
        commands,
        "refresh",
        "refresh an object now, in a running daemon or a cluster",
        "Use it when a value has just been rotated. For a ClusterExternalSecret, everything that it created "
        "is refreshed. The request stands until it succeeds. What is created only once (refreshPolicy "
        "CreatedOnce) is not created again. Exit code 1 if the daemon has no such object or would do "
        "nothing, 3 if no daemon answers.\n\n"
        "With --kubernetes it asks no daemon, but sets the annotation force-sync of the object with your "
        "kubeconfig (of a ClusterExternalSecret external-secrets.io/force-sync, which travels to all that it "
        "made), which ESO's controller obeys, too. With --wait it ends with 0 once there is a new "
        "refreshTime, and with 1 if the attempt failed, or the time is over. Exit code 3 if you may not "
        "patch the object.",
        "syncret refresh ExternalSecret/database",
        "syncret refresh es database -n payments",
        "syncret refresh --kubernetes es/database -n payments --wait",
    )
    object_named(command)
    command.add_argument(
        "--wait", action="store_true", help="with --kubernetes: wait until it has been refreshed"
    )
    command.add_argument(
        "--timeout",
        type=duration,
        default=60.0,
        metavar="DURATION",
        help="how long --wait waits, such as 90s or 5m (default: 60s)",
    )
    in_cluster(command)
    daemon_options(command)
