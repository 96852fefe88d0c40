"""The paper's open problems: a module per study, with settings, run, claims and drawing."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.studies.registry import chosen, studies

__all__ = ["chosen", "studies"]
