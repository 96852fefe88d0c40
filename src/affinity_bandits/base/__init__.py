"""What everything else rests on: errors, checks, registries, words, tables, progress, workers."""
