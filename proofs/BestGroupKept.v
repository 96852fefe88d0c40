(* "The best group is ever dropped with probability at most delta" (Theorem 1): one wealth per
   group, changes of leader, rounds that put shares in order, wealth spread over stakes by any rule
   that uses the past only, rounds of any number of passes.

   Here is the part of the proof that does not speak of shares: it is enough that in every round in
   which bets are placed against the best group, some number lies between the mean of the leader's
   l-th score and that of the best group's, for every l. *)

From AffinityBandits Require Import Trees Bets Shares Rule Game.
From Coq Require Import Arith.

#[global] Arguments Qred : simpl never.

Lemma nth_tabulate {A} n (f : nat -> A) i d : (i < n)%nat -> nth i (tabulate n f) d = f i.
Proof.
  intros H. unfold tabulate. rewrite (nth_indep _ d (f 0%nat)) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by lia. reflexivity.
Qed.

Lemma among_In a l : among a l = true <-> In a l.
Proof.
  unfold among. rewrite existsb_exists. split.
  - intros (x & Hx & E). apply Nat.eqb_eq in E. now subst.
  - intros H. exists a. split; [assumption | apply Nat.eqb_refl].
Qed.

Lemma total_cons x ws : total (x :: ws) == x + total ws.
Proof. unfold total. simpl. now rewrite Qred_correct. Qed.

Lemma total_positive ws : (forall x, In x ws -> 0 <= x) -> 0 <= total ws.
Proof.
  induction ws as [| x ws IH]; intros H; [simpl; lra |]. rewrite total_cons.
  assert (0 <= x) by (apply H; simpl; auto). assert (0 <= total ws) by (apply IH; intros; apply H; simpl; auto).
  lra.
Qed.

Lemma settle_positive f ws ss :
  (forall s, In s ss -> 0 <= f s) -> (forall x, In x ws -> 0 <= x) ->
  forall x, In x (settle f ws ss) -> 0 <= x.
Proof.
  revert ss. induction ws as [| v ws IH]; intros ss Hf Hw x Hin; simpl in Hin; [tauto |].
  destruct ss as [| s ss]; [now apply Hw |]. destruct Hin as [<- | Hin].
  - rewrite Qred_correct. assert (0 <= v) by (apply Hw; simpl; auto).
    assert (0 <= f s) by (apply Hf; simpl; auto). nra.
  - apply (IH ss); [intros; apply Hf | intros; apply Hw |]; simpl; auto.
Qed.

Lemma settle_le f g ws ss :
  (forall s, In s ss -> f s <= g s) -> (forall x, In x ws -> 0 <= x) ->
  total (settle f ws ss) <= total (settle g ws ss).
Proof.
  revert ss. induction ws as [| v ws IH]; intros ss Hf Hw; simpl settle; [apply Qle_refl |].
  destruct ss as [| s ss]; [apply Qle_refl |]. rewrite !total_cons, !Qred_correct.
  assert (0 <= v) by (apply Hw; simpl; auto). assert (f s <= g s) by (apply Hf; simpl; auto).
  assert (total (settle f ws ss) <= total (settle g ws ss)).
  { apply IH; [intros; apply Hf | intros; apply Hw]; simpl; auto. }
  nra.
Qed.

Lemma settle_kept f ws ss :
  (forall s, In s ss -> f s == 1) -> total (settle f ws ss) == total ws.
Proof.
  revert ss. induction ws as [| v ws IH]; intros ss Hf; simpl settle; [reflexivity |].
  destruct ss as [| s ss]; [reflexivity |]. rewrite !total_cons, !Qred_correct.
  rewrite (Hf s) by (simpl; auto). rewrite IH by (intros; apply Hf; simpl; auto). lra.
Qed.

Lemma settle_mean {A} (f : A -> Q -> Q) (l : list (Q * A)) ws ss :
  probabilities l ->
  mean (fun o => total (settle (f o) ws ss)) l == total (settle (fun s => mean (fun o => f o s) l) ws ss).
Proof.
  intros Hp. revert ss. induction ws as [| v ws IH]; intros ss; simpl settle.
  - now apply mean_constant.
  - destruct ss as [| s ss]; [now apply mean_constant |]. rewrite total_cons, Qred_correct.
    rewrite <- IH, <- mean_scaled, <- mean_plus. apply mean_eq. intros p o _.
    now rewrite total_cons, Qred_correct.
Qed.

Lemma guarded_safe c s : safe (guarded c s) c.
Proof.
  unfold guarded, safe.
  destruct (Qle_bool 0 s) eqn:E1, (Qle_bool (s * c) (9 # 10)) eqn:E2,
    (Qle_bool (s * (1 - c)) (9 # 10)) eqn:E3; simpl; try (repeat split; lra).
  apply Qle_bool_iff in E1, E2, E3. auto.
Qed.

Lemma factor_kept stake c j i g y : stake == 0 -> factor stake c j i g y == 1.
Proof.
  intros H. unfold factor, win, lose.
  destruct (g =? j)%nat; [rewrite H; lra |]. destruct (g =? i)%nat; [rewrite H; lra | lra].
Qed.

(* The factor of a score in terms of that of its mean. *)
Lemma factor_mean {A} (f : A -> Q) (l : list (Q * A)) stake c j i g :
  probabilities l -> mean (fun o => factor stake c j i g (f o)) l == factor stake c j i g (mean f l).
Proof.
  intros Hp. unfold factor. destruct (g =? j)%nat; [| destruct (g =? i)%nat].
  - transitivity (mean (fun o => (1 - stake * c) + stake * f o) l).
    + apply mean_eq. intros; unfold win; ring.
    + rewrite mean_affine by assumption. unfold win. ring.
  - transitivity (mean (fun o => (1 + stake * c) + (- stake) * f o) l).
    + apply mean_eq. intros; unfold lose; ring.
    + rewrite mean_affine by assumption. unfold lose. ring.
  - now apply mean_constant.
Qed.

Definition ratio stake c j i (e : answer) : Q := score_factor stake c j i e / mean_factor stake c j i e.

Lemma product_ext {A} (f g : A -> Q) l : (forall a, In a l -> f a == g a) -> product f l == product g l.
Proof.
  induction l as [| a l IH]; simpl; intros H; [reflexivity |].
  rewrite (H a) by auto. rewrite IH by auto. reflexivity.
Qed.

Lemma product_of_ratios stake c j i l :
  safe stake c -> (forall e, In e l -> 0 <= mean_of e <= 1) ->
  product (score_factor stake c j i) l == product (ratio stake c j i) l * product (mean_factor stake c j i) l.
Proof.
  intros Hsafe. induction l as [| e l IH]; simpl; intros Hm; [lra |].
  rewrite IH by auto. unfold ratio at 2.
  pose proof (factor_positive stake c j i (group_of e) (mean_of e) Hsafe (Hm e (or_introl eq_refl))) as Hpos.
  fold (mean_factor stake c j i e) in Hpos. field. lra.
Qed.

Lemma ratio_positive stake c j i e :
  safe stake c -> 0 <= mean_of e <= 1 -> 0 <= score_of e <= 1 -> 0 < ratio stake c j i e.
Proof.
  intros Hsafe Hm Hy. unfold ratio.
  pose proof (factor_positive stake c j i (group_of e) (mean_of e) Hsafe Hm).
  pose proof (factor_positive stake c j i (group_of e) (score_of e) Hsafe Hy).
  apply Qlt_shift_div_l; unfold mean_factor, score_factor in *; lra.
Qed.

Section Kept.
  Variable cf : settings.
  Variable ch : choices.
  Variable w : world.
  Variable delta : Q.
  Variable best : nat.
  Variable first_told : list nat.

  Hypothesis settings_proper : proper cf delta best.
  Hypothesis choices_fair : fair ch.

  Notation root := (opening cf first_told).
  Notation tree := (branches cf ch w).
  Notation seen := (reachable tree root).

  Hypothesis world_lawful : forall nd, seen nd -> lawful cf ch w nd.

  (* Bets are placed on j against the best group in the present round. *)
  Definition bets_against_best (st : state) (j : nat) : Prop :=
    movers st = [] /\ leader st = Some j /\ j <> best /\ In best (active st)
    /\ (1 < length (active st))%nat
    /\ exists s, In s (stakes_of ch st best) /\ ~ guarded (center_of ch st best) s == 0.

  Hypothesis best_not_behind : forall nd j, seen nd -> bets_against_best (rule nd) j ->
    exists level, (forall l, 0 <= level l <= 1)
                  /\ lies_between level j best (arriving ch w nd 0 :: answers nd).

  Definition betting (st : state) : option nat :=
    match movers st, leader st with
    | [], Some j => if (best =? j)%nat || negb (among best (active st)) then None else Some j
    | _, _ => None
    end.

  (* The wealth against the best group, with each score of the round that is open divided by its
     expectation. *)
  Definition value (nd : node) : Q :=
    let st := rule nd in
    match betting st with
    | Some j =>
        let c := center_of ch st best in
        total (settle (fun s => product (ratio (guarded c s) c j best) (answers nd))
                      (wealth_of st best) (stakes_of ch st best))
    | None => total (wealth_of st best)
    end.

  Definition good (st : state) : Prop :=
    NoDup (active st)
    /\ (forall a, In a (active st) -> a < groups cf)%nat
    /\ (forall j, leader st = Some j -> In j (active st))
    /\ (forall x, In x (wealth_of st best) -> 0 <= x)
    /\ (~ In best (active st) -> threshold cf <= total (wealth_of st best)).

  Definition under_way (nd : node) : Prop :=
    forall arms m, plan ch (rule nd) = Some (arms, m) ->
      NoDup (slots nd)
      /\ (forall x, In x (slots nd) -> x < length arms * m)%nat
      /\ map group_of (answers nd) = map (fun x => nth (x mod length arms) arms 0%nat) (slots nd)
      /\ (forall e, In e (answers nd) -> 0 <= mean_of e <= 1 /\ 0 <= score_of e <= 1).

  Definition sound (nd : node) : Prop := seen nd /\ good (rule nd) /\ under_way nd.

  Lemma best_is_a_group : (best < groups cf)%nat.
  Proof. apply settings_proper. Qed.

  Lemma drop_wealth st i :
    (i < groups cf)%nat ->
    wealth_of (drop cf ch st) i = wealth_of st i
    \/ (wealth_of (drop cf ch st) i = returned ch st i (wealth_of st i)
        /\ In i (active (drop cf ch st))).
  Proof.
    intros Hi. unfold wealth_of, drop. simpl. rewrite nth_tabulate by assumption.
    match goal with |- context [if ?b then _ else _] => destruct b eqn:E end; [right | now left].
    split; [reflexivity |]. apply andb_true_iff in E as [E _]. apply andb_true_iff in E as [_ E].
    now apply among_In in E.
  Qed.

  Lemma drop_good st : good st -> In best (active st) ->
    good (drop cf ch st) /\ total (wealth_of (drop cf ch st) best) <= total (wealth_of st best).
  Proof.
    intros (Hnodup & Hgroups & Hleader & Hpos & Hgone) Hbest.
    pose proof (choices_fair st best (wealth_of st best) Hpos) as [[Hf1 Hf2] _].
    destruct (drop_wealth st best best_is_a_group) as [E | [E Hin]].
    - split; [| rewrite E; apply Qle_refl]. unfold good. rewrite E. simpl.
      split; [now apply NoDup_filter |]. split; [| split; [| split; [assumption |]]].
      + intros a Ha. apply filter_In in Ha as [Ha _]. auto.
      + intros j Hj. apply filter_In. split; [now apply Hleader |].
        unfold beaten, is_led_by. rewrite Hj, Nat.eqb_refl. reflexivity.
      + intros Hno. destruct (beaten cf st best) eqn:Eb.
        * unfold beaten in Eb. apply andb_true_iff in Eb as [_ Eb]. now apply Qle_bool_iff.
        * exfalso. apply Hno. apply filter_In. split; [assumption | now rewrite Eb].
    - split; [| rewrite E; assumption]. unfold good. rewrite E. split; [| split; [| split; [| split]]].
      + simpl. now apply NoDup_filter.
      + simpl. intros a Ha. apply filter_In in Ha as [Ha _]. auto.
      + simpl. intros j Hj. apply filter_In. split; [now apply Hleader |].
        unfold beaten, is_led_by. rewrite Hj, Nat.eqb_refl. reflexivity.
      + assumption.
      + intros Hno. contradiction.
  Qed.

  Lemma led_good st j : good st -> In j (active st) ->
    good (led cf ch st j) /\ total (wealth_of (led cf ch st j) best) <= total (wealth_of st best).
  Proof.
    intros (Hnodup & Hgroups & Hleader & Hpos & Hgone) Hj.
    pose proof (choices_fair st best (wealth_of st best) Hpos) as [_ [Hf1 Hf2]].
    assert (E : wealth_of (led cf ch st j) best
                = if among best (active st) then restarted ch st best (wealth_of st best)
                  else wealth_of st best).
    { unfold wealth_of at 1, led. simpl. now rewrite nth_tabulate by apply best_is_a_group. }
    unfold good. rewrite E. simpl.
    destruct (among best (active st)) eqn:Eb.
    - apply among_In in Eb. repeat split; auto; [| intros; contradiction].
      intros a Ha. now injection Ha as <-.
    - repeat split; auto; [| apply Qle_refl]. intros a Ha. now injection Ha as <-.
  Qed.

  (* The state after a round of passes, before anybody is dropped. *)
  Definition settled (st : state) (scores : list (nat * Q)) : state :=
    take_in cf st (Nat.max 1 (passes_of ch st)) scores (tabulate (groups cf) (bet ch st scores)).

  Lemma settled_wealth st scores : wealth_of (settled st scores) best = bet ch st scores best.
  Proof.
    unfold wealth_of, settled, take_in. simpl. apply nth_tabulate. apply best_is_a_group.
  Qed.

  Lemma change_good ch' st : ch' = ch -> good st -> forall b : bool,
    let st' := if b then match lead ch st with
                         | Some j => if among j (active st) && negb (is_led_by st j)
                                     then led cf ch st j else st
                         | None => st
                         end else st in
    good st' /\ total (wealth_of st' best) <= total (wealth_of st best).
  Proof.
    intros _ Hgood b. destruct b; [| split; [assumption | apply Qle_refl]].
    destruct (lead ch st) as [j |]; [| split; [assumption | apply Qle_refl]].
    destruct (among j (active st)) eqn:E; simpl; [| split; [assumption | apply Qle_refl]].
    apply among_In in E.
    destruct (negb (is_led_by st j)); [now apply led_good | split; [assumption | apply Qle_refl]].
  Qed.

  Lemma absorb_passes st scores :
    movers st = [] -> good st -> In best (active st) ->
    (forall x, In x (bet ch st scores best) -> 0 <= x) ->
    good (absorb cf ch st scores)
    /\ total (wealth_of (absorb cf ch st scores) best) <= total (bet ch st scores best).
  Proof.
    intros Hm Hgood Hbest Hpos. unfold absorb. rewrite Hm. fold (settled st scores).
    assert (Hsettled : good (settled st scores)).
    { destruct Hgood as (Hnodup & Hgroups & Hleader & _ & _). unfold good.
      rewrite settled_wealth. simpl. repeat split; auto. intros; contradiction. }
    rewrite <- settled_wealth.
    set (st2 := match leader st with Some _ => drop cf ch (settled st scores) | None => settled st scores end).
    assert (H2 : good st2 /\ total (wealth_of st2 best) <= total (wealth_of (settled st scores) best)).
    { unfold st2. destruct (leader st).
      - apply drop_good; [assumption | simpl; assumption].
      - split; [assumption | apply Qle_refl]. }
    destruct H2 as [H2 Hle2].
    pose proof (change_good ch st2 eq_refl H2
      ((1 <? length (active st2))%nat
       && match leader st with Some _ => Nat.even (rounds st2) | None => true end)) as [H3 Hle3].
    split; [exact H3 |]. eapply Qle_trans; [exact Hle3 | exact Hle2].
  Qed.

  Lemma absorb_order st scores :
    movers st <> [] -> good st ->
    good (absorb cf ch st scores) /\ wealth_of (absorb cf ch st scores) best = wealth_of st best.
  Proof.
    intros Hm Hgood. unfold absorb. destruct (movers st) as [| a l] eqn:E; [contradiction |].
    destruct Hgood as (H1 & H2 & H3 & H4 & H5).
    destruct (leader st) eqn:El; (split; [| reflexivity]); unfold good; simpl; repeat split; auto;
      try (rewrite El in *; auto).
  Qed.

  Lemma value_of_new_round st notes :
    value (Node st [] [] notes) == total (wealth_of st best).
  Proof.
    unfold value. simpl. destruct (betting st); [| reflexivity].
    apply settle_kept. intros; reflexivity.
  Qed.

  Lemma good_told st news : good st -> good (prepare cf ch (tell st news)).
  Proof.
    intros H. unfold prepare. destruct (head_start cf); [exact H |].
    destruct (leader (tell st news)) eqn:E; [| exact H].
    unfold good in *. simpl in *. exact H.
  Qed.

  Lemma prepared_wealth st news i : wealth_of (prepare cf ch (tell st news)) i = wealth_of st i.
  Proof.
    unfold prepare. destruct (head_start cf); [reflexivity |].
    now destruct (leader (tell st news)).
  Qed.

  (* In a whole round of passes each active group has as many scores as there are passes. *)
  Lemma all_turns g arms m (l : list nat) (es : list answer) :
    NoDup arms -> In g arms -> NoDup l -> (forall x, In x l -> x < length arms * m)%nat ->
    length l = (length arms * m)%nat ->
    map group_of es = map (fun x => nth (x mod length arms) arms 0%nat) l ->
    count g es = m.
  Proof.
    intros Harms Hg Hl Hless Hlen Hes.
    apply (In_nth _ _ 0%nat) in Hg as (p & Hp & Ep).
    assert (Hturn : count g es = turns (length arms) p l).
    { transitivity (length (filter (fun a => a =? g)%nat (map group_of es))).
      - unfold count. clear. induction es as [| e es IH]; simpl; [reflexivity |].
        destruct (group_of e =? g)%nat; simpl; now rewrite IH.
      - rewrite Hes. unfold turns. clear Hlen Hes Hl.
        induction l as [| x l IH]; simpl; [reflexivity |].
        assert (E : (nth (x mod length arms) arms 0 =? g)%nat = at_position (length arms) p x).
        { unfold at_position. destruct (x mod length arms =? p)%nat eqn:Ex.
          - apply Nat.eqb_eq in Ex. rewrite Ex, Ep. apply Nat.eqb_refl.
          - apply Nat.eqb_neq. intros Heq. apply Nat.eqb_neq in Ex. apply Ex.
            apply (NoDup_nth arms 0%nat); [assumption | apply Nat.mod_upper_bound; lia | assumption |].
            now rewrite Ep. }
        rewrite E. destruct (at_position (length arms) p x); simpl; rewrite IH; auto;
          intros; apply Hless; simpl; auto. }
    rewrite Hturn. apply Nat.le_antisymm.
    - apply few_turns; [lia | lia | assumption |]. intros x Hx _. specialize (Hless x Hx). lia.
    - apply many_turns; [lia | lia |]. intros u Hu.
      assert (Hincl : incl (seq 0 (length arms * m)) l).
      { apply NoDup_length_incl; [assumption | rewrite seq_length; lia |].
        intros x Hx. apply in_seq. specialize (Hless x Hx). lia. }
      apply Hincl. apply in_seq. nia.
  Qed.

  Lemma mean_score_in_unit nd : seen nd -> 0 <= mean_score w nd <= 1.
  Proof.
    intros H. destruct (world_lawful nd H) as (Hp & Hy & _). apply mean_within; [assumption |].
    intros p [y note] Hin. simpl. eauto.
  Qed.

  Lemma product_of_scores_is stake c j l :
    product_of_scores stake c j best (scores_of l) == product (score_factor stake c j best) l.
  Proof.
    unfold product_of_scores, scores_of. induction l as [| e l IH]; simpl; [reflexivity |].
    rewrite Qred_correct, IH. reflexivity.
  Qed.

  Lemma product_of_scores_positive c s j l :
    (forall e, In e l -> 0 <= score_of e <= 1) ->
    0 <= product_of_scores (guarded c s) c j best (scores_of l).
  Proof.
    intros H. rewrite product_of_scores_is. apply Qlt_le_weak, product_positive. intros e He.
    pose proof (factor_positive (guarded c s) c j best (group_of e) (score_of e)
                  (guarded_safe c s) (H e He)).
    unfold score_factor. lra.
  Qed.

  (* One score does not change the value on average. *)
  Lemma step_value nd :
    sound nd -> In best (active (rule nd)) -> mean value (tree nd) <= value nd.
  Proof.
    intros (Hseen & Hgood & Hway) Hbest. unfold branches.
    assert (Hvalue : 0 <= value nd).
    { unfold value. pose proof Hgood as (_ & _ & _ & Hpos & _). destruct (betting (rule nd)) as [j |] eqn:Ej.
      - destruct (plan ch (rule nd)) as [[arms m] |] eqn:Eplan.
        + destruct (Hway arms m Eplan) as (_ & _ & _ & Hunit).
          apply total_positive. apply settle_positive; [| assumption]. intros s _.
          apply Qlt_le_weak. apply product_positive. intros e He. destruct (Hunit e He).
          apply ratio_positive; auto. apply guarded_safe.
        + unfold plan in Eplan. destruct (length (active (rule nd)) <=? 1)%nat eqn:El.
          * exfalso. unfold betting in Ej. destruct (movers (rule nd)); [| discriminate].
            destruct (leader (rule nd)) as [j' |] eqn:Elead; [| discriminate].
            destruct ((best =? j')%nat) eqn:Eb; [discriminate |].
            apply Nat.leb_le in El. apply Nat.eqb_neq in Eb. apply Eb.
            destruct Hgood as (_ & _ & Hlead & _). specialize (Hlead j' Elead).
            destruct (active (rule nd)) as [| x [| y l]]; simpl in *; [tauto | intuition congruence | lia].
          * destruct (movers (rule nd)); discriminate.
      - now apply total_positive. }
    destruct (plan ch (rule nd)) as [[arms m] |] eqn:Eplan; [| simpl; assumption].
    destruct (world_lawful nd Hseen) as (Hp & Hunit & Hslot).
    destruct (Hslot arms m Eplan) as [Hnew Hless]. clear Hslot.
    destruct (Hway arms m Eplan) as (Hnodup & Hslots & Hmap & Hanswers).
    rewrite (mean_map value (step cf ch w nd)).
    pose proof (mean_score_in_unit nd Hseen) as Hmean.
    assert (Hactive_many : (1 < length (active (rule nd)))%nat).
    { unfold plan in Eplan. destruct (length (active (rule nd)) <=? 1)%nat eqn:El; [discriminate |].
      apply Nat.leb_gt in El. lia. }
    (* the state does not change within a round *)
    destruct (betting (rule nd)) as [j |] eqn:Ej.
    - (* bets on j against the best group *)
      assert (Hj : movers (rule nd) = [] /\ leader (rule nd) = Some j /\ j <> best).
      { unfold betting in Ej. destruct (movers (rule nd)); [| discriminate].
        destruct (leader (rule nd)) as [j' |]; [| discriminate].
        destruct (best =? j')%nat eqn:Eb; simpl in Ej; [discriminate |].
        destruct (among best (active (rule nd))); simpl in Ej; [| discriminate].
        injection Ej as <-. apply Nat.eqb_neq in Eb. auto. }
      destruct Hj as (Hmovers & Hleader & Hne).
      assert (Earms : arms = active (rule nd)).
      { unfold plan in Eplan. rewrite Hmovers in Eplan.
        destruct (length (active (rule nd)) <=? 1)%nat; [discriminate |]. now injection Eplan. }
      set (st := rule nd) in *. set (c := center_of ch st best).
      set (ws := wealth_of st best). set (ss := stakes_of ch st best).
      assert (Hws : forall x, In x ws -> 0 <= x) by (apply Hgood).
      assert (Hbound : forall p o, In (p, o) (outcomes w nd) ->
        value (step cf ch w nd o) <=
        total (settle (fun s => product (ratio (guarded c s) c j best) (arriving ch w nd (fst o) :: answers nd)) ws ss)).
      { intros p [y note] Ho. specialize (Hunit p y note Ho). unfold step. fold st. rewrite Eplan.
        set (es := arriving ch w nd (fst (y, note)) :: answers nd).
        assert (Hes : forall e, In e es -> 0 <= mean_of e <= 1 /\ 0 <= score_of e <= 1).
        { intros e [<- | He]; [unfold arriving, mean_of, score_of; simpl; auto | auto]. }
        destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat eqn:Elast.
        - rewrite value_of_new_round.
          assert (Ebet : bet ch st (scores_of es) best
                         = settle (fun s => product_of_scores (guarded c s) c j best (scores_of es)) ws ss).
          { unfold bet. rewrite Hleader. apply Nat.eqb_neq in Hne. rewrite Nat.eqb_sym in Hne.
            rewrite Hne. apply among_In in Hbest. rewrite Hbest. reflexivity. }
          assert (Habsorb := absorb_passes st (scores_of es) Hmovers Hgood Hbest).
          rewrite Ebet in Habsorb. destruct Habsorb as [_ Habsorb].
          { apply settle_positive; [| assumption]. intros s _. apply product_of_scores_positive.
            intros e He. now apply Hes. }
          rewrite prepared_wealth.
          eapply Qle_trans; [exact Habsorb |]. apply settle_le; [| assumption]. intros s Hs.
          rewrite product_of_scores_is.
          assert (Hsafe : safe (guarded c s) c) by (apply guarded_safe).
          destruct (Qeq_dec (guarded c s) 0) as [Ezero | Enonzero].
          + rewrite (product_ext _ (fun _ => 1)), (product_ext (ratio _ _ _ _) (fun _ => 1)).
            * apply Qle_refl.
            * intros e _. unfold ratio, score_factor, mean_factor.
              rewrite !factor_kept by assumption. reflexivity.
            * intros e _. unfold score_factor. now apply factor_kept.
          + destruct (best_not_behind nd j Hseen) as (level & Hlevel & Hbetween).
            { unfold bets_against_best. repeat split; auto. exists s. auto. }
            rewrite product_of_ratios; [| assumption | intros e He; now apply Hes].
            assert (Hone : product (mean_factor (guarded c s) c j best) es <= 1).
            { apply (round_at_most_its_ratios _ _ level); auto.
              - intros e He. now apply Hes.
              - assert (Hall : forall g, In g arms -> count g es = m).
                { intros g Hg.
                  apply (all_turns g arms m (next_slot w nd :: slots nd)); auto.
                  - rewrite Earms. apply Hgood.
                  - constructor; auto.
                  - intros x [<- | Hx]; auto.
                  - now apply Nat.eqb_eq in Elast.
                  - simpl. rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl.
                    fold st. now rewrite Eplan. }
                rewrite !Hall; auto; rewrite Earms; auto. apply Hgood. assumption. }
            assert (Hratio : 0 < product (ratio (guarded c s) c j best) es).
            { apply product_positive. intros e He. destruct (Hes e He). now apply ratio_positive. }
            nra.
        - unfold value. simpl. fold st. rewrite Ej. apply Qle_refl. }
      eapply Qle_trans; [apply mean_le; [intros; eapply Hp; eauto | exact Hbound] |].
      rewrite (settle_mean (fun o s => product (ratio (guarded c s) c j best)
                                               (arriving ch w nd (fst o) :: answers nd))) by assumption.
      unfold value. fold st. rewrite Ej. fold c ws ss. apply settle_le; [| assumption].
      intros s _. simpl.
      set (rest := product (ratio (guarded c s) c j best) (answers nd)).
      assert (E : mean (fun o : Q * nat => ratio (guarded c s) c j best (arriving ch w nd (fst o)) * rest)
                       (outcomes w nd) == rest).
      { set (g := next_group ch w nd). set (d := factor (guarded c s) c j best g (mean_score w nd)).
        assert (Hd : 1 # 10 <= d) by (apply factor_positive; [apply guarded_safe | assumption]).
        transitivity (mean (fun o : Q * nat => (rest / d) * factor (guarded c s) c j best g (fst o))
                           (outcomes w nd)).
        - apply mean_eq. intros p o _. unfold ratio, score_factor, mean_factor, arriving, group_of,
            score_of, mean_of. simpl. fold g. fold d. field. lra.
        - rewrite mean_scaled, factor_mean by assumption. fold (mean_score w nd). fold d. field. lra. }
      rewrite E. apply Qle_refl.
    - (* no bets against the best group: the value is the wealth and does not change *)
      apply Qle_trans with (mean (fun _ : Q * nat => value nd) (outcomes w nd));
        [| rewrite mean_constant by assumption; apply Qle_refl].
      apply mean_le; [intros; eapply Hp; eauto |]. intros p [y note] Ho. unfold step. rewrite Eplan.
      assert (Ev : value nd = total (wealth_of (rule nd) best)) by (unfold value; now rewrite Ej).
      destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat;
        [| unfold value; simpl; rewrite Ej; apply Qle_refl].
      rewrite value_of_new_round, Ev.
      set (es := scores_of (arriving ch w nd (fst (y, note)) :: answers nd)).
      rewrite prepared_wealth. fold es.
      destruct (movers (rule nd)) as [| a rest] eqn:Em.
      + assert (Ebet : bet ch (rule nd) es best = wealth_of (rule nd) best).
        { unfold betting in Ej. rewrite Em in Ej. unfold bet.
          destruct (leader (rule nd)) as [j |]; [| reflexivity].
          destruct ((best =? j)%nat || negb (among best (active (rule nd)))); [reflexivity | discriminate]. }
        pose proof (absorb_passes (rule nd) es Em Hgood Hbest) as Habsorb. rewrite Ebet in Habsorb.
        apply Habsorb. apply Hgood.
      + destruct (absorb_order (rule nd) es) as [_ E]; [rewrite Em; discriminate | assumption |].
        rewrite E. apply Qle_refl.
  Qed.

  Lemma step_sound nd p next :
    sound nd -> In best (active (rule nd)) -> In (p, next) (tree nd) -> 0 <= p /\ sound next.
  Proof.
    intros (Hseen & Hgood & Hway) Hbest Hin.
    assert (Hnext : seen next) by (eapply reach_step; eauto).
    unfold branches in Hin. destruct (plan ch (rule nd)) as [[arms m] |] eqn:Eplan; [| destruct Hin].
    apply in_map_iff in Hin as ([q [y note]] & E & Ho). simpl in E. injection E as <- <-.
    destruct (world_lawful nd Hseen) as (Hp & Hunit & Hslot).
    destruct (Hslot arms m Eplan) as [Hnew Hless]. specialize (Hunit q y note Ho).
    destruct (Hway arms m Eplan) as (Hnodup & Hslots & Hmap & Hanswers).
    split; [eapply Hp; eauto |]. split; [assumption |].
    unfold step in *. rewrite Eplan in *.
    destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat eqn:Elast.
    - split; simpl.
      + apply good_told. destruct (movers (rule nd)) eqn:Em.
        * apply absorb_passes; auto. unfold bet. destruct (leader (rule nd)) as [j |]; [| apply Hgood].
          destruct ((best =? j)%nat || negb (among best (active (rule nd)))); [apply Hgood |].
          apply settle_positive; [| apply Hgood]. intros s _.
          apply (product_of_scores_positive (center_of ch (rule nd) best) s j
                   (arriving ch w nd y :: answers nd)).
          intros e [<- | He]; [unfold arriving, score_of; simpl; assumption | now apply Hanswers].
        * apply absorb_order; [rewrite Em; discriminate | assumption].
      + unfold under_way. simpl. intros. repeat split; simpl; try tauto. constructor.
    - split; simpl; [assumption |]. unfold under_way. simpl. intros arms' m' Eplan'.
      rewrite Eplan in Eplan'. injection Eplan' as <- <-. repeat split.
      + constructor; assumption.
      + intros x [<- | Hx]; auto.
      + simpl. rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl. now rewrite Eplan.
      + destruct H as [<- | He]; [unfold arriving, mean_of; simpl; now apply mean_score_in_unit | now apply Hanswers].
      + destruct H as [<- | He]; [unfold arriving, mean_of; simpl; now apply mean_score_in_unit | now apply Hanswers].
      + destruct H as [<- | He]; [unfold arriving, score_of; simpl; apply Hunit | now apply Hanswers].
      + destruct H as [<- | He]; [unfold arriving, score_of; simpl; apply Hunit | now apply Hanswers].
  Qed.

  (* M4, the part that does not speak of shares. *)
  Theorem best_group_kept_if_not_behind : forall n, ever tree (is_dropped best) n root <= delta.
  Proof.
    destruct settings_proper as (Hdelta & Hthreshold & Hbest & Hprior & Hone).
    assert (Hdropped : forall nd, is_dropped best nd = false -> In best (active (rule nd))).
    { intros nd H. unfold is_dropped in H. apply negb_false_iff in H. now apply among_In. }
    assert (Hstart : wealth_of (start cf first_told) best = prior cf).
    { unfold wealth_of, start. simpl. now apply (nth_tabulate (groups cf) (fun _ => prior cf)). }
    apply (ville_failure tree (is_dropped best) value sound); auto.
    - unfold opening. rewrite value_of_new_round, Hstart. assumption.
    - intros nd (Hseen & Hgood & Hway). unfold value.
      destruct (betting (rule nd)) as [j |] eqn:Ej; [| apply total_positive, Hgood].
      destruct (plan ch (rule nd)) as [[arms m] |] eqn:Eplan.
      + destruct (Hway arms m Eplan) as (_ & _ & _ & Hunit).
        apply total_positive, settle_positive; [| apply Hgood]. intros s _.
        apply Qlt_le_weak, product_positive. intros e He. destruct (Hunit e He).
        apply ratio_positive; auto. apply guarded_safe.
      + exfalso. unfold plan in Eplan. unfold betting in Ej.
        destruct (movers (rule nd)); [| discriminate].
        destruct (leader (rule nd)) as [j' |] eqn:Elead; [| discriminate].
        destruct (length (active (rule nd)) <=? 1)%nat eqn:El; [| discriminate].
        destruct (best =? j')%nat eqn:Eb; [discriminate |].
        destruct (among best (active (rule nd))) eqn:Ea; [| discriminate].
        apply among_In in Ea. apply Nat.leb_le in El. apply Nat.eqb_neq in Eb. apply Eb.
        destruct Hgood as (_ & _ & Hlead & _). specialize (Hlead j' Elead).
        destruct (active (rule nd)) as [| x [| y l]]; simpl in *; [tauto | intuition congruence | lia].
    - intros nd (Hseen & Hgood & Hway) Hgone. unfold is_dropped in Hgone. apply negb_true_iff in Hgone.
      rewrite <- Hthreshold. destruct Hgood as (_ & _ & _ & _ & Hwealth).
      assert (Hno : ~ In best (active (rule nd))).
      { intros H. apply among_In in H. congruence. }
      unfold value, betting. rewrite Hgone.
      destruct (movers (rule nd)); [| now apply Hwealth].
      destruct (leader (rule nd)) as [j |]; [| now apply Hwealth].
      rewrite orb_true_r. now apply Hwealth.
    - intros nd p next Hsound Hkept Hin. eapply step_sound; eauto.
    - intros nd Hsound Hkept. apply step_value; auto.
    - split; [apply reach_root |]. split.
      + unfold good. simpl rule. rewrite Hstart. simpl. repeat split; auto.
        * apply seq_NoDup.
        * intros a Ha. apply in_seq in Ha. lia.
        * discriminate.
        * intros H. exfalso. apply H. apply in_seq. lia.
      + unfold under_way. simpl. intros. repeat split; simpl; try tauto. constructor.
  Qed.
End Kept.
