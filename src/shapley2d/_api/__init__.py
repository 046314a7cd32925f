"""The functions and the class that users call."""
