"""Wrong input of every kind, and the errors that refuse it."""
