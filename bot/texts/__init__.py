"""Every text that people read, in every language: one module for each area, the languages side by side.

How to write a new one: docs/texts.md.
"""
