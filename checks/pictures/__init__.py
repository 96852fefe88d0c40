"""The pictures of the README and of the documentation, a module per kind."""
