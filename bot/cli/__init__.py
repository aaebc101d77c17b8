"""The front door: the command line and what it starts. The one place that may see every floor."""
