"""As whom an API server is asked: kubeconfigs, and the logins that they name."""
