(* "Under the null hypothesis of no favor, the wealth of bets on double differences ever reaches
   1/delta with probability at most delta, if scores do not influence who judges whom; or if there
   are two groups and one panel, which sees everybody one after the other, and scores influence only
   which group's candidate comes next" (the audit's theorem).

   Each stake depends on the double differences before it, and the wealth is never negative. *)

From AffinityBandits Require Import Trees.

Fixpoint sum (f : nat -> Q) (judges : nat) : Q :=
  match judges with
  | O => 0
  | S j => f j + sum f j
  end.

Lemma sum_ext f g n : (forall j, f j == g j) -> sum f n == sum g n.
Proof. intros H. induction n; simpl; [reflexivity | rewrite H, IHn; reflexivity]. Qed.

Lemma sum_plus f g n : sum (fun j => f j + g j) n == sum f n + sum g n.
Proof. induction n; simpl; [lra | rewrite IHn; lra]. Qed.

Lemma sum_scaled c f n : sum (fun j => c * f j) n == c * sum f n.
Proof. induction n; simpl; [lra | rewrite IHn; lra]. Qed.

Definition errors : Type := nat -> Q.

(* The double difference of two candidates c and d: weights of the judges who saw both. *)
Definition double_difference (weight : nat -> Q) (judges : nat) (c d : errors) : Q :=
  sum (fun j => weight j * (c j - d j)) judges.

(* Quality and strictness cancel, because the weights add up to 0. *)
Theorem quality_and_strictness_cancel weight judges quality_c quality_d strictness (c d : errors) :
  sum weight judges == 0 ->
  double_difference weight judges (fun j => quality_c + strictness j + c j)
                                  (fun j => quality_d + strictness j + d j)
  == double_difference weight judges c d.
Proof.
  intros H. unfold double_difference.
  rewrite (sum_ext _ (fun j => (quality_c - quality_d) * weight j + weight j * (c j - d j)))
    by (intros; ring).
  rewrite (sum_plus (fun j => (quality_c - quality_d) * weight j)), sum_scaled, H. ring.
Qed.

Lemma mean_swap {A B} (f : A -> B -> Q) (la : list (Q * A)) (lb : list (Q * B)) :
  mean (fun a => mean (f a) lb) la == mean (fun b => mean (fun a => f a b) la) lb.
Proof.
  induction la as [| [p a] la IH]; simpl.
  - symmetry. induction lb as [| [q b] lb IHb]; simpl; [reflexivity | rewrite IHb; lra].
  - rewrite IH, <- mean_scaled, <- mean_plus. reflexivity.
Qed.

Lemma mean_sum {A} (f : A -> nat -> Q) (l : list (Q * A)) n :
  mean (fun a => sum (f a) n) l == sum (fun j => mean (fun a => f a j) l) n.
Proof.
  induction n as [| n IH]; simpl.
  - induction l as [| [p a] l IHl]; simpl; [reflexivity | rewrite IHl; lra].
  - rewrite mean_plus, IH. reflexivity.
Qed.

