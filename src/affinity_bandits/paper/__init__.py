"""The paper, reproduced: its figures and theorems, each with settings, run, claims and drawing."""

from affinity_bandits.paper.item import PAPER, SCALES, Claim, Item
from affinity_bandits.paper.runner import ItemOutcome, StoreCellRunner, run_item

__all__ = ["PAPER", "SCALES", "Claim", "Item", "ItemOutcome", "StoreCellRunner", "run_item"]
