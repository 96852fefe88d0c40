(* "After shares are put in order, while k groups take turns, the share of the leader j at its l-th
   score is at most the share of any other group i at its l-th score, whatever the order of answers
   within a window of D" (Theorems 1 and 2, the part about shares).

   Slot x of a round belongs to the group at position x mod k. Slot x may be scored only if every
   slot y with y + D <= x has its score. *)

From Coq Require Import Arith List Lia ZArith Psatz.
Import ListNotations.

(* The arithmetic of Theorem 2 over the integers. *)
Lemma share_arithmetic (k a b g x_j x_i total c n_j n_i p_j p_i E : Z) :
  (2 <= k -> 0 <= a -> 0 <= b < k -> k * a + b + 2 <= 2 * g -> E = (k - 1) * a + b ->
   0 <= x_j -> 0 <= c -> 0 <= p_j < k -> 0 <= p_i < k ->
   x_j + g <= x_i -> k * x_j + (k - 1) * g <= total ->
   k * c + p_j <= n_j + E -> n_i <= k * c + p_i + E ->
   (x_j + c) * (total + n_i) <= (x_i + c) * (total + n_j))%Z.
Proof.
  intros Hk Ha Hb Hg HE Hxj Hc Hpj Hpi Hahead Htotal Hnj Hni.
  assert (H1 : (4 * b <= k * b + 2)%Z).
  { destruct (Z.le_gt_cases 4 k); [nia |]. assert (k = 2 \/ k = 3)%Z as [-> | ->] by lia; lia. }
  assert (H2 : (4 * (k - 1) <= k * k)%Z) by (pose proof (Z.square_nonneg (k - 2)); nia).
  assert (H3 : (4 * (k - 1) * a <= k * k * a)%Z) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (H4 : (k * (k * a + b + 2) <= k * (2 * g))%Z) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (HgE : (k - 1 + 2 * E <= g * k)%Z) by (subst E; lia).
  assert (H5 : ((k - 1) * (k * a + b + 2) <= (k - 1) * (2 * g))%Z)
    by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (H6 : (2 * ((k - 1) * a) <= k * ((k - 1) * a))%Z) by (apply Z.mul_le_mono_nonneg_r; nia).
  assert (HE1 : (E <= (k - 1) * g)%Z).
  { subst E. assert (b <= (k - 1) * b)%Z by nia.
    destruct (Z.eq_dec k 2) as [-> | Hne]; [lia |].
    assert (2 * b <= (k - 1) * b)%Z by nia. lia. }
  assert (Ht : (k * (x_j + c) <= total + n_j)%Z) by lia.
  assert (H7 : ((x_j + c) * (k - 1 + 2 * E) <= (x_j + c) * (g * k))%Z)
    by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (H8 : (g * (k * (x_j + c)) <= g * (total + n_j))%Z)
    by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (H9 : ((x_j + c) * (total + n_i) <= (x_j + c) * (total + n_j + (k - 1 + 2 * E)))%Z)
    by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (H10 : ((x_j + c + g) * (total + n_j) <= (x_i + c) * (total + n_j))%Z)
    by (apply Z.mul_le_mono_nonneg_r; lia).
  lia.
Qed.

