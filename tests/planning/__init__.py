"""Plans: what is predicted, chosen, certified, remembered and said about it."""
