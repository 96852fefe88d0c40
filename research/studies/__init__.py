"""The paper's open problems: a module per study, with settings, run, claims and drawing."""

from affinity_bandits.paper import item

__all__ = ["STUDIES"]

STUDIES = item.Collection(
    kind="study",
    package="research.studies",
    modules=("horizon", "memory", "contexts"),
    title="Open problems, studied",
    heading="Open problems of affinity bandits, studied",
)
