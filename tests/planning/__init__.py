"""Plans: what they assume, how they are judged, remembered and said, and whether they keep it."""
