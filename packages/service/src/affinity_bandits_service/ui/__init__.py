"""The web pages under /ui."""