Section Turns.
  Variable k : nat.
  Hypothesis k_positive : 1 <= k.

  Definition at_position (p x : nat) : bool := x mod k =? p.

  (* How many slots of the group at position p are in a list. *)
  Definition turns (p : nat) (slots : list nat) : nat := length (filter (at_position p) slots).

  Definition elsewhere (p : nat) (slots : list nat) : nat :=
    length (filter (fun x => negb (at_position p x)) slots).

  Lemma split_length p slots : length slots = turns p slots + elsewhere p slots.
  Proof.
    unfold turns, elsewhere. induction slots as [| x rest IH]; simpl; [reflexivity |].
    destruct (at_position p x); simpl; lia.
  Qed.

  Lemma slot_of p x : p < k -> at_position p x = true -> x = k * (x / k) + p.
  Proof.
    unfold at_position. intros Hp H. apply Nat.eqb_eq in H.
    rewrite (Nat.div_mod x k) at 1 by lia. lia.
  Qed.

  Lemma position_of p u : p < k -> at_position p (k * u + p) = true.
  Proof.
    unfold at_position. intros Hp. apply Nat.eqb_eq.
    rewrite Nat.add_comm, Nat.mul_comm, Nat.mod_add by lia. apply Nat.mod_small; lia.
  Qed.

  Lemma nodup_filter {A} (f : A -> bool) l : NoDup l -> NoDup (filter f l).
  Proof. apply NoDup_filter. Qed.

  Lemma nodup_map_on {A B} (f : A -> B) l :
    (forall x y, In x l -> In y l -> f x = f y -> x = y) -> NoDup l -> NoDup (map f l).
  Proof.
    induction l as [| x l IH]; simpl; intros Hf Hl; [constructor |].
    inversion Hl; subst. constructor.
    - intros Hin. apply in_map_iff in Hin as (y & Hy & Hin).
      assert (y = x) by (apply Hf; auto). subst. contradiction.
    - apply IH; auto.
  Qed.

  (* Different slots of one group below k v + p are at most v. *)
  Lemma few_turns p slots v :
    p < k -> NoDup slots -> (forall x, In x slots -> at_position p x = true -> x < k * v + p) ->
    turns p slots <= v.
  Proof.
    intros Hp Hnodup Hless. unfold turns.
    rewrite <- (map_length (fun x => x / k)), <- (seq_length v 0).
    apply NoDup_incl_length.
    - apply nodup_map_on; [| now apply nodup_filter].
      intros x y Hx Hy E. apply filter_In in Hx as [_ Hx]. apply filter_In in Hy as [_ Hy].
      rewrite (slot_of p x Hp Hx), (slot_of p y Hp Hy), E. reflexivity.
    - intros u Hu. apply in_map_iff in Hu as (x & <- & Hx). apply filter_In in Hx as [Hin Hx].
      specialize (Hless x Hin Hx). rewrite (slot_of p x Hp Hx) in Hless.
      apply in_seq. nia.
  Qed.

  (* If the slots p, k + p, ..., k (v - 1) + p are all there, they are at least v. *)
  Lemma many_turns p slots v :
    p < k -> (forall u, u < v -> In (k * u + p) slots) -> v <= turns p slots.
  Proof.
    intros Hp Hin. unfold turns.
    rewrite <- (seq_length v 0), <- (map_length (fun u => k * u + p)).
    apply NoDup_incl_length.
    - apply nodup_map_on; [| apply seq_NoDup]. intros x y _ _ E. nia.
    - intros x Hx. apply in_map_iff in Hx as (u & <- & Hu). apply in_seq in Hu.
      apply filter_In. split; [apply Hin; lia | now apply position_of].
  Qed.

  Lemma turns_below_few p n v : p < k -> n <= k * v + p -> turns p (seq 0 n) <= v.
  Proof.
    intros Hp Hn. apply few_turns; [assumption | apply seq_NoDup |].
    intros x Hx _. apply in_seq in Hx. lia.
  Qed.

  Lemma turns_below_many p n v : p < k -> k * v + p < n + k -> v <= turns p (seq 0 n).
  Proof.
    intros Hp Hn. apply many_turns; [assumption |]. intros u Hu. apply in_seq. nia.
  Qed.

End Turns.

