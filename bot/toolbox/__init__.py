"""What can run: the built-in tools and the sandbox they run in."""
