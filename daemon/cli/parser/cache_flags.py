"""The flags of `cache`."""

from syncret.daemon.cli.parser.options import Commands, add, daemon_options


def add_cache(commands: Commands) -> None:
    """`syncret cache`."""
    command = add(
        commands,
        "cache",
        "make a key for the offline cache of a host, look at the cache, or clear it",
        "The setting cache.key says where the key is; a daemon with one keeps what it delivered and read, "
        "encrypted, and puts it back after a reboot in a time without its secret managers.\n\n"
        "init makes a key, as root: for credential:NAME with systemd-creds, which encrypts it for this host, "
        "and for file:/PATH in that file. A key that is there already stays.\n\n"
        "status asks a running daemon what the cache holds. clear has it forget all, or what came from one "
        "store; without a daemon, it removes the file. Exit code 1 if there is no cache, 3 if no daemon "
        "answers, or the file cannot be removed.",
        "syncret cache init",
        "syncret cache status -o json",
        "syncret cache clear --store SecretStore/payments/vault",
    )
    command.add_argument("action", choices=("init", "status", "clear"), help="what to do")
    command.add_argument(
        "--tpm2", action="store_true", help="init: encrypt the key with this host's TPM, too"
    )
    command.add_argument(
        "--store",
        metavar="KIND/NAMESPACE/NAME",
        help="clear: only what came from this store (without a namespace: default, or of the cluster)",
    )
    daemon_options(command)
