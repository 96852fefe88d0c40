"""One path of an adversary that tries to lift many arms above a share: counting, no noise.

A kernel, to be compiled by who plays it.
"""

from __future__ import annotations

import numpy as np

from affinity_bandits.kernels import FloatArray, IntArray

SEQUENTIAL, GREEDY, POOREST, ROUND_ROBIN, RANDOM = range(5)
ADVERSARIES = {
    SEQUENTIAL: "one arm after the other",
    GREEDY: "the arm closest below",
    POOREST: "the poorest arm, until lifted",
    ROUND_ROBIN: "every arm in turn",
    RANDOM: "any arm",
}


def lift(
    kind: int,
    shares: FloatArray,
    initial: IntArray,
    prefix: IntArray,
    horizon: int,
    rng: np.random.Generator,
    members: IntArray,
    small: IntArray,
    order: IntArray,
    pulls: IntArray,
) -> tuple[int, int]:
    """Play one path; a kernel.

    Args:
        kind: the adversary.
        shares: beta and beta'.
        initial: T0.
        prefix: what is pulled up to n_0.
        horizon: n.
        rng: for adversaries that draw.
        members: room for T0_i + T_i(t).
        small: gets 1 for each arm of S_{n_0}(beta).
        order: gets 1, 2, ... for those of them whose share exceeds beta' / K before n.
        pulls: gets T_i(n_0, tau_i) of each.

    Returns:
        How many arms were lifted, and at how many pulls |S_t(beta)| < (1 - 1/beta) K.
    """
    arms = len(initial)
    beta, target = shares[0], shares[1]
    total = 0
    for i in range(arms):
        members[i] = initial[i]
        total += initial[i]
        order[i] = 0
        pulls[i] = 0
    first = len(prefix)
    lifted, failures, found = 0, 0, -1
    for t in range(1, horizon + 1):
        chosen = 0
        if t <= first:
            chosen = prefix[t - 1]
        elif kind == ROUND_ROBIN:
            chosen = t % arms
        elif kind == RANDOM:
            chosen = int(rng.random() * arms)
        else:
            # Whoever lifts the poorest arm must stay with it, or all arms stay alike.
            stays = kind == POOREST and found >= 0 and order[found] == 0
            if not stays:
                found = -1
            for i in range(arms):
                if stays or small[i] == 0 or order[i] > 0:
                    continue
                if (
                    found < 0
                    or (kind == GREEDY and members[i] > members[found])
                    or (kind == POOREST and members[i] < members[found])
                ):
                    found = i
            chosen = max(found, 0)
        members[chosen] += 1
        total += 1
        if t > first:
            pulls[chosen] += 1 if order[chosen] == 0 else 0
            # Both sides are exact: beta and beta' have few binary digits.
            above = members[chosen] * arms > target * total
            if above and t < horizon and small[chosen] == 1 and order[chosen] == 0:
                lifted += 1
                order[chosen] = lifted
        below = 0
        for i in range(arms):
            inside = members[i] * arms <= beta * total
            below += 1 if inside else 0
            if t == first:
                small[i] = 1 if inside else 0
        if below * beta < (beta - 1.0) * arms:
            failures += 1
    return lifted, failures
