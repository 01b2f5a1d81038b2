"""Access to an API server: kubeconfigs, and the logins that they name."""
