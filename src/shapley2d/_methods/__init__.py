"""The methods by name: from a checked problem and its options to an estimate."""
