"""The simulated cluster: objects in memory that behave as in a Kubernetes cluster."""
