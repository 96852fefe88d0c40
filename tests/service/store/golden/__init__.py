"""A dump of every schema there was, with campaigns in it, to upgrade from."""
