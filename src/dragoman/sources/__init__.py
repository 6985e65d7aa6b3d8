"""What yields candidates under weights."""
