"""Helpers of the tests: small texts and systems, decoders by hand, slow twins, pages."""
