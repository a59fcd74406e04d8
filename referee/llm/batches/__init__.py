"""Calls sent as batches: collected while a run waits, half the price, replies within a day."""
