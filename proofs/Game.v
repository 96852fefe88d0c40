(* The experiment that a rule takes part in: an adversary who knows everything so far decides which
   open slot is scored next, and chance draws the score. *)

From AffinityBandits Require Import Trees Bets Rule.
From Coq Require Import Arith.

Record node : Type := Node {
  rule : state;
  slots : list nat;         (* of this round that have been scored, the last first *)
  answers : list answer;    (* their groups, scores and mean scores *)
  notes : list nat          (* whatever else chance has told so far *)
}.

Record world : Type := World {
  next_slot : node -> nat;
  outcomes : node -> list (Q * (Q * nat));     (* probability, score, note *)
  tells : list nat -> state -> list nat        (* before a round *)
}.

Section Game.
  Variable cf : settings.
  Variable ch : choices.
  Variable w : world.

  Definition next_group (nd : node) : nat :=
    match plan ch (rule nd) with
    | Some (arms, _) => nth (next_slot w nd mod length arms) arms 0%nat
    | None => 0%nat
    end.

  Definition mean_score (nd : node) : Q := mean fst (outcomes w nd).

  Definition arriving (nd : node) (y : Q) : answer := (next_group nd, y, mean_score nd).

  Definition scores_of (l : list answer) : list (nat * Q) := map (fun e => (group_of e, score_of e)) l.

  Definition step (nd : node) (outcome : Q * nat) : node :=
    match plan ch (rule nd) with
    | None => nd
    | Some (arms, m) =>
        let slots' := next_slot w nd :: slots nd in
        let answers' := arriving nd (fst outcome) :: answers nd in
        let notes' := snd outcome :: notes nd in
        if (length slots' =? length arms * m)%nat then
          let st := absorb cf ch (rule nd) (scores_of answers') in
          Node (prepare cf ch (tell st (tells w notes' st))) [] [] notes'
        else Node (rule nd) slots' answers' notes'
    end.

  Definition branches (nd : node) : list (Q * node) :=
    match plan ch (rule nd) with
    | None => []
    | Some _ => map (fun b => (fst b, step nd (snd b))) (outcomes w nd)
    end.

  Definition opening (first_told : list nat) : node := Node (start cf first_told) [] [] [].

  Definition is_dropped (i : nat) (nd : node) : bool := negb (among i (active (rule nd))).
End Game.

(* Each slot of a round is scored once, with a score in [0, 1]. *)
Definition lawful (cf : settings) (ch : choices) (w : world) (nd : node) : Prop :=
  probabilities (outcomes w nd)
  /\ (forall p y note, In (p, (y, note)) (outcomes w nd) -> 0 <= y <= 1)
  /\ forall arms m, plan ch (rule nd) = Some (arms, m) ->
       ~ In (next_slot w nd) (slots nd) /\ (next_slot w nd < length arms * m)%nat.

(* Wealth may be moved between stakes, but not increased. *)
Definition fair (ch : choices) : Prop :=
  forall st i ws, (forall x, In x ws -> 0 <= x) ->
    ((forall x, In x (returned ch st i ws) -> 0 <= x) /\ total (returned ch st i ws) <= total ws)
    /\ ((forall x, In x (restarted ch st i ws) -> 0 <= x) /\ total (restarted ch st i ws) <= total ws).

Definition proper (cf : settings) (delta : Q) (best : nat) : Prop :=
  0 < delta /\ threshold cf == 1 / delta /\ (best < groups cf)%nat
  /\ (forall x, In x (prior cf) -> 0 <= x) /\ total (prior cf) <= 1.
