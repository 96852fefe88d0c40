(* What each main theorem rests on; `make assumptions` prints it, and assumptions.txt keeps it. *)

From AffinityBandits Require Trees NeutralBlocks Shares Bets BestGroupKept HeadStart InTurn NotVacuous Panels Members AuditBets Borders.

Goal True. idtac "Trees.ville:". Abort.
Print Assumptions Trees.ville.
Goal True. idtac "NeutralBlocks.best_group_kept_in_neutral_blocks:". Abort.
Print Assumptions NeutralBlocks.best_group_kept_in_neutral_blocks.
Goal True. idtac "Shares.shares_in_order:". Abort.
Print Assumptions Shares.shares_in_order.
Goal True. idtac "Bets.pair_of_scores:". Abort.
Print Assumptions Bets.pair_of_scores.
Goal True. idtac "Bets.divide_by_expectation:". Abort.
Print Assumptions Bets.divide_by_expectation.
Goal True. idtac "Bets.round_at_most_its_ratios:". Abort.
Print Assumptions Bets.round_at_most_its_ratios.
Goal True. idtac "BestGroupKept.best_group_kept_if_not_behind:". Abort.
Print Assumptions BestGroupKept.best_group_kept_if_not_behind.
Goal True. idtac "HeadStart.best_group_kept_with_uncounted:". Abort.
Print Assumptions HeadStart.best_group_kept_with_uncounted.
Goal True. idtac "HeadStart.best_group_kept:". Abort.
Print Assumptions HeadStart.best_group_kept.
Goal True. idtac "HeadStart.best_group_kept_by_the_published_rule:". Abort.
Print Assumptions HeadStart.best_group_kept_by_the_published_rule.
Goal True. idtac "InTurn.best_group_kept_in_turn:". Abort.
Print Assumptions InTurn.best_group_kept_in_turn.
Goal True. idtac "NotVacuous.assumptions_can_be_met:". Abort.
Print Assumptions NotVacuous.assumptions_can_be_met.
Goal True. idtac "Panels.best_group_kept_with_panels:". Abort.
Print Assumptions Panels.best_group_kept_with_panels.
Goal True. idtac "Panels.best_group_kept_by_equally_strict_recusal:". Abort.
Print Assumptions Panels.best_group_kept_by_equally_strict_recusal.
Goal True. idtac "Members.best_group_kept_among_members:". Abort.
Print Assumptions Members.best_group_kept_among_members.
Goal True. idtac "AuditBets.fixed_design_at_most_delta:". Abort.
Print Assumptions AuditBets.fixed_design_at_most_delta.
Goal True. idtac "AuditBets.bets_with_two_groups_and_one_panel:". Abort.
Print Assumptions AuditBets.bets_with_two_groups_and_one_panel.
Goal True. idtac "Borders.bias_that_changes_within_a_round:". Abort.
Print Assumptions Borders.bias_that_changes_within_a_round.
Goal True. idtac "Borders.people_who_are_not_counted:". Abort.
Print Assumptions Borders.people_who_are_not_counted.
Goal True. idtac "Borders.ThreeGroups.three_groups_whose_order_scores_influence:". Abort.
Print Assumptions Borders.ThreeGroups.three_groups_whose_order_scores_influence.
