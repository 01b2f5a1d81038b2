"""A Grafana dashboard for the metrics of the daemon: what it shows, and its JSON."""
