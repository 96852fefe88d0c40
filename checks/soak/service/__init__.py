"""Kill, stop and pause everything around the live service, and account for every answer."""
