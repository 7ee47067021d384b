"""A fit and the decision made from it as one page that needs nothing else."""

from __future__ import annotations

from mixlaw.render.report.content import Report
from mixlaw.render.report.data import report_data
from mixlaw.render.report.page import page

__all__ = ["Report", "page", "report_data"]
