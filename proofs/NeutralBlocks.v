(* "One rater, of neither group, scores a candidate of each of two groups, and bets are placed on the
   difference. Whatever rule picks raters, order, leader and stakes from the past, the best group is
   ever dropped with probability at most delta. No bias is the same for all, no rater as strict as
   another, and scores within a block need not be independent" (Theorem 9).

   Assumed: given any past, the rater who was picked gives the best group a mean score at least that
   of the group that leads. *)

From AffinityBandits Require Import Trees.

Section Neutral.
  Variable best : nat.
  Variable delta : Q.
  Hypothesis delta_positive : 0 < delta.

  (* A block has one score per group; the past is the blocks so far with their raters. *)
  Definition block : Type := nat -> Q.
  Definition past : Type := list (nat * block).

  (* The rule, arbitrary functions of the past. *)
  Variable rater : past -> nat.
  Variable leader : past -> nat.
  Variable stakes : past -> list Q.
  Variable spread : past -> list Q -> list Q.

  (* The world: what a rater's block may be, given the past. *)
  Variable blocks : past -> nat -> list (Q * block).

  Definition total (wealth : list Q) : Q := fold_right Qplus 0 wealth.

  Hypothesis stakes_safe : forall h s, In s (stakes h) -> 0 <= s <= 9 # 10.
  Hypothesis spread_fair : forall h wealth, (forall w, In w wealth -> 0 <= w) ->
    (forall w, In w (spread h wealth) -> 0 <= w) /\ total (spread h wealth) <= total wealth.
  Hypothesis world_has_probabilities : forall h r, probabilities (blocks h r).
  Hypothesis scores_in_unit : forall h r p y, In (p, y) (blocks h r) -> forall g, 0 <= y g <= 1.
  (* Only for raters on whose scores bets are placed. *)
  Hypothesis rater_keeps_order : forall h, stakes h <> [] ->
    mean (fun y => y (leader h)) (blocks h (rater h)) <= mean (fun y => y best) (blocks h (rater h)).

  (* Each stake multiplies its wealth; wealth without a stake is cash. *)
  Fixpoint settle (d : Q) (wealth stakes : list Q) : list Q :=
    match wealth, stakes with
    | w :: ws, s :: ss => w * (1 + s * d) :: settle d ws ss
    | _, _ => wealth
    end.

  Definition node : Type := past * list Q.

  Definition next (n : node) (y : block) : node :=
    let (h, wealth) := n in
    let h' := (rater h, y) :: h in
    (h', spread h' (settle (y (leader h) - y best) wealth (stakes h))).

  Definition branches (n : node) : list (Q * node) :=
    map (fun b => (fst b, next n (snd b))) (blocks (fst n) (rater (fst n))).

  Definition dropped (n : node) : bool := Qle_bool (1 / delta) (total (snd n)).

  Lemma settle_positive d wealth ss :
    -1 <= d -> (forall s, In s ss -> 0 <= s <= 9 # 10) -> (forall w, In w wealth -> 0 <= w) ->
    forall w, In w (settle d wealth ss) -> 0 <= w.
  Proof.
    intros Hd. revert ss. induction wealth as [| v ws IH]; intros ss Hs Hw w Hin; simpl in Hin; [tauto |].
    destruct ss as [| s ss]; [apply Hw; assumption |].
    destruct Hin as [<- | Hin].
    - assert (0 <= v) by (apply Hw; simpl; auto).
      assert (0 <= s <= 9 # 10) by (apply Hs; simpl; auto).
      assert (0 <= 1 + s * d) by nra. nra.
    - apply (IH ss); [intros; apply Hs | intros; apply Hw |]; simpl; auto.
  Qed.

  Lemma settle_total (f : block -> Q) (l : list (Q * block)) wealth ss :
    probabilities l -> mean f l <= 0 ->
    (forall s, In s ss -> 0 <= s <= 9 # 10) -> (forall w, In w wealth -> 0 <= w) ->
    mean (fun y => total (settle (f y) wealth ss)) l <= total wealth.
  Proof.
    intros Hp Hf. revert ss. induction wealth as [| v ws IH]; intros ss Hs Hw; simpl.
    - rewrite mean_constant by assumption. lra.
    - destruct ss as [| s ss]; [rewrite mean_constant by assumption; simpl; lra |]. simpl.
      rewrite (mean_plus (fun y => v * (1 + s * f y)) (fun y => total (settle (f y) ws ss))).
      assert (mean (fun y => total (settle (f y) ws ss)) l <= total ws).
      { apply IH; [intros; apply Hs | intros; apply Hw]; simpl; auto. }
      assert (E : mean (fun y => v * (1 + s * f y)) l == v + v * s * mean f l).
      { transitivity (mean (fun y => v + v * s * f y) l).
        - apply mean_eq. intros; ring.
        - now rewrite mean_affine by assumption. }
      rewrite E. assert (0 <= v) by (apply Hw; simpl; auto).
      assert (0 <= s <= 9 # 10) by (apply Hs; simpl; auto). assert (0 <= v * s) by nra. nra.
  Qed.

  Theorem best_group_kept_in_neutral_blocks (prior : list Q) :
    (forall w, In w prior -> 0 <= w) -> total prior <= 1 ->
    forall n, ever branches dropped n ([], prior) <= delta.
  Proof.
    intros Hprior Hone.
    apply (ville_failure branches dropped (fun n => total (snd n))
             (fun n => forall w, In w (snd n) -> 0 <= w)); simpl; auto.
    - intros [h wealth] H. simpl in *. clear -H. induction wealth as [| w ws IH]; simpl; [lra |].
      assert (0 <= w) by (apply H; simpl; auto). assert (0 <= total ws) by (apply IH; intros; apply H; simpl; auto).
      lra.
    - intros n _ H. now apply Qle_bool_iff.
    - intros [h wealth] p n' H _ Hin. simpl in *. apply in_map_iff in Hin as ([q y] & E & Hin).
      simpl in *. injection E as <- <-. split; [eapply world_has_probabilities; eauto |]. simpl.
      apply spread_fair. apply settle_positive; [| apply stakes_safe | assumption].
      pose proof (scores_in_unit _ _ _ _ Hin (leader h)). pose proof (scores_in_unit _ _ _ _ Hin best). lra.
    - intros [h wealth] H _. unfold branches. simpl in *.
      rewrite (mean_map (fun n => total (snd n)) (next (h, wealth))). simpl.
      apply Qle_trans with
        (mean (fun y => total (settle (y (leader h) - y best) wealth (stakes h))) (blocks h (rater h))).
      + apply mean_le; [intros; eapply world_has_probabilities; eauto |].
        intros p y Hin. apply spread_fair. apply settle_positive; [| apply stakes_safe | assumption].
        pose proof (scores_in_unit _ _ _ _ Hin (leader h)). pose proof (scores_in_unit _ _ _ _ Hin best). lra.
      + assert (Hcases : stakes h = [] \/ stakes h <> [])
          by (destruct (stakes h); [left; reflexivity | right; discriminate]).
        destruct Hcases as [Enone | Hsome].
        { rewrite Enone. rewrite (mean_eq _ (fun _ => total wealth)).
          - rewrite mean_constant by auto. apply Qle_refl.
          - intros p y _. destruct wealth; reflexivity. }
        apply (settle_total (fun y => y (leader h) - y best)); auto; [| apply stakes_safe].
        specialize (rater_keeps_order h Hsome).
        assert (E : mean (fun y => y (leader h) - y best) (blocks h (rater h)) ==
                    mean (fun y => y (leader h)) (blocks h (rater h))
                    + (-1) * mean (fun y => y best) (blocks h (rater h))).
        { rewrite <- mean_scaled, <- mean_plus. apply mean_eq. intros; ring. }
        rewrite E. lra.
  Qed.
End Neutral.
