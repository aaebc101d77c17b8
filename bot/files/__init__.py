"""What becomes of files: what people attach, copies of what a write replaced, and taking a write back."""
