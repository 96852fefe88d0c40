"""The paper, reproduced: a module per figure or theorem, with settings, run, claims and drawing."""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.paper.item import SCALES, Claim, Item
from affinity_bandits.paper.registry import chosen, items
from affinity_bandits.paper.runner import Outcome, StoreCellRunner, run_item

__all__ = ["SCALES", "Claim", "Item", "Outcome", "StoreCellRunner", "chosen", "items", "run_item"]
