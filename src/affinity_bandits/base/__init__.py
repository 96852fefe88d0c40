"""The modules that all others use: errors, checks, registries, words, tables, workers."""
