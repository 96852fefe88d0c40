"""The pages of /ui."""
