"""Operations: metrics, HTTP endpoints, the control socket, logs, notifications to systemd."""
