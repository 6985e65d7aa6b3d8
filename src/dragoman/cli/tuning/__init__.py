"""The parts of `dragoman tune`: its options, where candidates come from, what it writes and says."""
