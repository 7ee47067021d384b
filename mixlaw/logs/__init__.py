"""Readers of training logs: files and folders -> RunTable."""

from mixlaw.logs.ingest import ingest, read_runs
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.readers import READERS
from mixlaw.logs.report import Report

__all__ = ["READERS", "IngestOptions", "Report", "ingest", "read_runs"]
