"""Webhooks: notices of events of campaigns, signed, and sent until they are received."""
