"""mixlaw: data-mixture scaling laws, from run logs to a trainer's config."""

__version__ = "0.1.0"
