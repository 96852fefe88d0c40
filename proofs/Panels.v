(* "Let the judges of each round be fixed when the round opens, and let them and f stay the same
   until it ends. Let raters be drawn from the panel by lot. Then the best group is ever dropped with
   probability at most delta, for any order of answers and any choice of panels" (Theorem 4).

   "Recusal is covered only if all judges are equally strict": then each group's mean score is its
   true mean times the same number. *)

From AffinityBandits Require Import Trees Bets Rule Game BestGroupKept HeadStart.
From Coq Require Import Arith.

Section Panels.
  Variable cf : settings.
  Variable ch : choices.
  Variable w : world.
  Variable delta : Q.
  Variable best : nat.
  Variable first_panel : list nat.

  Notation root := (opening cf first_panel).

  Hypothesis settings_proper : proper cf delta best.
  Hypothesis choices_fair : fair ch.

  Variable worth : state -> nat -> Q.
  Variable bias : state -> Q -> Q.
  Hypothesis best_is_best : forall st g, 0 <= worth st g <= worth st best.
  Hypothesis bias_nondecreasing :
    forall st x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias st x <= bias st y.

  Definition weighted (st : state) (x : nat -> Q) (g : nat) : Q := worth st g * bias st (x g).

  (* Means that stay the same for a round, whoever is compared under [may]. *)
  Lemma kept_with_steady_means (ch' : choices) (x : state -> nat -> Q) :
    fair ch' ->
    (forall nd, reachable (branches cf ch' w) root nd -> lawful cf ch' w nd) ->
    (forall nd, reachable (branches cf ch' w) root nd -> plan ch' (rule nd) <> None ->
       mean_score w nd == weighted (rule nd) (x (rule nd)) (next_group ch' w nd)) ->
    (forall st j s, leader st = Some j -> In s (stakes_of ch' st best) ->
       0 <= x st j /\ x st j <= x st best /\ x st best <= 1) ->
    forall n, ever (branches cf ch' w) (is_dropped best) n root <= delta.
  Proof.
    intros Hfair Hlawful Hmean Hseats.
    set (steady := fun nd => forall e, In e (answers nd) ->
      mean_of e == weighted (rule nd) (x (rule nd)) (group_of e) /\ mean_of e <= 1).
    assert (Harriving : forall nd y, reachable (branches cf ch' w) root nd -> plan ch' (rule nd) <> None ->
      let e := arriving ch' w nd y in
      mean_of e == weighted (rule nd) (x (rule nd)) (group_of e) /\ mean_of e <= 1).
    { intros nd y Hseen Hplan. simpl. unfold arriving, mean_of, group_of. simpl.
      split; [now apply Hmean | eapply mean_at_most_1; eauto]. }
    assert (Hsteady : forall nd, reachable (branches cf ch' w) root nd -> steady nd).
    { induction 1 as [| p nd next Hseen IH Hin]; [intros e [] |].
      apply (step_cases cf ch' w steady nd p next Hin).
      - intros st news e [].
      - intros arms m y news Hplan e [<- | He]; [| exact (IH e He)].
        assert (Hsome : plan ch' (rule nd) <> None) by (rewrite Hplan; discriminate).
        exact (Harriving nd y Hseen Hsome). }
    apply best_group_kept_if_not_behind; auto.
    intros nd j Hseen (Hm & Hl & Hne & Hbest & Hmany & s & Hs & _).
    set (st := rule nd) in *.
    destruct (Hseats st j s Hl Hs) as (H0 & Hle & H1).
    destruct (bias_nondecreasing st (x st j) (x st best) H0 Hle H1) as [Hb0 Hb1].
    destruct (best_is_best st j) as [Hw0 Hw1].
    set (v := weighted st (x st) best).
    assert (Hv : 0 <= v) by (unfold v, weighted; apply Qmult_le_0_compat; lra).
    assert (Hjv : weighted st (x st) j <= v).
    { unfold v, weighted. apply Qle_trans with (worth st best * bias st (x st j)); nra. }
    exists (fun _ => minimum 1 v). split.
    { intros _. split; [apply minimum_spec; lra | apply minimum_le]. }
    assert (Hplan : plan ch' st <> None).
    { unfold plan. rewrite Hm. destruct (length (active st) <=? 1)%nat eqn:E; [| discriminate].
      apply Nat.leb_le in E. lia. }
    assert (Hall : forall e, In e (arriving ch' w nd 0 :: answers nd) ->
      mean_of e == weighted st (x st) (group_of e) /\ mean_of e <= 1).
    { intros e [<- | He]; [exact (Harriving nd 0 Hseen Hplan) | exact (Hsteady nd Hseen e He)]. }
    revert Hall. generalize (arriving ch' w nd 0 :: answers nd). intros es Hall.
    induction es as [| e es IH]; [exact I |].
    destruct (Hall e (or_introl eq_refl)) as [He He1]. simpl. split; [| split].
    - apply IH. intros e' He'. apply Hall. simpl. auto.
    - intros Ej. rewrite Ej in He. apply minimum_spec; [assumption | rewrite He; assumption].
    - intros Ei. rewrite Ei in He. rewrite He. apply minimum_le.
  Qed.

  (* The share of a group of the panel; the panel may have judges without a group. *)
  Variable panel_size : state -> nat.
  Hypothesis panel_has_its_seats : forall st g,
    (0 < panel_size st)%nat /\ (seats_of st g <= panel_size st)%nat.

  Definition share_of_panel (st : state) (g : nat) : Q := Q_of (seats_of st g) / Q_of (panel_size st).

  (* M5, panels. *)
  Theorem best_group_kept_with_panels :
    (forall nd, reachable (branches cf (with_panels ch) w) root nd -> lawful cf (with_panels ch) w nd) ->
    (forall nd, reachable (branches cf (with_panels ch) w) root nd ->
       plan (with_panels ch) (rule nd) <> None ->
       let g := next_group (with_panels ch) w nd in
       mean_score w nd == worth (rule nd) g * bias (rule nd) (share_of_panel (rule nd) g)) ->
    forall n, ever (branches cf (with_panels ch) w) (is_dropped best) n root <= delta.
  Proof.
    intros Hlawful Hmean. apply (kept_with_steady_means (with_panels ch) share_of_panel); auto.
    intros st j s Hl Hs. simpl in Hs. rewrite Hl in Hs.
    destruct (seats_of st j <=? seats_of st best)%nat eqn:E; [| destruct Hs].
    apply Nat.leb_le in E. destruct (panel_has_its_seats st best) as [Hp1 Hp2].
    assert (Hj : (seats_of st j <= panel_size st)%nat) by apply panel_has_its_seats.
    unfold share_of_panel. split; [| split].
    - now apply share_in_unit.
    - apply ratio_le; auto. now apply Nat.mul_le_mono_r.
    - now apply share_in_unit.
  Qed.

  (* M5, recusal by equally strict judges, and outsiders alone: nobody has a share. *)
  Theorem best_group_kept_by_equally_strict_recusal :
    (forall nd, reachable (branches cf ch w) root nd -> lawful cf ch w nd) ->
    (forall nd, reachable (branches cf ch w) root nd -> plan ch (rule nd) <> None ->
       mean_score w nd == worth (rule nd) (next_group ch w nd) * bias (rule nd) 0) ->
    forall n, ever (branches cf ch w) (is_dropped best) n root <= delta.
  Proof.
    intros Hlawful Hmean. apply (kept_with_steady_means ch (fun _ _ => 0)); auto.
    intros. repeat split; lra.
  Qed.
End Panels.
