(* "A wealth that starts at 1, is never negative and does not grow on average ever reaches
   1/delta with probability at most delta" (Ville's inequality), for finite adaptive experiments.

   An experiment is a tree: a node knows everything that has happened, and [branches] lists what
   may happen next, each with its rational probability. Cut after n steps, the tree is finite, so
   probabilities and means are finite sums. *)

From Coq Require Export QArith Qminmax List Lia Lqa Bool.
Export ListNotations.
Open Scope Q_scope.

Section Mean.
  Context {A : Type}.

  Fixpoint mean (f : A -> Q) (branches : list (Q * A)) : Q :=
    match branches with
    | [] => 0
    | (p, a) :: rest => p * f a + mean f rest
    end.

  (* Probabilities: none is negative, and they add up to 1. *)
  Definition probabilities (branches : list (Q * A)) : Prop :=
    (forall p a, In (p, a) branches -> 0 <= p) /\ mean (fun _ => 1) branches == 1.

  Lemma mean_le (f g : A -> Q) branches :
    (forall p a, In (p, a) branches -> 0 <= p) ->
    (forall p a, In (p, a) branches -> f a <= g a) -> mean f branches <= mean g branches.
  Proof.
    induction branches as [| [p a] rest IH]; simpl; intros Hp Hfg; [lra |].
    assert (0 <= p) by (apply (Hp p a); auto).
    assert (f a <= g a) by (apply (Hfg p a); auto).
    assert (mean f rest <= mean g rest) by (apply IH; intros; [eapply Hp | eapply Hfg]; eauto).
    nra.
  Qed.

  Lemma mean_eq (f g : A -> Q) branches :
    (forall p a, In (p, a) branches -> f a == g a) -> mean f branches == mean g branches.
  Proof.
    induction branches as [| [p a] rest IH]; simpl; intros Hfg; [lra |].
    rewrite (Hfg p a) by auto. rewrite IH; [lra |]. intros; eapply Hfg; eauto.
  Qed.

  Lemma mean_scaled (c : Q) (f : A -> Q) branches :
    mean (fun a => c * f a) branches == c * mean f branches.
  Proof. induction branches as [| [p a] rest IH]; simpl; [lra |]. rewrite IH. lra. Qed.

  Lemma mean_plus (f g : A -> Q) branches :
    mean (fun a => f a + g a) branches == mean f branches + mean g branches.
  Proof. induction branches as [| [p a] rest IH]; simpl; [lra |]. rewrite IH. lra. Qed.

  Lemma mean_constant (c : Q) branches :
    probabilities branches -> mean (fun _ => c) branches == c.
  Proof.
    intros [_ Hsum]. transitivity (c * mean (fun _ => 1) branches).
    - rewrite <- mean_scaled. apply mean_eq. intros; lra.
    - rewrite Hsum. lra.
  Qed.

  Lemma mean_affine (c d : Q) (f : A -> Q) branches :
    probabilities branches -> mean (fun a => c + d * f a) branches == c + d * mean f branches.
  Proof.
    intros H. rewrite (mean_plus (fun _ => c) (fun a => d * f a)).
    rewrite mean_constant by assumption. rewrite mean_scaled. lra.
  Qed.

  Lemma mean_within (low high : Q) (f : A -> Q) branches :
    probabilities branches -> (forall p a, In (p, a) branches -> low <= f a <= high) ->
    low <= mean f branches <= high.
  Proof.
    intros H Hf. split.
    - rewrite <- (mean_constant low branches) by assumption.
      apply mean_le; [apply H | intros; eapply Hf; eauto].
    - rewrite <- (mean_constant high branches) by assumption.
      apply mean_le; [apply H | intros; eapply Hf; eauto].
  Qed.
End Mean.

Lemma mean_map {A B : Type} (f : B -> Q) (g : A -> B) branches :
  mean f (map (fun b => (fst b, g (snd b))) branches) == mean (fun a => f (g a)) branches.
Proof. induction branches as [| [p a] rest IH]; simpl; [lra |]. rewrite IH. lra. Qed.

Section Tree.
  Context {Node : Type}.
  Variable branches : Node -> list (Q * Node).

  (* The probability that one of the first n steps from [node] leads to a node with [event]. *)
  Fixpoint ever (event : Node -> bool) (n : nat) (node : Node) : Q :=
    if event node then 1
    else match n with
         | O => 0
         | S m => mean (ever event m) (branches node)
         end.

  (* The mean of a payment after n steps, or where the tree ends before. *)
  Fixpoint after (payment : Node -> Q) (n : nat) (node : Node) : Q :=
    match n, branches node with
    | O, _ | _, [] => payment node
    | S m, _ => mean (after payment m) (branches node)
    end.

  Inductive reachable (root : Node) : Node -> Prop :=
  | reach_root : reachable root root
  | reach_step p node next :
      reachable root node -> In (p, next) (branches node) -> reachable root next.

  (* M1. [holds] is any property that the root has and that steps keep until the event. *)
  Theorem ville (event : Node -> bool) (wealth : Node -> Q) (holds : Node -> Prop) (level : Q) :
    0 <= level ->
    (forall node, holds node -> 0 <= wealth node) ->
    (forall node, holds node -> event node = true -> level <= wealth node) ->
    (forall node p next, holds node -> event node = false -> In (p, next) (branches node) ->
       0 <= p /\ holds next) ->
    (forall node, holds node -> event node = false ->
       mean wealth (branches node) <= wealth node) ->
    forall n root, holds root -> level * ever event n root <= wealth root.
  Proof.
    intros Hlevel Hpos Hevent Hkeep Hfair n.
    induction n as [| n IH]; intros root Hroot; simpl; destruct (event root) eqn:E.
    - rewrite Qmult_1_r. auto.
    - rewrite Qmult_0_r. auto.
    - rewrite Qmult_1_r. auto.
    - rewrite <- mean_scaled. apply Qle_trans with (mean wealth (branches root)).
      + apply mean_le.
        * intros p a Ha. eapply Hkeep; eauto.
        * intros p a Ha. apply IH. eapply Hkeep; eauto.
      + auto.
  Qed.

  (* The same with a probability of failure in place of a level. *)
  Corollary ville_failure (event : Node -> bool) (wealth : Node -> Q) (holds : Node -> Prop)
    (delta : Q) (root : Node) :
    0 < delta -> wealth root <= 1 ->
    (forall node, holds node -> 0 <= wealth node) ->
    (forall node, holds node -> event node = true -> 1 / delta <= wealth node) ->
    (forall node p next, holds node -> event node = false -> In (p, next) (branches node) ->
       0 <= p /\ holds next) ->
    (forall node, holds node -> event node = false ->
       mean wealth (branches node) <= wealth node) ->
    holds root -> forall n, ever event n root <= delta.
  Proof.
    intros Hdelta Hone Hpos Hevent Hkeep Hfair Hroot n.
    assert (Hinv : 0 <= 1 / delta).
    { apply Qle_shift_div_l; [assumption | lra]. }
    pose proof (ville event wealth holds (1 / delta) Hinv Hpos Hevent Hkeep Hfair n root Hroot) as H.
    assert (H1 : 1 / delta * ever event n root <= 1) by lra.
    assert (Heq : delta * (1 / delta * ever event n root) == ever event n root).
    { field. lra. }
    rewrite <- Heq. nra.
  Qed.
End Tree.
