"""The audit trail: computed again from its events, and compared with what is stored."""