Section Window.
  Variables k D : nat.
  Hypothesis k_positive : 1 <= k.

  (* Slots in the order in which they were scored, the last first; the middle condition is the window. *)
  Fixpoint in_window (slots : list nat) : Prop :=
    match slots with
    | [] => True
    | x :: earlier =>
        ~ In x earlier /\ (forall y, y + D <= x -> In y earlier) /\ in_window earlier
    end.

  Lemma in_window_nodup slots : in_window slots -> NoDup slots.
  Proof.
    induction slots as [| x rest IH]; intros H; constructor; destruct H as (? & _ & ?); auto.
  Qed.

  Lemma in_window_closed slots x y : in_window slots -> In x slots -> y + D <= x -> In y slots.
  Proof.
    induction slots as [| z rest IH]; simpl; [tauto |].
    intros (_ & Hclosed & Hrest) [-> | Hx] Hy; [right; auto | right; eauto].
  Qed.

  (* D = k a + b + 1. Of any D neighboring slots that begin or end with a slot of a given group,
     E = (k - 1) a + b are others'. *)
  Variables a b : nat.
  Hypothesis D_is : D = k * a + b + 1.
  Hypothesis b_small : b < k.
  Definition others_in_window : nat := (k - 1) * a + b.

  (* At least so many answers precede the next one of the group at position p. *)
  Lemma answers_before p x slots :
    p < k -> in_window (x :: slots) -> at_position k p x = true ->
    k * turns k p slots + p <= length slots + others_in_window.
  Proof.
    intros Hp Hwindow Hx. set (c := turns k p slots). set (X := k * c + p).
    assert (Hlast : exists x', In x' (x :: slots) /\ X <= x').
    { destruct (existsb (fun y => X <=? y) (x :: slots)) eqn:E.
      - apply existsb_exists in E as (y & Hy & Hle). apply Nat.leb_le in Hle. eauto.
      - exfalso. assert (turns k p (x :: slots) <= c).
        { apply (few_turns k k_positive); [assumption | now apply in_window_nodup |].
          intros y Hy _. destruct (Nat.lt_ge_cases y X) as [| Hge]; [assumption |].
          assert (existsb (fun y => X <=? y) (x :: slots) = true).
          { apply existsb_exists. exists y. split; [assumption | now apply Nat.leb_le]. }
          congruence. }
        unfold turns in H. simpl in H. rewrite Hx in H. simpl in H. fold (turns k p slots) in H.
        unfold c in H. lia. }
    destruct Hlast as (x' & Hx' & Hle).
    destruct Hwindow as (Hnew & Hclosed & Hrest).
    assert (Hall : forall y, y + D <= X -> In y slots).
    { intros y Hy. destruct Hx' as [<- | Hx'].
      - apply Hclosed. lia.
      - eapply in_window_closed; eauto. lia. }
    assert (Hothers : elsewhere k p (seq 0 (X + 1 - D)) <= elsewhere k p slots).
    { unfold elsewhere. apply NoDup_incl_length; [apply nodup_filter, seq_NoDup |].
      intros y Hy. apply filter_In in Hy as [Hy Hpos]. apply in_seq in Hy.
      apply filter_In. split; [apply Hall; lia | assumption]. }
    pose proof (split_length k k_positive p slots) as Hsplit. fold c in Hsplit.
    pose proof (split_length k k_positive p (seq 0 (X + 1 - D))) as Hseq. rewrite seq_length in Hseq.
    unfold others_in_window, X in *.
    destruct (Nat.le_gt_cases D (k * c + p + 1)) as [Hbig | Hsmall].
    - assert (Hac : a <= c) by nia.
      assert (turns k p (seq 0 (k * c + p + 1 - D)) <= c - a).
      { apply (turns_below_few k k_positive); [assumption |]. nia. }
      assert (D = k * a + b + 1) by assumption.
      assert (k * a = (k - 1) * a + a) by nia. lia.
    - (* fewer slots than the window *)
      assert (c <= a) by nia. assert (k * c = (k - 1) * c + c) by nia.
      destruct (Nat.eq_dec c a) as [-> | Hne]; [nia |].
      assert ((k - 1) * (c + 1) <= (k - 1) * a) by nia. nia.
  Qed.

  (* At most so many answers precede the next one of the group at position p. *)
  Lemma answers_before_at_most p x slots :
    p < k -> in_window (x :: slots) -> at_position k p x = true ->
    length slots <= k * turns k p slots + p + others_in_window.
  Proof.
    intros Hp Hwindow Hx. set (c := turns k p slots).
    assert (Hmissing : exists u, u <= c /\ ~ In (k * u + p) slots).
    { destruct (existsb (fun u => negb (existsb (Nat.eqb (k * u + p)) slots)) (seq 0 (c + 1))) eqn:E.
      - apply existsb_exists in E as (u & Hu & Hno). exists u. apply in_seq in Hu.
        split; [lia |]. intros Hin. apply Bool.negb_true_iff in Hno.
        assert (existsb (Nat.eqb (k * u + p)) slots = true).
        { apply existsb_exists. exists (k * u + p). split; [assumption | apply Nat.eqb_refl]. }
        congruence.
      - exfalso. assert (c + 1 <= turns k p slots); [| unfold c in *; lia].
        apply (many_turns k k_positive); [assumption |]. intros u Hu.
        destruct (existsb (Nat.eqb (k * u + p)) slots) eqn:E1.
        + apply existsb_exists in E1 as (y & Hy & Heq). apply Nat.eqb_eq in Heq. now subst.
        + assert (existsb (fun u => negb (existsb (Nat.eqb (k * u + p)) slots)) (seq 0 (c + 1)) = true).
          { apply existsb_exists. exists u. split; [apply in_seq; lia | now rewrite E1]. }
          congruence. }
    destruct Hmissing as (u & Hu & Hno).
    destruct Hwindow as (Hnew & Hclosed & Hrest).
    assert (Hbelow : forall y, In y slots -> y < k * c + p + D).
    { intros y Hy. destruct (Nat.lt_ge_cases y (k * c + p + D)) as [| Hge]; [assumption |].
      exfalso. apply Hno. eapply in_window_closed; eauto. nia. }
    assert (Hothers : elsewhere k p slots <= elsewhere k p (seq 0 (k * c + p + D))).
    { unfold elsewhere. apply NoDup_incl_length; [now apply nodup_filter, in_window_nodup |].
      intros y Hy. apply filter_In in Hy as [Hy Hpos]. apply filter_In.
      split; [apply in_seq; specialize (Hbelow y Hy); lia | assumption]. }
    pose proof (split_length k k_positive p slots) as Hsplit. fold c in Hsplit.
    pose proof (split_length k k_positive p (seq 0 (k * c + p + D))) as Hseq. rewrite seq_length in Hseq.
    assert (c + a + 1 <= turns k p (seq 0 (k * c + p + D))).
    { apply (turns_below_many k k_positive); [assumption |]. nia. }
    unfold others_in_window. assert (k * a = (k - 1) * a + a) by nia. lia.
  Qed.

  (* M2. Members of j and i are x_j and x_i before the round, and [total] is the committee. At its
     turn j has got c scores in the round, with n_j answers before it; i likewise. *)
  Theorem shares_in_order x_j x_i total c n_j n_i p_j p_i :
    2 <= k -> p_j < k -> p_i < k ->
    x_j + D / 2 + 1 <= x_i ->
    k * x_j + (k - 1) * (D / 2 + 1) <= total ->
    k * c + p_j <= n_j + others_in_window ->
    n_i <= k * c + p_i + others_in_window ->
    (x_j + c) * (total + n_i) <= (x_i + c) * (total + n_j).
  Proof.
    unfold others_in_window. intros Hk Hpj Hpi Hahead Htotal Hnj Hni.
    pose proof (Nat.div_mod D 2 ltac:(lia)) as Hdiv.
    pose proof (Nat.mod_upper_bound D 2 ltac:(lia)) as Hmod.
    apply Nat2Z.inj_le. rewrite !Nat2Z.inj_mul, !Nat2Z.inj_add.
    assert (Hk1 : Z.of_nat (k - 1) = (Z.of_nat k - 1)%Z) by lia.
    apply share_arithmetic with
      (k := Z.of_nat k) (a := Z.of_nat a) (b := Z.of_nat b) (g := Z.of_nat (D / 2 + 1))
      (p_j := Z.of_nat p_j) (p_i := Z.of_nat p_i) (E := Z.of_nat ((k - 1) * a + b));
      try rewrite Nat2Z.inj_add with (n := ((k - 1) * a)%nat), Nat2Z.inj_mul, Hk1; try nia.
  Qed.
End Window.

