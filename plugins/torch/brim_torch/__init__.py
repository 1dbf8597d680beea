"""Sees the steps of a PyTorch job that knows nothing of it, and marks them into brim's ring."""
