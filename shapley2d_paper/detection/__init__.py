"""The detection benchmark: which method finds which errors."""
