"""Detectors of bad cells, ours and the baselines, behind one call."""
