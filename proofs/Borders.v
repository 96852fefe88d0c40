(* "Where the guarantees end": finite experiments in which everything is as the theorems assume but
   one thing, and in which a group as good as the best is dropped, or favor is "found", for certain.

   1. The bias changes while a round is open.
   2. People join whom the policy does not count.
   3. An audit of three groups in which scores influence which group comes next.

   Each is computed by the rule itself, over all paths of the experiment. *)

From AffinityBandits Require Import Trees Bets Shares Rule Game HeadStart.
From AffinityBandits Require AuditBets.
From Coq Require Import Arith.

(* Two groups, delta = 1/20, a few stakes. *)
Definition example (in_flight : nat) : settings :=
  Settings 2 true [1; 1]%nat [1; 1]%nat in_flight 20 [1 # 50; 49 # 100; 49 # 100].

Definition example_choices (in_flight : nat) : choices :=
  published (example in_flight) [0; 1 # 2; 1 # 4] [0; 0; 1 # 4] (inject_Z (3 ^ 100)).

(* A property of all nodes of the first n steps, checked by computing. *)
Fixpoint throughout {Node} (branches : Node -> list (Q * Node)) (check : Node -> bool) (n : nat)
  (node : Node) : bool :=
  check node
  && match n with
     | O => true
     | S m => forallb (fun b => throughout branches check m (snd b)) (branches node)
     end.

Fixpoint in_windowb (D : nat) (slots : list nat) : bool :=
  match slots with
  | [] => true
  | x :: earlier =>
      negb (existsb (Nat.eqb x) earlier)
      && forallb (fun y => (x <? y + D)%nat || existsb (Nat.eqb y) earlier) (seq 0 x)
      && in_windowb D earlier
  end.

Lemma in_windowb_correct D slots : (1 <= D)%nat -> in_windowb D slots = true -> in_window D slots.
Proof.
  intros HD. induction slots as [| x earlier IH]; simpl; [auto |]. intros H.
  apply andb_true_iff in H as [H Hrest]. apply andb_true_iff in H as [Hnew Hall].
  split; [| split; [| auto]].
  - intros Hin. apply negb_true_iff in Hnew.
    assert (existsb (Nat.eqb x) earlier = true) by (apply existsb_exists; exists x; split; [assumption | apply Nat.eqb_refl]).
    congruence.
  - intros y Hy. rewrite forallb_forall in Hall. specialize (Hall y ltac:(apply in_seq; lia)).
    apply orb_true_iff in Hall as [Hlt | Hin]; [apply Nat.ltb_lt in Hlt; lia |].
    apply existsb_exists in Hin as (z & Hz & Ez). apply Nat.eqb_eq in Ez. now subst.
Qed.

(* The first unscored slot of group g, or of any group once g has none left. *)
Definition first_of (ch : choices) (g : nat) (nd : node) : nat :=
  match plan ch (rule nd) with
  | Some (arms, m) =>
      let open := filter (fun x => negb (existsb (Nat.eqb x) (slots nd))) (seq 0 (length arms * m)) in
      match filter (fun x => nth (x mod length arms) arms 0 =? g)%nat open with
      | x :: _ => x
      | [] => hd 0%nat open
      end
  | None => 0%nat
  end.

(* A score that is certain, with the slots' order. *)
Definition certain (order : node -> nat) (score : node -> Q) : world :=
  World order (fun nd => [(1, (score nd, 0%nat))]) (fun _ _ => []).

(* Every slot is scored once, within the window, with the mean that is claimed. *)
Definition as_assumed (in_flight : nat) (w : world) (claimed : node -> Q) (nd : node) : bool :=
  let ch := example_choices in_flight in
  match plan ch (rule nd) with
  | Some (arms, m) =>
      in_windowb in_flight (next_slot w nd :: slots nd)
      && (next_slot w nd <? length arms * m)%nat
      && Qeq_bool (mean_score w nd) (claimed nd)
      && Qle_bool 0 (claimed nd) && Qle_bool (claimed nd) 1
  | None => true
  end.

(* 1. Raters are generous in the first half of each round and harsh in the second, alike to both
   groups. Both groups are equally good, and f does not even depend on the share. An adversary lets
   group 0's slots be scored first, within a window of 60. *)
Definition mood (nd : node) : Q :=
  match plan (example_choices 60) (rule nd) with
  | Some (arms, m) => if (length (slots nd) <? m)%nat then 1 else 0
  | None => 0
  end.

Definition moody_world : world := certain (first_of (example_choices 60) 0) mood.

Theorem bias_that_changes_within_a_round :
  let tree := branches (example 60) (example_choices 60) moody_world in
  throughout tree (as_assumed 60 moody_world mood) 200 (opening (example 60) []) = true
  /\ ever tree (is_dropped 1) 200 (opening (example 60) []) == 1.
Proof. vm_compute. split; reflexivity. Qed.

(* 2. f is 1 for more than half of the committee, else 0, and choices are scored in turn. After the
   first round 100 people of group 0 join whom the policy does not count. *)
Definition uncounted (nd : node) : nat := if (passes (rule nd) =? 0)%nat then 0%nat else 100%nat.

Definition share_with_uncounted (nd : node) (g : nat) : Q :=
  let own := (1 + pulls_of (rule nd) g + count g (answers nd) + (if (g =? 0)%nat then uncounted nd else 0))%nat in
  Q_of own / Q_of (2 + pulls_of (rule nd) 0 + pulls_of (rule nd) 1 + length (answers nd) + uncounted nd).

Definition majority (x : Q) : Q := if Qle_bool x (1 # 2) then 0 else 1.

Lemma majority_nondecreasing x y : x <= y -> 0 <= majority x <= majority y.
Proof.
  unfold majority. intros H. destruct (Qle_bool x (1 # 2)) eqn:Ex, (Qle_bool y (1 # 2)) eqn:Ey; try lra.
  apply Qle_bool_iff in Ey. assert (Hx : x <= 1 # 2) by lra. apply Qle_bool_iff in Hx. congruence.
Qed.

Definition fallback_mean (nd : node) : Q :=
  majority (share_with_uncounted nd (next_group (example_choices 1)
              (certain (fun nd => length (slots nd)) (fun _ => 0)) nd)).

Definition fallback_world : world := certain (fun nd => length (slots nd)) fallback_mean.

Theorem people_who_are_not_counted :
  let tree := branches (example 1) (example_choices 1) fallback_world in
  throughout tree (as_assumed 1 fallback_world fallback_mean) 80 (opening (example 1) []) = true
  /\ ever tree (is_dropped 1) 80 (opening (example 1) []) == 1.
Proof. vm_compute. split; reflexivity. Qed.

(* 3. One panel with a judge of each of three groups, and nobody is favored: every error has the
   mean 0. Two judges disagree about candidates of group 0. A rule that has seen the scores of such a
   candidate picks the next group, and so which judges' weights count. *)
Module ThreeGroups.
  Import AuditBets.

  Definition law (g : nat) : list (Q * errors) :=
    let disagreeing (e : Q) : errors := fun j => match j with 1%nat => e | 2%nat => - e | _ => 0 end in
    match g with
    | O => [(1 # 2, disagreeing (1 # 2)); (1 # 2, disagreeing (- (1 # 2)))]
    | _ => [(1, fun _ => 0)]
    end.

  (* The weights of two candidates' own judges: plus 1 for c's, minus 1 for d's. *)
  Definition weight (c d j : nat) : Q :=
    if (j =? c)%nat then 1 else if (j =? d)%nat then -1 else 0.

  (* Double differences so far, and the group and errors of a candidate who waits. *)
  Definition node : Type := list Q * option (nat * errors).

  Definition chosen (n : node) : nat :=
    match snd n with
    | None => 0%nat
    | Some (_, e) => if Qle_bool (e 1%nat) 0 then 1%nat else 2%nat
    end.

  Definition meet (n : node) (g : nat) (e : errors) : node :=
    match n with
    | (past, None) => (past, Some (g, e))
    | (past, Some (h, d)) => (double_difference (weight h g) 3 d e :: past, None)
    end.

  Definition branches (n : node) : list (Q * node) :=
    map (fun b => (fst b, meet n (chosen n) (snd b))) (law (chosen n)).

  Definition has_reached (n : node) : bool := reached (1 # 20) (fun _ => 1) (fst n).

  Lemma nobody_is_favored g j : probabilities (law g) /\ mean (fun e => e j) (law g) == 0.
  Proof.
    split.
    - split; [| destruct g; reflexivity]. intros p a Hin. destruct g; simpl in Hin.
      + destruct Hin as [E | [E | []]]; injection E as <- _; discriminate.
      + destruct Hin as [E | []]; injection E as <- _; discriminate.
    - destruct g; [| simpl; ring]. destruct j as [| [| [| j]]]; reflexivity.
  Qed.

  Theorem three_groups_whose_order_scores_influence :
    ever branches has_reached 16 ([], None) == 1.
  Proof. vm_compute. reflexivity. Qed.
End ThreeGroups.
