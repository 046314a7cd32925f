"""From files to what the library takes."""
