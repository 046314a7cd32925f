"""Coalitions and their weights, semivalues, and what a game is. Knows neither data nor models."""
