(* "A pair of bets with a common center, on the leader's score and against the best group's, has a
   mean of at most 1 if the leader's mean score is at most the best group's. Where means depend on
   earlier answers, divide each factor by its conditional expectation" (the proof of Theorem 1). *)

From AffinityBandits Require Import Trees.
From Coq Require Import Arith.

(* At most 0.9 of the wealth can be lost on one score. *)
Definition safe (stake center : Q) : Prop :=
  0 <= stake /\ stake * center <= 9 # 10 /\ stake * (1 - center) <= 9 # 10.

Definition win (stake center score : Q) : Q := 1 + stake * (score - center).
Definition lose (stake center score : Q) : Q := 1 - stake * (score - center).

Lemma win_positive stake center y : safe stake center -> 0 <= y <= 1 -> 1 # 10 <= win stake center y.
Proof. unfold safe, win. intros (H1 & H2 & H3) Hy. nra. Qed.

Lemma lose_positive stake center y : safe stake center -> 0 <= y <= 1 -> 1 # 10 <= lose stake center y.
Proof. unfold safe, lose. intros (H1 & H2 & H3) Hy. nra. Qed.

(* M3, one pair. *)
Theorem pair_at_most_1 stake center p_j p_i :
  safe stake center -> 0 <= p_j <= p_i -> p_i <= 1 ->
  win stake center p_j * lose stake center p_i <= 1.
Proof.
  intros Hsafe Hj Hi.
  pose proof (lose_positive stake center p_i Hsafe ltac:(lra)) as Hl.
  assert (Hw : win stake center p_j <= win stake center p_i) by (unfold win; destruct Hsafe; nra).
  apply Qle_trans with (win stake center p_i * lose stake center p_i); [nra |].
  unfold win, lose. pose proof (Qle_refl 0).
  assert (0 <= (stake * (p_i - center)) * (stake * (p_i - center))).
  { destruct (Qlt_le_dec (stake * (p_i - center)) 0); nra. }
  nra.
Qed.

(* A pair of scores that are drawn one after the other: the mean of the product of both factors. *)
Theorem pair_of_scores stake center (first : list (Q * Q)) (second : Q -> list (Q * Q)) p_j p_i :
  safe stake center -> probabilities first ->
  (forall p y, In (p, y) first -> probabilities (second y) /\ 0 <= y <= 1) ->
  mean (fun y => y) first == p_j -> (forall p y, In (p, y) first -> mean (fun z => z) (second y) == p_i) ->
  0 <= p_j <= p_i -> p_i <= 1 ->
  mean (fun y => win stake center y * mean (lose stake center) (second y)) first <= 1.
Proof.
  intros Hsafe H1 H2 Hj Hi Hle Hone.
  assert (E : mean (fun y => win stake center y * mean (lose stake center) (second y)) first
              == lose stake center p_i * win stake center p_j).
  { transitivity (lose stake center p_i * mean (win stake center) first).
    - rewrite <- mean_scaled. apply mean_eq. intros p y Hy.
      assert (Hlose : mean (lose stake center) (second y) == lose stake center p_i).
      { transitivity (mean (fun z => (1 + stake * center) + (- stake) * z) (second y)).
        - apply mean_eq. intros; unfold lose; ring.
        - rewrite mean_affine by (eapply H2; eauto). rewrite (Hi p y Hy). unfold lose. ring. }
      rewrite Hlose. ring.
    - assert (Hwin : mean (win stake center) first == win stake center p_j).
      { transitivity (mean (fun z => (1 - stake * center) + stake * z) first).
        - apply mean_eq. intros; unfold win; ring.
        - rewrite mean_affine by assumption. rewrite Hj. unfold win. ring. }
      rewrite Hwin. ring. }
  rewrite E. pose proof (pair_at_most_1 stake center p_j p_i Hsafe Hle Hone). lra.
Qed.

(* M3, products whose means depend on earlier answers. *)
Section Divide.
  Context {Node : Type}.
  Variable branches : Node -> list (Q * Node).
  Variable factor : Node -> Node -> Q.

  Definition expectation (node : Node) : Q := mean (factor node) (branches node).

  Fixpoint mean_product (n : nat) (node : Node) : Q :=
    match n with
    | O => 1
    | S m => mean (fun next => factor node next * mean_product m next) (branches node)
    end.

  (* Along every path of n steps the conditional expectations multiply to at most 1/so_far. *)
  Fixpoint expectations_at_most_1 (n : nat) (so_far : Q) (node : Node) : Prop :=
    match n with
    | O => so_far <= 1
    | S m => forall p next, In (p, next) (branches node) ->
               expectations_at_most_1 m (so_far * expectation node) next
    end.

  Theorem divide_by_expectation :
    (forall node, probabilities (branches node)) ->
    (forall node p next, In (p, next) (branches node) -> 0 <= factor node next) ->
    (forall node, 0 < expectation node) ->
    forall n so_far node, 0 < so_far -> expectations_at_most_1 n so_far node ->
    so_far * mean_product n node <= 1.
  Proof.
    intros Hprob Hpos Hexp n. induction n as [| n IH]; intros so_far node Hso Hall; simpl in *; [lra |].
    assert (Hnew : 0 < so_far * expectation node) by (specialize (Hexp node); nra).
    assert (H : mean (fun next => factor node next * mean_product n next) (branches node)
                <= mean (fun next => / (so_far * expectation node) * factor node next) (branches node)).
    { apply mean_le; [intros; eapply Hprob; eauto |]. intros p next Hin.
      specialize (IH _ next Hnew (Hall p next Hin)). specialize (Hpos node p next Hin).
      assert (Hle : mean_product n next <= / (so_far * expectation node)).
      { clear - IH Hnew. set (x := so_far * expectation node) in *. clearbody x.
        assert (E : / x == 1 / x) by (field; lra). rewrite E.
        apply Qle_shift_div_l; [assumption | lra]. }
      nra. }
    rewrite mean_scaled in H. fold (expectation node) in H.
    assert (E : / (so_far * expectation node) * expectation node == / so_far).
    { specialize (Hexp node). field. split; lra. }
    rewrite E in H. assert (so_far * / so_far == 1) by (field; lra).
    assert (0 <= so_far) by lra. nra.
  Qed.
End Divide.

(* A round: groups, scores and mean scores given the past, the last first. *)
Definition answer : Type := nat * Q * Q.
Definition group_of (e : answer) : nat := fst (fst e).
Definition score_of (e : answer) : Q := snd (fst e).
Definition mean_of (e : answer) : Q := snd e.

Definition count (g : nat) (answers : list answer) : nat :=
  length (filter (fun e => group_of e =? g)%nat answers).

(* What a score multiplies the wealth by, in a bet on j against i. *)
Definition factor (stake center : Q) (j i g : nat) (y : Q) : Q :=
  if (g =? j)%nat then win stake center y
  else if (g =? i)%nat then lose stake center y
  else 1.

Fixpoint product {A} (f : A -> Q) (l : list A) : Q :=
  match l with
  | [] => 1
  | a :: rest => f a * product f rest
  end.

(* There is a number between the means of the l-th scores of j and of i, for every l. *)
Fixpoint lies_between (level : nat -> Q) (j i : nat) (answers : list answer) : Prop :=
  match answers with
  | [] => True
  | e :: earlier =>
      lies_between level j i earlier
      /\ (group_of e = j -> mean_of e <= level (count j earlier))
      /\ (group_of e = i -> level (count i earlier) <= mean_of e)
  end.

Fixpoint up_to (f : nat -> Q) (n : nat) : Q :=
  match n with
  | O => 1
  | S m => f m * up_to f m
  end.

Lemma up_to_positive f n : (forall l, 0 < f l) -> 0 < up_to f n.
Proof. intros H. induction n; simpl; [lra |]. specialize (H n). nra. Qed.

Lemma pairs_at_most_1 stake center level n :
  safe stake center -> (forall l, 0 <= level l <= 1) ->
  up_to (fun l => win stake center (level l)) n * up_to (fun l => lose stake center (level l)) n <= 1.
Proof.
  intros Hsafe Hlevel. induction n as [| n IH]; simpl; [lra |].
  pose proof (pair_at_most_1 stake center (level n) (level n) Hsafe) as Hpair.
  specialize (Hlevel n) as Hn. specialize (Hpair ltac:(lra) ltac:(lra)).
  pose proof (win_positive stake center (level n) Hsafe Hn).
  pose proof (lose_positive stake center (level n) Hsafe Hn).
  set (W := up_to (fun l => win stake center (level l)) n) in *.
  set (L := up_to (fun l => lose stake center (level l)) n) in *.
  assert (0 < W).
  { apply up_to_positive. intros l. pose proof (win_positive stake center _ Hsafe (Hlevel l)). lra. }
  assert (0 < L).
  { apply up_to_positive. intros l. pose proof (lose_positive stake center _ Hsafe (Hlevel l)). lra. }
  set (w := win stake center (level n)) in *. set (l := lose stake center (level n)) in *.
  assert (0 <= W * L) by nra.
  setoid_replace (w * W * (l * L)) with ((w * l) * (W * L)) by ring. nra.
Qed.

Lemma factor_positive stake center j i g y :
  safe stake center -> 0 <= y <= 1 -> 1 # 10 <= factor stake center j i g y.
Proof.
  intros. unfold factor. destruct (g =? j)%nat; [now apply win_positive |].
  destruct (g =? i)%nat; [now apply lose_positive | lra].
Qed.

Lemma product_positive {A} (f : A -> Q) l : (forall a, In a l -> 0 < f a) -> 0 < product f l.
Proof.
  induction l as [| a l IH]; simpl; intros H; [lra |].
  assert (0 < f a) by auto. assert (0 < product f l) by auto. nra.
Qed.

Definition mean_factor stake center j i (e : answer) : Q := factor stake center j i (group_of e) (mean_of e).
Definition score_factor stake center j i (e : answer) : Q := factor stake center j i (group_of e) (score_of e).

(* Conditional expectations of a whole round multiply to at most 1. *)
Lemma expectations_of_round stake center level j i answers :
  safe stake center -> j <> i -> (forall l, 0 <= level l <= 1) ->
  (forall e, In e answers -> 0 <= mean_of e <= 1) ->
  lies_between level j i answers ->
  product (mean_factor stake center j i) answers
    <= up_to (fun l => win stake center (level l)) (count j answers)
       * up_to (fun l => lose stake center (level l)) (count i answers).
Proof.
  intros Hsafe Hji Hlevel Hmeans. induction answers as [| e earlier IH]; simpl; [intros; lra |].
  intros (Hearlier & Hj & Hi).
  assert (IH' := IH ltac:(intros; apply Hmeans; simpl; auto) Hearlier). clear IH.
  specialize (Hmeans e (or_introl eq_refl)) as He.
  assert (0 < product (mean_factor stake center j i) earlier).
  { apply product_positive. intros a Ha. unfold mean_factor.
    pose proof (factor_positive stake center j i (group_of a) (mean_of a) Hsafe
                  (Hmeans a (or_intror Ha))). lra. }
  unfold count, mean_factor at 1, factor. simpl.
  fold (count j earlier) (count i earlier).
  set (P := product (mean_factor stake center j i) earlier) in *.
  assert (HW : forall n, 0 < up_to (fun l => win stake center (level l)) n).
  { intros; apply up_to_positive. intros l. pose proof (win_positive stake center _ Hsafe (Hlevel l)). lra. }
  assert (HL : forall n, 0 < up_to (fun l => lose stake center (level l)) n).
  { intros; apply up_to_positive. intros l. pose proof (lose_positive stake center _ Hsafe (Hlevel l)). lra. }
  destruct (group_of e =? j)%nat eqn:Ej; [| destruct (group_of e =? i)%nat eqn:Ei].
  - apply Nat.eqb_eq in Ej. destruct (group_of e =? i)%nat eqn:Ei.
    { apply Nat.eqb_eq in Ei. congruence. }
    simpl. fold (count j earlier). fold (count i earlier).
    specialize (Hj Ej). specialize (HW (count j earlier)). specialize (HL (count i earlier)).
    assert (Hm : win stake center (mean_of e) <= win stake center (level (count j earlier))).
    { unfold win. destruct Hsafe. nra. }
    pose proof (win_positive stake center (mean_of e) Hsafe He).
    set (W := up_to (fun l => win stake center (level l)) (count j earlier)) in *.
    set (L := up_to (fun l => lose stake center (level l)) (count i earlier)) in *.
    set (w := win stake center (level (count j earlier))) in *.
    apply Qle_trans with (w * P); [nra |].
    setoid_replace (w * W * L) with (w * (W * L)) by ring. nra.
  - apply Nat.eqb_eq in Ei. simpl. fold (count j earlier). fold (count i earlier).
    specialize (Hi Ei). specialize (HW (count j earlier)). specialize (HL (count i earlier)).
    assert (Hm : lose stake center (mean_of e) <= lose stake center (level (count i earlier))).
    { unfold lose. destruct Hsafe. nra. }
    pose proof (lose_positive stake center (mean_of e) Hsafe He).
    set (W := up_to (fun l => win stake center (level l)) (count j earlier)) in *.
    set (L := up_to (fun l => lose stake center (level l)) (count i earlier)) in *.
    set (w := lose stake center (level (count i earlier))) in *.
    apply Qle_trans with (w * P); [nra |].
    setoid_replace (W * (w * L)) with (w * (W * L)) by ring. nra.
  - fold (count j earlier). fold (count i earlier). lra.
Qed.

(* Hence scores win at most what they win after each was divided by its expectation. *)
Theorem round_at_most_its_ratios stake center level j i answers :
  safe stake center -> j <> i -> (forall l, 0 <= level l <= 1) ->
  (forall e, In e answers -> 0 <= mean_of e <= 1) ->
  lies_between level j i answers -> count j answers = count i answers ->
  product (mean_factor stake center j i) answers <= 1.
Proof.
  intros Hsafe Hji Hlevel Hmeans Hbetween Hcount.
  pose proof (expectations_of_round stake center level j i answers Hsafe Hji Hlevel Hmeans Hbetween) as H.
  rewrite Hcount in H.
  pose proof (pairs_at_most_1 stake center level (count i answers) Hsafe Hlevel). lra.
Qed.
