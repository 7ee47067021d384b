"""Run the command line with ``python -m mixlaw``."""

from mixlaw.cli import run

if __name__ == "__main__":
    run()
