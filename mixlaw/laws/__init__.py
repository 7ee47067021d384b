"""All laws by name."""
