"""What is marked: the loop and its stages, and where marks go."""
