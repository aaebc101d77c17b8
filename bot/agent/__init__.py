"""The model loop. The only package that imports pydantic_ai."""
