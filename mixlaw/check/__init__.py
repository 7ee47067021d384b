"""Held-out checks: scores, baselines, ways to hold out, bootstrap and calibration."""
