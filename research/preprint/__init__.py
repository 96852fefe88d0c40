"""The studies as one LaTeX document."""
