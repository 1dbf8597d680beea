"""What can be changed of a job, at its start or while it runs, but for its loader."""
