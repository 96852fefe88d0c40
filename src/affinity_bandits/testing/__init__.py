"""Contract tests that you can run on your own policies, biases and noises; ours pass them too.

Call them from a test of yours; each raises AssertionError with the broken rule.

    from affinity_bandits.testing import check_policy

    def test_my_policy_keeps_the_contract():
        check_policy(MyPolicy())
"""

from affinity_bandits.testing.contracts import check_bias, check_noise, check_policy

__all__ = ["check_bias", "check_noise", "check_policy"]