Section Audit.
  Variable judges : nat.
  (* The k-th pair: its weights, and the laws of the errors of its candidates of both groups. *)
  Variable weight : nat -> nat -> Q.
  Variable law_1 law_2 : nat -> list (Q * errors).
  (* A judge's errors have the same mean for all candidates: nobody is favored. *)
  Variable usual : nat -> Q.
  Variable delta : Q.
  Variable stake : list Q -> Q.

  Hypothesis delta_positive : 0 < delta.
  Hypothesis laws : forall k, probabilities (law_1 k) /\ probabilities (law_2 k).
  Hypothesis no_favor : forall k j,
    mean (fun e => e j) (law_1 k) == usual j /\ mean (fun e => e j) (law_2 k) == usual j.

  Definition difference (k : nat) (a b : errors) : Q := double_difference (weight k) judges a b.

  Hypothesis never_all_is_lost : forall past p a q b,
    In (p, a) (law_1 (length past)) -> In (q, b) (law_2 (length past)) ->
    0 <= 1 + stake past * difference (length past) a b.

  (* Differences, the last first. *)
  Fixpoint wealth (past : list Q) : Q :=
    match past with
    | [] => 1
    | t :: before => wealth before * (1 + stake before * t)
    end.

  Definition reached (past : list Q) : bool := Qle_bool (1 / delta) (wealth past).

  Lemma difference_mean k :
    mean (fun a => mean (fun b => difference k a b) (law_2 k)) (law_1 k) == 0.
  Proof.
    destruct (laws k) as [H1 H2].
    assert (E : forall a, mean (fun b => difference k a b) (law_2 k)
                          == sum (fun j => weight k j * (a j - usual j)) judges).
    { intros a. unfold difference, double_difference. rewrite mean_sum. apply sum_ext. intros j.
      transitivity (mean (fun b : errors => weight k j * a j + (- weight k j) * b j) (law_2 k)).
      - apply mean_eq. intros; ring.
      - rewrite mean_affine by assumption. destruct (no_favor k j) as [_ Hu]. rewrite Hu. ring. }
    rewrite (mean_eq _ (fun a => sum (fun j => weight k j * (a j - usual j)) judges))
      by (intros; apply E).
    rewrite mean_sum. rewrite (sum_ext _ (fun j => 0 * weight k j)), sum_scaled; [ring |].
    intros j. transitivity (mean (fun a : errors => - (weight k j * usual j) + weight k j * a j) (law_1 k)).
    - apply mean_eq. intros; ring.
    - rewrite mean_affine by assumption. destruct (no_favor k j) as [Hu _]. rewrite Hu. ring.
  Qed.

  (* The probability that the wealth reaches 1/delta within n more pairs; of the next pairs the
     errors in [waiting_1] and [waiting_2] are known already. *)
  Fixpoint future (n : nat) (past : list Q) (waiting_1 waiting_2 : list errors) : Q :=
    if reached past then 1
    else match n with
         | O => 0
         | S m =>
             mean (fun a =>
                     mean (fun b => future m (difference (length past) a b :: past)
                                           (tl waiting_1) (tl waiting_2))
                          match waiting_2 with b :: _ => [(1, b)] | [] => law_2 (length past) end)
                  match waiting_1 with a :: _ => [(1, a)] | [] => law_1 (length past) end
         end.

  (* M7, first part: if who judges whom is fixed in advance, pairs come one after the other. *)
  Theorem bets_with_a_fixed_design : forall n past,
    0 <= wealth past -> 1 / delta * future n past [] [] <= wealth past.
  Proof.
    induction n as [| n IH]; intros past Hpos; simpl; destruct (reached past) eqn:E.
    - rewrite Qmult_1_r. now apply Qle_bool_iff.
    - rewrite Qmult_0_r. assumption.
    - rewrite Qmult_1_r. now apply Qle_bool_iff.
    - set (k := length past). destruct (laws k) as [H1 H2].
      rewrite <- mean_scaled.
      apply Qle_trans with (mean (fun a => mean (fun b =>
        wealth past + wealth past * stake past * difference k a b) (law_2 k)) (law_1 k)).
      + apply mean_le; [intros; eapply H1; eauto |]. intros p a Ha. rewrite <- mean_scaled.
        apply mean_le; [intros; eapply H2; eauto |]. intros q b Hb.
        pose proof (never_all_is_lost past p a q b Ha Hb) as Hsafe. fold k in Hsafe.
        eapply Qle_trans; [apply IH |]; simpl.
        * apply Qmult_le_0_compat; assumption.
        * rewrite Qmult_plus_distr_r, Qmult_1_r, Qmult_assoc. apply Qle_refl.
      + rewrite (mean_eq _ (fun a => wealth past + wealth past * stake past
                                     * mean (fun b => difference k a b) (law_2 k))).
        * rewrite mean_affine by assumption. rewrite (difference_mean k). lra.
        * intros p a _. now rewrite mean_affine by assumption.
  Qed.

  Lemma level_cancels x : 1 / delta * x <= 1 -> x <= delta.
  Proof.
    intros H. assert (E : delta * (1 / delta * x) == x) by (field; lra). rewrite <- E. nra.
  Qed.

  Corollary fixed_design_at_most_delta : forall n, future n [] [] [] <= delta.
  Proof. intros n. apply level_cancels. apply (bets_with_a_fixed_design n []). simpl. lra. Qed.

  Lemma future_positive : forall n past one two, 0 <= future n past one two.
  Proof.
    induction n as [| n IH]; intros past one two; simpl; destruct (reached past); try lra.
    assert (H : forall (A : Type) (f : A -> Q) l, (forall p a, In (p, a) l -> 0 <= p) ->
                  (forall a, 0 <= f a) -> 0 <= mean f l).
    { clear. intros A f l Hp Hf. induction l as [| [p a] l IHl]; simpl; [lra |].
      assert (0 <= p) by (apply (Hp p a); simpl; auto). assert (0 <= mean f l).
      { apply IHl. intros q b Hb. apply (Hp q b). simpl. auto. }
      specialize (Hf a). nra. }
    destruct (laws (length past)) as [[H1 _] [H2 _]].
    apply H.
    - destruct one; [exact H1 |]. intros p a [E | []]. injection E as <- _. lra.
    - intros a. apply H; [| intros; apply IH].
      destruct two; [exact H2 |]. intros p b [E | []]. injection E as <- _. lra.
  Qed.

  (* It does not matter whose next error is drawn first. *)
  Lemma draw_1 : forall n past one two, (length one < n)%nat ->
    future n past one two
    == mean (fun a => future n past (one ++ [a]) two) (law_1 (length past + length one)).
  Proof.
    induction n as [| n IH]; intros past one two Hlen; [lia |]. simpl.
    destruct (reached past) eqn:E; [symmetry; apply mean_constant, laws |].
    destruct one as [| x one]; simpl.
    - rewrite Nat.add_0_r. apply mean_eq. intros; ring.
    - rewrite (mean_eq (fun a => 1 * mean (fun b => future n (difference (length past) x b :: past)
                                            (one ++ [a]) (tl two)) _ + 0)
                       (fun a => mean (fun b => future n (difference (length past) x b :: past)
                                            (one ++ [a]) (tl two))
                                  match two with b :: _ => [(1, b)] | [] => law_2 (length past) end))
        by (intros; ring).
      rewrite mean_swap.
      setoid_replace (1 * mean (fun b => future n (difference (length past) x b :: past) one (tl two))
                            match two with b :: _ => [(1, b)] | [] => law_2 (length past) end + 0)
        with (mean (fun b => future n (difference (length past) x b :: past) one (tl two))
                            match two with b :: _ => [(1, b)] | [] => law_2 (length past) end) by ring.
      apply mean_eq. intros p b _. rewrite IH by (simpl in Hlen; lia). simpl.
      replace (length past + S (length one))%nat with (S (length past + length one)) by lia.
      reflexivity.
  Qed.

  Lemma draw_2 : forall n past one two, (length two < n)%nat ->
    future n past one two
    == mean (fun b => future n past one (two ++ [b])) (law_2 (length past + length two)).
  Proof.
    induction n as [| n IH]; intros past one two Hlen; [lia |]. simpl.
    destruct (reached past) eqn:E; [symmetry; apply mean_constant, laws |].
    destruct two as [| x two]; simpl.
    - rewrite Nat.add_0_r, mean_swap. apply mean_eq. intros p b _. apply mean_eq. intros; ring.
    - rewrite mean_swap. apply mean_eq. intros p a _.
      rewrite mean_plus, mean_scaled. rewrite IH by (simpl in Hlen; lia). simpl.
      replace (length past + S (length two))%nat with (S (length past + length two)) by lia.
      rewrite (mean_constant 0) by apply laws. reflexivity.
  Qed.

  (* Two groups and one panel; the rule knows everything so far and chooses the next group. *)
  Definition node : Type := list Q * list errors * list errors.
  Variable chooses_1 : node -> bool.

  (* The longest wait comes first. *)
  Definition meet (past : list Q) (one two : list errors) : node :=
    match one, two with
    | a :: one', b :: two' => (difference (length past) a b :: past, one', two')
    | _, _ => (past, one, two)
    end.

  Definition branches (n : node) : list (Q * node) :=
    let '(past, one, two) := n in
    if chooses_1 n
    then map (fun b => (fst b, meet past (one ++ [snd b]) two)) (law_1 (length past + length one))
    else map (fun b => (fst b, meet past one (two ++ [snd b]))) (law_2 (length past + length two)).

  Definition has_reached (n : node) : bool := reached (fst (fst n)).

  Lemma adaptive_at_most_future : forall steps n past one two,
    one = [] \/ two = [] -> (length one + steps <= n)%nat -> (length two + steps <= n)%nat ->
    ever branches has_reached steps (past, one, two) <= future n past one two.
  Proof.
    induction steps as [| steps IH]; intros n past one two Hempty H1 H2; cbn [ever];
      unfold has_reached at 1; simpl fst; destruct (reached past) eqn:E;
      try (destruct n; simpl; rewrite E; lra); [apply future_positive |].
    change (branches (past, one, two)) with
      (if chooses_1 (past, one, two)
       then map (fun b => (fst b, meet past (one ++ [snd b]) two)) (law_1 (length past + length one))
       else map (fun b => (fst b, meet past one (two ++ [snd b]))) (law_2 (length past + length two))).
    destruct (chooses_1 (past, one, two)).
    - rewrite (draw_1 n) by lia.
      rewrite (mean_map (ever branches has_reached steps) (fun a => meet past (one ++ [a]) two)). apply mean_le; [intros ? ? ?; eapply (proj1 (laws _)); eauto |].
      intros q a _. destruct two as [| b two].
      + replace (meet past (one ++ [a]) []) with (past, one ++ [a], @nil errors) by (destruct (one ++ [a]); reflexivity).
        apply IH; [auto | rewrite app_length; simpl; lia | simpl in *; lia].
      + destruct Hempty as [-> |]; [| discriminate]. simpl app. destruct n as [| n]; [simpl in *; lia |].
        simpl meet. simpl future. rewrite E. simpl mean. rewrite !Qmult_1_l, !Qplus_0_r.
        apply IH; [auto | simpl in *; lia | simpl in *; lia].
    - rewrite (draw_2 n) by lia.
      rewrite (mean_map (ever branches has_reached steps) (fun b => meet past one (two ++ [b]))). apply mean_le; [intros ? ? ?; eapply (proj2 (laws _)); eauto |].
      intros q b _. destruct one as [| a one].
      + simpl meet. apply IH; [auto | simpl in *; lia | rewrite app_length; simpl; lia].
      + destruct Hempty as [| ->]; [discriminate |]. simpl app. destruct n as [| n]; [simpl in *; lia |].
        simpl meet. simpl future. rewrite E. simpl mean. rewrite !Qmult_1_l, !Qplus_0_r.
        apply IH; [auto | simpl in *; lia | simpl in *; lia].
  Qed.

  (* M7, second part. *)
  Theorem bets_with_two_groups_and_one_panel : forall steps,
    ever branches has_reached steps ([], [], []) <= delta.
  Proof.
    intros steps. eapply Qle_trans; [| apply (fixed_design_at_most_delta steps)].
    apply adaptive_at_most_future; simpl; auto.
  Qed.
End Audit.
