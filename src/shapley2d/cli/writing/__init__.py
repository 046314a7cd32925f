"""From valuations to files and to the terminal."""
