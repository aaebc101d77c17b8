"""Detached work: runs that outlive the turn that started them."""
