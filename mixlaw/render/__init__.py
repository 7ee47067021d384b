"""Results as tables and pictures for people."""
