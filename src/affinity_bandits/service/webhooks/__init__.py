"""Webhooks: notices of what happened to campaigns, signed, and sent until they are received."""
