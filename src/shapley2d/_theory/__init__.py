"""Coalitions, axis designs, semivalues, and what a game is. Knows neither data nor models."""
