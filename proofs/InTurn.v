(* "If choices are scored one after the other, the bias may also change from one pass to the next,
   even depending on past scores" (the remark after Theorem 1; the true means may do so, too). *)

From AffinityBandits Require Import Trees Bets Shares Rule Game BestGroupKept HeadStart.
From Coq Require Import Arith.

Section Told.
  Variable cf : settings.
  Variable initial : nat -> nat.

  (* The mean of each score is the true mean times the bias, as they are in its pass. *)
  Fixpoint told_in_turn (k : nat) (worth : nat -> nat -> Q) (bias : nat -> Q -> Q) (st : state)
    (l : list answer) : Prop :=
    match l with
    | [] => True
    | e :: earlier =>
        told_in_turn k worth bias st earlier
        /\ let g := group_of e in let c := (length earlier / k)%nat in
           mean_of e == worth c g * bias c (share cf initial st earlier g)
    end.

  Lemma told_in_turn_change k worth bias worth' bias' st l :
    (forall n, (n < length l)%nat ->
       (forall g, worth' (n / k)%nat g == worth (n / k)%nat g)
       /\ (forall x, bias' (n / k)%nat x == bias (n / k)%nat x)) ->
    told_in_turn k worth bias st l -> told_in_turn k worth' bias' st l.
  Proof.
    induction l as [| e l IH]; simpl; [auto |]. intros Hsame [Htold He]. split.
    - apply IH; [| assumption]. intros n Hn. apply Hsame. lia.
    - destruct (Hsame (length l) ltac:(lia)) as [Hw Hb]. rewrite Hw, Hb. assumption.
  Qed.

  (* In turn, the number of a group's scores is the number of the pass. *)
  Lemma told_in_turn_told_by arms worth bias st l es :
    NoDup arms -> in_window 1 l -> (0 < length arms)%nat ->
    map group_of es = map (fun x => nth (x mod length arms) arms 0%nat) l ->
    told_in_turn (length arms) worth bias st es -> told_by cf initial 0 worth bias st es.
  Proof.
    intros Harms Hwindow Hk. revert l Hwindow.
    induction es as [| e es IH]; intros l Hwindow Hmap Htold; [exact I |].
    destruct l as [| x l]; [discriminate |]. simpl in Hmap. injection Hmap as He Hmap.
    destruct Htold as [Htold Hmean]. split; [apply (IH l); [apply Hwindow | assumption | assumption] |].
    simpl in Hmean. cbv zeta. set (k := length arms) in *. set (p := (x mod k)%nat).
    assert (Hp : (p < k)%nat) by (apply Nat.mod_upper_bound; lia).
    assert (Hx : at_position k p x = true) by (unfold at_position; apply Nat.eqb_refl).
    assert (Hcount : count (group_of e) es = turns k p l)
      by (apply turns_are_counts; auto).
    pose proof (answers_before k 1 ltac:(lia) 0 0 ltac:(lia) ltac:(lia) p x l Hp Hwindow Hx) as H1.
    pose proof (answers_before_at_most k 1 ltac:(lia) 0 0 ltac:(lia) ltac:(lia) p x l Hp Hwindow Hx) as H2.
    unfold others_in_window in *. rewrite Nat.mul_0_r, !Nat.add_0_r in *.
    assert (Hlen : length es = length l).
    { rewrite <- (map_length group_of), Hmap, map_length. reflexivity. }
    assert (Hdiv : (length es / k = count (group_of e) es)%nat).
    { rewrite Hcount, Hlen. symmetry. apply (Nat.div_unique _ _ _ p); lia. }
    exists 0%nat, 0%nat. split; [lia |]. rewrite share_without, <- Hdiv. exact Hmean.
  Qed.
End Told.

Section InTurn.
  Variable cf : settings.
  Variable ch : choices.
  Variable w : world.
  Variable delta : Q.
  Variable best : nat.
  Variable first_told : list nat.
  Variable initial : nat -> nat.

  Notation root := (opening cf first_told).
  Notation tree := (branches cf ch w).
  Notation seen := (reachable tree root).

  Hypothesis settings_proper : proper cf delta best.
  Hypothesis with_head_start : head_start cf = true.
  Hypothesis choices_fair : fair ch.
  Hypothesis world_lawful : forall nd, seen nd -> lawful cf ch w nd.
  Hypothesis initial_members_as_stated : forall g, (g < groups cf)%nat ->
    (nth g (fewest cf) 0 <= initial g <= nth g (most cf) 0)%nat.
  Hypothesis in_turn : window cf = 1%nat /\
    forall nd, seen nd -> plan ch (rule nd) <> None -> in_window 1 (next_slot w nd :: slots nd).

  (* True means and bias may depend on everything so far, but stay the same within a pass. *)
  Variable worth : node -> nat -> Q.
  Variable bias : node -> Q -> Q.
  Hypothesis best_is_best : forall nd g, 0 <= worth nd g <= worth nd best.
  Hypothesis bias_nondecreasing :
    forall nd x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias nd x <= bias nd y.
  Hypothesis same_within_a_pass : forall nd p next arms m, seen nd -> In (p, next) (tree nd) ->
    plan ch (rule nd) = Some (arms, m) -> (length (slots next) mod length arms <> 0)%nat ->
    (forall g, worth next g == worth nd g) /\ (forall x, bias next x == bias nd x).
  Hypothesis mean_is_worth_times_bias : forall nd, seen nd -> plan ch (rule nd) <> None ->
    let g := next_group ch w nd in
    mean_score w nd == worth nd g * bias nd (share cf initial (rule nd) (answers nd) g).

  Definition told_so_far (nd : node) : Prop :=
    forall arms m, plan ch (rule nd) = Some (arms, m) ->
      exists worths biases,
        (forall c g, 0 <= worths c g <= worths c best)
        /\ (forall c x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= biases c x <= biases c y)
        /\ told_in_turn cf initial (length arms) worths biases (rule nd) (answers nd)
        /\ ((length (slots nd) mod length arms <> 0)%nat ->
            (forall g, worths (length (slots nd) / length arms)%nat g == worth nd g)
            /\ (forall x, biases (length (slots nd) / length arms)%nat x == bias nd x)).

  Lemma as_many_slots nd : seen nd -> length (answers nd) = length (slots nd).
  Proof.
    induction 1 as [| p nd next Hseen IH Hin]; [reflexivity |].
    apply (step_cases cf ch w (fun nd => length (answers nd) = length (slots nd)) nd p next Hin);
      simpl; auto.
  Qed.

  (* One more answer. *)
  Lemma told_with_next nd arms m y :
    seen nd -> plan ch (rule nd) = Some (arms, m) -> (0 < length arms)%nat -> told_so_far nd ->
    exists worths biases,
      (forall c g, 0 <= worths c g <= worths c best)
      /\ (forall c x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= biases c x <= biases c y)
      /\ told_in_turn cf initial (length arms) worths biases (rule nd)
                      (arriving ch w nd y :: answers nd)
      /\ (forall g, worths (length (slots nd) / length arms)%nat g == worth nd g)
      /\ (forall x, biases (length (slots nd) / length arms)%nat x == bias nd x).
  Proof.
    intros Hseen Hplan Hk Htold.
    destruct (Htold arms m Hplan) as (worths & biases & Hw & Hb & Hl & Hnow).
    set (c := (length (slots nd) / length arms)%nat) in *.
    exists (fun c' => if (c' =? c)%nat then worth nd else worths c'),
           (fun c' => if (c' =? c)%nat then bias nd else biases c').
    split; [| split; [| split; [| rewrite Nat.eqb_refl; split; reflexivity]]].
    - intros c' g. destruct (c' =? c)%nat; [apply best_is_best | apply Hw].
    - intros c' x z. destruct (c' =? c)%nat; [apply bias_nondecreasing | apply Hb].
    - simpl. split.
      + apply (told_in_turn_change cf initial _ worths biases); [| assumption].
        intros n Hn. rewrite (as_many_slots nd Hseen) in Hn.
        destruct (n / length arms =? c)%nat eqn:E; [| split; reflexivity].
        apply Nat.eqb_eq in E. rewrite E.
        assert (Hmod : (length (slots nd) mod length arms <> 0)%nat).
        { intros H0. unfold c in E.
          pose proof (Nat.div_mod (length (slots nd)) (length arms) ltac:(lia)) as Hd.
          pose proof (Nat.div_mod n (length arms) ltac:(lia)) as Hn'.
          rewrite H0 in Hd. rewrite E in Hn'. lia. }
        destruct (Hnow Hmod) as [H1 H2]. split; intros; [rewrite H1 | rewrite H2]; reflexivity.
      + rewrite (as_many_slots nd Hseen). fold c. rewrite Nat.eqb_refl.
        unfold arriving, mean_of, group_of. simpl. apply mean_is_worth_times_bias; [assumption |].
        rewrite Hplan. discriminate.
  Qed.

  Lemma seen_told_so_far nd : seen nd -> told_so_far nd.
  Proof.
    assert (Hnobody : forall st news, told_so_far (Node st [] [] news)).
    { intros st news arms m _. exists (fun _ => worth (Node st [] [] news)), (fun _ => bias (Node st [] [] news)).
      split; [intros; apply best_is_best |]. split; [intros c x y; apply bias_nondecreasing |].
      split; [exact I | intros _; split; reflexivity]. }
    induction 1 as [| p nd next Hseen IH Hin]; [apply Hnobody |].
    assert (Hsame := fun arms m => same_within_a_pass nd p next arms m Hseen Hin).
    unfold branches in Hin. destruct (plan ch (rule nd)) as [[arms m] |] eqn:Hplan; [| destruct Hin].
    apply in_map_iff in Hin as ([q [y note]] & Hstep & Ho). simpl in Hstep. injection Hstep as _ <-.
    unfold step in *. rewrite Hplan in *.
    destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat; [apply Hnobody |].
    intros arms' m' Hplan'. simpl in Hplan'. rewrite Hplan in Hplan'. injection Hplan' as <- <-.
    destruct (Nat.eq_dec (length arms) 0) as [Hzero | Hpos].
    { exfalso. destruct (world_lawful nd Hseen) as (_ & _ & Hslot).
      destruct (Hslot arms m Hplan) as [_ Hless]. rewrite Hzero in Hless. lia. }
    destruct (told_with_next nd arms m (fst (y, note)) Hseen Hplan ltac:(lia) IH)
      as (worths & biases & Hw & Hb & Hl & Hnow1 & Hnow2).
    exists worths, biases. split; [exact Hw | split; [exact Hb | split; [exact Hl |]]].
    intros Hmod. destruct (Hsame arms m eq_refl Hmod) as [H1 H2]. simpl length in *.
    assert (Hdiv : (S (length (slots nd)) / length arms = length (slots nd) / length arms)%nat).
    { set (n := length (slots nd)) in *.
      pose proof (Nat.div_mod n (length arms) Hpos) as Hd.
      pose proof (Nat.mod_upper_bound n (length arms) Hpos) as Hr.
      symmetry. apply (Nat.div_unique _ _ _ (S (n mod length arms))); [| lia].
      destruct (Nat.eq_dec (S (n mod length arms)) (length arms)) as [Hfull |]; [| lia].
      exfalso. apply Hmod.
      symmetry. apply (Nat.mod_unique _ _ (S (n / length arms))); [lia |].
      rewrite Nat.mul_succ_r. lia. }
    rewrite Hdiv. split; intros; [rewrite H1; apply Hnow1 | rewrite H2; apply Hnow2].
  Qed.

  Theorem best_group_kept_in_turn : forall n, ever tree (is_dropped best) n root <= delta.
  Proof.
    apply best_group_kept_if_not_behind; auto.
    intros nd j Hseen (Hm & Hl & Hne & Hbest & Hmany & _).
    destruct in_turn as [HD Hwindow].
    assert (Hordered : ordered cf (rule nd)) by (eapply seen_ordered; eauto).
    destruct Hordered as (Hnodup & Hgroups & Hleader & Horder).
    assert (Hplan : plan ch (rule nd) = Some (active (rule nd), Nat.max 1 (passes_of ch (rule nd)))).
    { unfold plan. rewrite Hm. destruct (length (active (rule nd)) <=? 1)%nat eqn:E; [| reflexivity].
      apply Nat.leb_le in E. lia. }
    assert (Hmatch : answers_match ch nd) by (apply (seen_match cf ch w first_told world_lawful); [rewrite HD; auto | assumption]).
    destruct (Hmatch _ _ Hplan) as [Hmap Hmeans].
    destruct (told_with_next nd _ _ 0 Hseen Hplan ltac:(lia) (seen_told_so_far nd Hseen))
      as (worths & biases & Hw & Hb & Htold & _).
    assert (Hsome : plan ch (rule nd) <> None) by (rewrite Hplan; discriminate).
    assert (Hmap' : map group_of (arriving ch w nd 0 :: answers nd)
      = map (fun x => nth (x mod length (active (rule nd))) (active (rule nd)) 0%nat) (next_slot w nd :: slots nd)).
    { simpl. rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl. now rewrite Hplan. }
    apply (round_in_order cf initial 0 (rule nd) worths biases j best (next_slot w nd :: slots nd)); auto.
    - rewrite HD. lia.
    - intros a Ha Hna. specialize (Horder j a Hl Hm Ha Hna).
      pose proof (initial_members_as_stated a (Hgroups a Ha)).
      pose proof (initial_members_as_stated j (Hgroups j (Hleader j Hl))).
      unfold needed, has, members_before in *. lia.
    - rewrite HD. now apply Hwindow.
    - apply (told_in_turn_told_by cf initial (active (rule nd)) worths biases (rule nd)
               (next_slot w nd :: slots nd)); auto. lia.
    - intros e [<- | He]; [| now apply Hmeans].
      unfold arriving, mean_of. simpl. apply (mean_at_most_1 cf ch w first_told world_lawful nd Hseen).
  Qed.
End InTurn.
