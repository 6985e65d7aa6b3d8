"""Corpora: reading, cleaning, splitting, and making them."""
