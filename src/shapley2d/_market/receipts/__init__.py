"""Receipts: what was paid and why, signed, and verified from the data."""
