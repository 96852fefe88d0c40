"""The paper's numbers of its statements, by their labels in its LaTeX source.

Theorems, lemmas and the like share one counter within each section, and equations have one for the
whole text; docs/development/paper-map.md says how the numbers were found.
"""

from __future__ import annotations

NUMBERS = {
    "fig:biasModel1": "Figure 1",
    "fig:biasModel2": "Figure 2",
    "eq:regretDef": "Equation (1)",
    "assump:multBias": "Assumption 2.1",
    "eq:biasModel": "Equation (2)",
    "fig:AlgsProbFail": "Figure 3",
    "fig:debiasedUCB": "Figure 4",
    "alg:eliminationUnknownBias": "Algorithm 1",
    "eq:empiricalGapDecompOne": "Equation (4)",
    "eq:empiricalGapDecompTwo": "Equation (5)",
    "thm:regretConstSuboptimalityGaps": "Theorem 4.1",
    "def:consistentPolicy": "Definition 5.1",
    "thm:lowerBoundRegret": "Theorem 5.2",
    "cor:comparisonUpperLowerBound": "Corollary 5.4",
    "lem:divergenceDecomp": "Lemma 5.5",
    "cor:divDecompConsequence": "Claim 5.6",
    "lem:smallBiasSetBound": "Lemma 5.7",
    "lem:stability": "Lemma 5.8",
    "lem:mainLowerBoundIngredients": "Lemma 5.9",
    "sec:partialMonitoringAppendix": "Appendix B",
    "alg:eliminationUnknownBiasAppendix": "Algorithm 2",
    "lem:eliminationFracDecomp": "Lemma C.1",
    "def:activeArmConfSets": "Definition C.2",
    "eq:multBiasElimination": "Equation (8)",
    "lem:activeArmConfSetsProperties": "Lemma C.3",
    "thm:eliminationUnknownBiasAppendix": "Theorem C.4",
    "eq:eliminationArmPullsInRound": "Equation (10)",
    "eq:eliminationSuccessProbSufficientlyLarge": "Equation (11)",
    "eq:eliminationRegretInstDep": "Equation (12)",
    "eq:eliminationRegretWorstCase": "Equation (13)",
    "lem:fminTypicalScaling": "Lemma C.5",
    "eq:armFracDecomp": "Equation (14)",
    "cor:regretConstSuboptimalityGaps": "Corollary C.6",
    "lem:eliminationSuboptimalityGaps": "Lemma C.7",
    "lem:eliminationFailureProbability": "Lemma C.8",
    "lem:eliminationArmBound": "Lemma C.9",
    "thm:lowerBoundRegretAppendix": "Theorem D.1",
    "rem:comparisonUpperLowerBound": "Remark D.2",
    "lem:divergenceDecompAppendix": "Lemma D.3",
    "eq:appendixDivDecomp": "Equation (28)",
    "eq:appendixDivDecompDataProcessing": "Equation (29)",
    "cor:divDecompConsequenceAppendix": "Claim D.4",
    "eq:divDecompConsequenceOneAppendix": "Equation (30)",
    "eq:divDecompConsequenceTwoAppendix": "Equation (31)",
    "eq:divDecompConsequenceThreeAppendix": "Equation (32)",
    "eq:worstCaseRegretBounds": "Equation (35)",
    "lem:dataProcessing": "Lemma D.5",
    "lem:stabilityAppendix": "Lemma D.6",
    "def:stoppingTime": "Definition D.7",
    "lem:stabilityGeneral": "Lemma D.8",
    "lem:stabilityTechnical": "Lemma D.9",
    "eq:stabilityInductionClaimIntermediate": "Equation (42)",
    "lem:smallBiasSetDerandomized": "Lemma D.10",
    "lem:mainLowerBoundIngredientsAppendix": "Lemma D.11",
    "sec:ucbAppendix": "Appendix E",
    "thm:ucbLinearRegretAppendix": "Theorem E.1",
    "eq:UCB": "Equation (UCB)",
    "rem:biasInitializationUCB": "Remark E.2",
    "fig:UCB": "Figure 5",
    "eq:ucbGoodEvent": "Equation (43)",
    "lem:stochasticDominance": "Lemma E.3",
    "lem:sufficientGoodEvent": "Lemma E.4",
    "lem:concentrationUCB": "Theorem E.5",
    "lem:ucbParameterChoicesAppendix": "Lemma E.6",
    "eq:ucbNegResultConditionOne": "Equation (46)",
    "eq:ucbNegResultConditionTwo": "Equation (47)",
    "alg:coupling": "Algorithm 3",
    "subsec:ignoreBias": "Appendix F.1",
    "subsec:debiasingFig": "Appendix F.2",
    "fig:CompareAlgs": "Figures 6 and 7",
    "fig:scaleGap": "Figure 8",
    "fig:scaleGapInv": "Figure 9",
    "fig:scaleL": "Figure 10",
    "fig:scaleTmaxmin": "Figures 11 and 12",
}
"""In the order of the paper."""


def with_number(label: str) -> str:
    """Return a label after its number; a study's page as it is.

    >>> with_number("thm:lowerBoundRegret")
    'Theorem 5.2 (thm:lowerBoundRegret)'
    """
    return f"{NUMBERS[label]} ({label})" if label in NUMBERS else label
