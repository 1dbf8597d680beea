"""The loader of a running job with other settings, and the workers that brim starts for it."""
