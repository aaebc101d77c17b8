"""What becomes of files: copies of what a write replaced, and taking a write back."""
