"""What operators see: metrics, health, logs, and the word to systemd."""
