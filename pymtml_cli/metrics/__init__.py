"""The cards for Prometheus."""
