"""The operator: installs the daemon as an ExternalSecretsConfig says, and keeps it so."""
