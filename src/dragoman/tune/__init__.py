"""Tuning: the outer loop around any decoder."""
