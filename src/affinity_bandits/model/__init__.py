"""The model of Section 2: bandit, bias, noise, committee and feedback."""
