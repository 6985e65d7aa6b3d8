"""Measured cases. `make bench` runs them all; `python -m bench --only NAME` some of them."""
