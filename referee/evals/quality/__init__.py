"""The metrics that ship, one file each."""
