(* "When a round of m passes opens, let the policy be told each group's members s_g and a bound u_g.
   During the round let nobody leave. Let at most u_g people who were chosen before begin to judge, at
   any time, and people chosen in the round begin once they are scored, or later, or never. Then the
   best group is ever dropped with probability at most delta, for any order of answers" (Theorem 5).

   Groups may be pulled alone before a round, by any rule that uses the past only. *)

From AffinityBandits Require Import Trees Bets Shares Rule Game BestGroupKept HeadStart.
From Coq Require Import Arith ZArith.

Lemma sum_zero f l : (forall h, In h l -> f h = 0%nat) -> sum_over f l = 0%nat.
Proof.
  unfold sum_over. induction l as [| h l IH]; simpl; intros H; [reflexivity |].
  rewrite (H h), IH; auto.
Qed.

Lemma sum_le f g l : (forall h, In h l -> f h <= g h)%nat -> (sum_over f l <= sum_over g l)%nat.
Proof.
  unfold sum_over. induction l as [| h l IH]; simpl; intros H; [lia |].
  assert (f h <= g h)%nat by auto. assert (list_sum (map f l) <= list_sum (map g l))%nat by auto. lia.
Qed.

Lemma sum_add f g l : sum_over (fun h => f h + g h)%nat l = (sum_over f l + sum_over g l)%nat.
Proof. unfold sum_over. induction l as [| h l IH]; simpl; lia. Qed.

(* Only members of l' count. *)
Lemma sum_within f l l' :
  NoDup l -> (forall h, In h l -> ~ In h l' -> f h = 0%nat) -> (sum_over f l <= sum_over f l')%nat.
Proof.
  intros Hl Hzero. apply Nat.le_trans with (sum_over f (filter (fun h => among h l') l)).
  - clear Hl. induction l as [| h l IH]; simpl; [lia |].
    assert (IH' : (sum_over f l <= sum_over f (filter (fun h => among h l') l))%nat).
    { apply IH. intros; apply Hzero; simpl; auto. }
    destruct (among h l') eqn:E; unfold sum_over in *; simpl; [lia |].
    rewrite (Hzero h); [lia | simpl; auto |]. intros Hin. apply among_In in Hin. congruence.
  - apply sum_over_incl; [now apply NoDup_filter |]. intros h Hh. apply filter_In in Hh as [_ Hh].
    now apply among_In.
Qed.

Definition but (f : nat -> nat) (g h : nat) : nat := if (h =? g)%nat then 0%nat else f h.

Lemma sum_but_is cf f g : sum_but cf f g = sum_over (but f g) (seq 0 (groups cf)).
Proof. reflexivity. Qed.

Lemma sum_split f g l : NoDup l -> In g l -> sum_over f l = (f g + sum_over (but f g) l)%nat.
Proof.
  intros Hl Hg. destruct (in_split g l Hg) as (l1 & l2 & ->). apply NoDup_remove_2 in Hl.
  assert (H : forall l', (forall h, In h l' -> h <> g) -> sum_over (but f g) l' = sum_over f l').
  { unfold sum_over, but. induction l' as [| h l' IH]; simpl; intros H; [reflexivity |].
    assert (h <> g) by auto. apply Nat.eqb_neq in H0. rewrite H0, IH; auto. }
  unfold sum_over in *. rewrite !map_app, !list_sum_app. simpl.
  rewrite !H; [unfold but; rewrite Nat.eqb_refl; lia | |];
    intros h Hh ->; apply Hl, in_app_iff; auto.
Qed.

Lemma one_of_sum f j l : In j l -> (f j <= sum_over f l)%nat.
Proof.
  intros Hj. replace (f j) with (sum_over f [j]) by (unfold sum_over; simpl; lia).
  apply sum_over_incl; [constructor; [simpl; tauto | constructor] |]. intros h [<- | []]. assumption.
Qed.

Lemma no_share y : Q_of 0 / y == 0.
Proof. unfold Qdiv, Q_of. simpl. ring. Qed.

Section Members.
  Variable cf : settings.
  Variable ch0 : choices.
  Variable w : world.
  Variable delta : Q.
  Variable best : nat.
  Variable first_told : list nat.

  Notation ch := (with_members cf ch0).
  Notation root := (opening cf first_told).
  Notation tree := (branches cf ch w).
  Notation seen := (reachable tree root).

  Hypothesis settings_proper : proper cf delta best.
  Hypothesis choices_fair : fair ch0.
  Hypothesis world_lawful : forall nd, seen nd -> lawful cf ch w nd.

  Variable worth : state -> nat -> Q.
  Variable bias : state -> Q -> Q.
  Hypothesis best_is_best : forall st g, 0 <= worth st g <= worth st best.
  Hypothesis bias_nondecreasing :
    forall st x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias st x <= bias st y.

  (* Who judges: of each group, and judges without a group. *)
  Variable judges : node -> nat -> nat.
  Variable without_group : state -> nat.

  Definition others (nd : node) (g : nat) : nat := sum_but cf (judges nd) g.

  Definition share_among_judges (nd : node) (g : nat) : Q :=
    Q_of (judges nd g) / Q_of (judges nd g + others nd g + without_group (rule nd)).

  (* In rounds of passes. Who judges while groups are pulled alone does not matter. *)
  Hypothesis members_as_told : forall nd g, seen nd -> movers (rule nd) = [] ->
    (seats_of (rule nd) g <= judges nd g
     <= seats_of (rule nd) g + soon_of cf (rule nd) g + count g (answers nd))%nat.
  Hypothesis mean_is_worth_times_bias : forall nd, seen nd -> plan ch (rule nd) <> None ->
    movers (rule nd) = [] ->
    let g := next_group ch w nd in
    mean_score w nd == worth (rule nd) g * bias (rule nd) (share_among_judges nd g).

  (* What is known of the judges at each score of the round. *)
  Fixpoint judged (st : state) (l : list answer) : Prop :=
    match l with
    | [] => True
    | e :: earlier =>
        judged st earlier
        /\ let g := group_of e in
           exists x o,
             mean_of e == worth st g * bias st (Q_of x / Q_of (x + o + without_group st))
             /\ (seats_of st g <= x <= seats_of st g + soon_of cf st g + count g earlier)%nat
             /\ (sum_but cf (seats_of st) g <= o
                 <= sum_but cf (fun h => seats_of st h + soon_of cf st h + count h earlier) g)%nat
    end.

  Lemma seen_judged nd : seen nd -> movers (rule nd) = [] -> judged (rule nd) (answers nd).
  Proof.
    induction 1 as [| p nd next Hseen IH Hin]; [intros _; exact I |].
    apply (step_cases cf ch w (fun nd => movers (rule nd) = [] -> judged (rule nd) (answers nd))
             nd p next Hin); [intros st news _; exact I |].
    intros arms m y news Hplan Hm. simpl in *. split; [now apply IH |].
    exists (judges nd (next_group ch w nd)), (others nd (next_group ch w nd)).
    unfold arriving, group_of, mean_of. simpl. split; [| split].
    - apply mean_is_worth_times_bias; [assumption | rewrite Hplan; discriminate | assumption].
    - now apply members_as_told.
    - unfold others. rewrite !sum_but_is. split; apply sum_le; intros h _; unfold but;
        destruct (h =? next_group ch w nd)%nat; try lia; now apply members_as_told.
  Qed.

  Lemma round_among_members st j m l es :
    leader st = Some j -> NoDup (active st) -> (forall a, In a (active st) -> a < groups cf)%nat ->
    In j (active st) -> In best (active st) -> j <> best -> (1 <= m)%nat ->
    members_in_order cf st m j best = true ->
    NoDup l -> (forall x, In x l -> x < length (active st) * m)%nat ->
    map group_of es = map (fun x => nth (x mod length (active st)) (active st) 0%nat) l ->
    judged st es -> (forall e, In e es -> mean_of e <= 1) ->
    exists level, (forall c, 0 <= level c <= 1) /\ lies_between level j best es.
  Proof.
    intros Hl Hactive Hgroups Hj Hi Hne Hm1 Horder Hnodup Hless Hmap Hjudged Hunit.
    set (k := length (active st)) in *. set (n0 := without_group st).
    set (X := most_of_leader cf st m j) in *. set (O := most_others cf st m best) in *.
    set (oj := sum_but cf (seats_of st) j) in *. set (si := seats_of st best) in *.
    unfold members_in_order in Horder. cbv zeta in Horder. apply Nat.leb_le in Horder.
    fold X O oj si in Horder.
    assert (Hk : (2 <= k)%nat).
    { unfold k. clear - Hj Hi Hne. destruct (active st) as [| a [| b r]]; simpl in *; [tauto | | lia].
      exfalso. destruct Hj as [Hj |]; [| tauto]. destruct Hi as [Hi |]; [congruence | tauto]. }
    assert (HO : (m <= O)%nat).
    { unfold O, most_others. fold k. assert (1 * m <= (k - 1) * m)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
    assert (Hall : (X + oj <= si + O)%nat).
    { assert (Hin : forall g, In g (active st) -> In g (seq 0 (groups cf))).
      { intros g Hg. apply in_seq. specialize (Hgroups g Hg). lia. }
      pose proof (sum_split (seats_of st) j _ (seq_NoDup (groups cf) 0) (Hin j Hj)) as H1.
      pose proof (sum_split (seats_of st) best _ (seq_NoDup (groups cf) 0) (Hin best Hi)) as H2.
      pose proof (one_of_sum (but (soon_of cf st) best) j _ (Hin j Hj)) as H3.
      unfold but at 1 in H3. apply Nat.eqb_neq in Hne. rewrite Hne in H3.
      assert (H4 : sum_but cf (fun h => seats_of st h + soon_of cf st h)%nat best
                   = (sum_over (but (seats_of st) best) (seq 0 (groups cf))
                      + sum_over (but (soon_of cf st) best) (seq 0 (groups cf)))%nat).
      { rewrite sum_but_is, <- sum_add. unfold sum_over. f_equal. apply map_ext. intros h.
        unfold but. destruct (h =? best)%nat; lia. }
      unfold O, most_others. fold k. rewrite H4.
      unfold X, most_of_leader, oj, si. rewrite sum_but_is.
      assert (1 * m <= (k - 1) * m)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
    assert (Hcases : X = 0%nat \/ (1 <= X /\ 1 <= si /\ X <= si /\ X * O <= si * oj)%nat).
    { destruct (Nat.eq_dec X 0) as [| HX]; [auto | right].
      replace (Nat.max 1 (X + oj)) with (X + oj)%nat in Horder by lia.
      assert (Hsi : (1 <= si)%nat).
      { destruct si; [| lia]. exfalso. assert (X * O <= 0)%nat by lia.
        assert (1 * 1 <= X * O)%nat by (apply Nat.mul_le_mono; lia). lia. }
      assert (HXsi : (X <= si)%nat).
      { destruct (Nat.le_gt_cases X si) as [| Hgt]; [assumption |]. exfalso.
        assert (X * (X + oj) <= X * (si + O))%nat by (apply Nat.mul_le_mono_l; lia).
        assert (si * (X + oj) < X * (X + oj))%nat by (apply Nat.mul_lt_mono_pos_r; lia). lia. }
      repeat split; lia. }
    set (B := Q_of X / Q_of (X + oj + n0)).
    assert (HB : 0 <= B <= 1).
    { destruct (Nat.eq_dec X 0) as [E | HX].
      - assert (EB : B == 0) by (unfold B; rewrite E; apply no_share). lra.
      - apply share_in_unit; lia. }
    set (v := worth st best * bias st B).
    assert (Hv : 0 <= v).
    { destruct (bias_nondecreasing st B B) as [H0 _]; try apply HB; [apply Qle_refl |].
      unfold v. apply Qmult_le_0_compat; [apply best_is_best | assumption]. }
    exists (fun _ => minimum 1 v). split.
    { intros _. split; [apply minimum_spec; lra | apply minimum_le]. }
    revert l Hnodup Hless Hmap Hjudged Hunit.
    induction es as [| e earlier IH]; intros l Hnodup Hless Hmap Hjudged Hunit; [exact I |].
    destruct l as [| slot l]; [discriminate |].
    assert (Hcount : forall g, In g (active st) -> (count g (e :: earlier) <= m)%nat).
    { intros g Hg. destruct (In_nth _ _ 0%nat Hg) as (p & Hp & Ep). fold k in Hp.
      rewrite (turns_are_counts (active st) p g (slot :: l)); auto.
      fold k. apply few_turns; [lia | assumption | assumption |].
      intros x Hx _. specialize (Hless x Hx). lia. }
    assert (Hnone : forall g, ~ In g (active st) -> count g earlier = 0%nat).
    { intros g Hg. clear - Hmap Hg Hk. simpl in Hmap. injection Hmap as _ Hmap. revert l Hmap.
      induction earlier as [| e' earlier IH]; intros l Hmap; [reflexivity |].
      destruct l as [| x l]; [discriminate |]. simpl in Hmap. injection Hmap as He Hmap.
      unfold count in *. simpl. destruct (group_of e' =? g)%nat eqn:E; [| now apply (IH l)].
      exfalso. apply Nat.eqb_eq in E. apply Hg. rewrite <- E, He. apply nth_In.
      apply Nat.mod_upper_bound. lia. }
    simpl in Hmap. injection Hmap as He Hmap.
    destruct Hjudged as [Hjudged (x & o & Hmean & Hx & Ho)].
    inversion Hnodup as [| ? ? Hnew Hnodup']; subst.
    assert (Hearlier : forall g, (count g earlier <= count g (e :: earlier))%nat).
    { intros g. unfold count. simpl. destruct (group_of e =? g)%nat; simpl; lia. }
    simpl. split; [| split].
    - apply (IH l); auto.
      + intros y Hy. apply Hless. simpl. auto.
      + intros e' He'. apply Hunit. simpl. auto.
    - (* a score of the leader *)
      intros Ej. rewrite Ej in *. fold n0 oj in Hmean, Ho.
      assert (Hown : (count j earlier + 1 <= m)%nat).
      { specialize (Hcount j Hj). unfold count in *. simpl in Hcount. rewrite Ej, Nat.eqb_refl in Hcount.
        simpl in Hcount. lia. }
      assert (HxX : (x <= X)%nat) by (unfold X, most_of_leader; lia).
      assert (Hshare : 0 <= Q_of x / Q_of (x + o + n0) <= B).
      { destruct (Nat.eq_dec x 0) as [-> | Hx0]; [rewrite no_share; lra |]. split.
        - apply share_in_unit; lia.
        - apply ratio_le; [lia | lia |]. rewrite !Nat.mul_add_distr_l.
          assert (x * oj <= X * o)%nat by (apply Nat.mul_le_mono; lia).
          assert (x * n0 <= X * n0)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
      apply minimum_spec; [apply Hunit; simpl; auto |]. rewrite Hmean.
      destruct (bias_nondecreasing st _ B (proj1 Hshare) (proj2 Hshare) (proj2 HB)) as [Hb0 Hb1].
      destruct (best_is_best st j) as [Hw0 Hw1]. unfold v.
      apply Qle_trans with (worth st best * bias st (Q_of x / Q_of (x + o + n0))); nra.
    - (* a score of the best group *)
      intros Ei. rewrite Ei in *. fold n0 si in Hmean, Hx.
      assert (HoO : (o <= O)%nat).
      { unfold O, most_others. fold k.
        apply Nat.le_trans with (1 := proj2 Ho).
        assert (Hsum : sum_but cf (fun h => seats_of st h + soon_of cf st h + count h earlier)%nat best
                = (sum_but cf (fun h => seats_of st h + soon_of cf st h) best
                   + sum_over (but (fun h => count h earlier) best) (seq 0 (groups cf)))%nat).
        { rewrite !sum_but_is, <- sum_add. unfold sum_over. f_equal. apply map_ext. intros h.
          unfold but. destruct (h =? best)%nat; lia. }
        rewrite Hsum. apply Nat.add_le_mono_l.
        apply Nat.le_trans with (sum_over (but (fun h => count h earlier) best) (active st)).
        - apply sum_within; [apply seq_NoDup |]. intros h _ Hh. unfold but.
          destruct (h =? best)%nat; [reflexivity | now apply Hnone].
        - destruct (in_split best (active st) Hi) as (l1 & l2 & E).
          assert (Hpart : forall l', (forall h, In h l' -> In h (active st)) ->
            (sum_over (but (fun h => count h earlier) best) l' <= length l' * m)%nat).
          { induction l' as [| h l' IHl]; intros Hin; unfold sum_over in *; simpl; [lia |].
            assert (Hh : (but (fun h => count h earlier) best h <= m)%nat).
            { unfold but. destruct (h =? best)%nat; [lia |].
              specialize (Hcount h (Hin h (or_introl eq_refl))). specialize (Hearlier h). lia. }
            assert (list_sum (map (but (fun h => count h earlier) best) l') <= length l' * m)%nat
              by (apply IHl; intros; apply Hin; simpl; auto). lia. }
          unfold k. rewrite E. unfold sum_over. rewrite map_app, list_sum_app. simpl.
          assert (Hl1 : (list_sum (map (but (fun h => count h earlier) best) l1) <= length l1 * m)%nat).
          { apply Hpart. intros h Hh. rewrite E. apply in_app_iff. auto. }
          assert (Hl2 : (list_sum (map (but (fun h => count h earlier) best) l2) <= length l2 * m)%nat).
          { apply Hpart. intros h Hh. rewrite E. apply in_app_iff. simpl. auto. }
          unfold but at 2. rewrite Nat.eqb_refl, app_length. simpl.
          replace (length l1 + S (length l2) - 1)%nat with (length l1 + length l2)%nat by lia.
          rewrite Nat.mul_add_distr_r. lia. }
      rewrite Hmean. apply Qle_trans with v; [apply minimum_le |].
      assert (Hshare : B <= Q_of x / Q_of (x + o + n0) <= 1).
      { destruct Hcases as [HX | (HX & Hsi & HXsi & Hprod)].
        - assert (EB : B == 0) by (unfold B; rewrite HX; apply no_share). rewrite EB.
          destruct (Nat.eq_dec x 0) as [-> | Hx0]; [rewrite no_share; lra |].
          apply share_in_unit; lia.
        - split; [| apply share_in_unit; lia]. apply ratio_le; [lia | lia |].
          rewrite !Nat.mul_add_distr_l.
          assert (X * o <= X * O)%nat by (apply Nat.mul_le_mono_l; lia).
          assert (si * oj <= x * oj)%nat by (apply Nat.mul_le_mono_r; lia).
          assert (X * n0 <= x * n0)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
      destruct (bias_nondecreasing st B _ (proj1 HB) (proj1 Hshare) (proj2 Hshare)) as [Hb0 Hb1].
      destruct (best_is_best st best) as [Hw0 _]. unfold v. nra.
  Qed.

  (* Slots of the present round, as in HeadStart.v but without a window. *)
  Definition slots_match (nd : node) : Prop :=
    forall arms m, plan ch (rule nd) = Some (arms, m) ->
      NoDup (slots nd) /\ (forall x, In x (slots nd) -> x < length arms * m)%nat
      /\ map group_of (answers nd) = map (fun x => nth (x mod length arms) arms 0%nat) (slots nd)
      /\ forall e, In e (answers nd) -> mean_of e <= 1.

  Lemma seen_slots_match nd : seen nd -> slots_match nd.
  Proof.
    assert (Hnobody : forall st news, slots_match (Node st [] [] news)).
    { intros st news arms m _. simpl. repeat split; try tauto. constructor. }
    induction 1 as [| p nd next Hseen IH Hin]; [apply Hnobody |].
    apply (step_cases cf ch w slots_match nd p next Hin); [apply Hnobody |].
    intros arms m y news E arms' m' E'. simpl in E'. rewrite E in E'. injection E' as <- <-.
    destruct (IH arms m E) as (Hnodup & Hless & Hmap & Hmeans).
    destruct (world_lawful nd Hseen) as (_ & _ & Hslot). destruct (Hslot arms m E) as [Hnew Hlt].
    simpl. repeat split.
    - now constructor.
    - intros x [<- | Hx]; auto.
    - rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl. simpl in E. now rewrite E.
    - intros e [<- | He]; [| now apply Hmeans].
      unfold arriving, mean_of. simpl. exact (mean_at_most_1 cf ch w first_told world_lawful nd Hseen).
  Qed.

  Definition tidy (st : state) : Prop :=
    NoDup (active st) /\ (forall a, In a (active st) -> a < groups cf)%nat
    /\ (forall j, leader st = Some j -> In j (active st)).

  Lemma drop_tidy st : tidy st -> tidy (drop cf ch st).
  Proof.
    intros (A1 & A2 & A3). unfold tidy, drop. simpl active. simpl leader.
    split; [now apply NoDup_filter |]. split.
    - intros a Ha. apply filter_In in Ha. now apply A2.
    - intros j Hj. apply filter_In. split; [now apply A3 |].
      unfold beaten, is_led_by. now rewrite Hj, Nat.eqb_refl.
  Qed.

  Lemma absorb_tidy st scores : tidy st -> tidy (absorb cf ch st scores).
  Proof.
    intros H. unfold absorb. destruct (movers st) as [| x l].
    - set (st1 := take_in cf st _ scores _).
      assert (H1 : tidy st1) by exact H.
      set (st2 := match leader st with Some _ => drop cf ch st1 | None => st1 end).
      assert (H2 : tidy st2).
      { unfold st2. destruct (leader st); [now apply drop_tidy | assumption]. }
      match goal with |- tidy (if ?b then _ else _) => destruct b end; [| assumption].
      destruct (lead ch st2) as [j |]; [| assumption].
      destruct (among j (active st2)) eqn:E; simpl; [| assumption].
      destruct (negb (is_led_by st2 j)); [| assumption].
      destruct H2 as (A1 & A2 & _). split; [exact A1 | split; [exact A2 |]].
      intros j' Hj'. injection Hj' as <-. now apply among_In.
    - destruct H as (A1 & A2 & A3).
      destruct (leader st) as [j |] eqn:El; (split; [exact A1 | split; [exact A2 |]]); simpl;
        [exact A3 | discriminate].
  Qed.

  Lemma prepare_tidy st : tidy st -> tidy (prepare cf ch st).
  Proof.
    intros H. unfold prepare. destruct (head_start cf); [exact H |].
    destruct (leader st); exact H.
  Qed.

  Lemma seen_tidy nd : seen nd -> tidy (rule nd).
  Proof.
    induction 1 as [| p nd next Hseen IH Hin].
    - unfold tidy. simpl. split; [apply seq_NoDup |]. split; [| discriminate].
      intros a Ha. apply in_seq in Ha. lia.
    - unfold branches in Hin. destruct (plan ch (rule nd)) as [[arms m] |] eqn:E; [| destruct Hin].
      apply in_map_iff in Hin as ([q [y note]] & Hstep & Ho). simpl in Hstep. injection Hstep as _ <-.
      unfold step. rewrite E.
      destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat; simpl rule; [| assumption].
      apply prepare_tidy.
      exact (absorb_tidy (rule nd) (scores_of (arriving ch w nd (fst (y, note)) :: answers nd)) IH).
  Qed.

  (* M5, the whole committee, reported to the policy. *)
  Theorem best_group_kept_among_members : forall n, ever tree (is_dropped best) n root <= delta.
  Proof.
    apply best_group_kept_if_not_behind; auto.
    intros nd j Hseen (Hm & Hl & Hne & Hbest & Hmany & s & Hs & _).
    destruct (seen_tidy nd Hseen) as (Hnodup & Hgroups & Hleader).
    set (m := Nat.max 1 (passes_of ch0 (rule nd))).
    assert (Hplan : plan ch (rule nd) = Some (active (rule nd), m)).
    { unfold plan. rewrite Hm. destruct (length (active (rule nd)) <=? 1)%nat eqn:E; [| reflexivity].
      apply Nat.leb_le in E. lia. }
    assert (Hsome : plan ch (rule nd) <> None) by (rewrite Hplan; discriminate).
    destruct (seen_slots_match nd Hseen _ _ Hplan) as (Hslots & Hless & Hmap & Hmeans).
    destruct (world_lawful nd Hseen) as (_ & _ & Hslot). destruct (Hslot _ _ Hplan) as [Hnew Hlt].
    apply (round_among_members (rule nd) j m (next_slot w nd :: slots nd)); auto.
    - unfold m. lia.
    - unfold with_members in Hs. cbn [stakes_of] in Hs. rewrite Hl in Hs. fold m in Hs.
      destruct (members_in_order cf (rule nd) m j best); [reflexivity | destruct Hs].
    - now constructor.
    - intros x [<- | Hx]; auto.
    - simpl. rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl. simpl in Hplan.
      now rewrite Hplan.
    - simpl. split; [now apply seen_judged |].
      exists (judges nd (next_group ch w nd)), (others nd (next_group ch w nd)).
      unfold arriving, group_of, mean_of. simpl. split; [| split].
      + now apply mean_is_worth_times_bias.
      + now apply members_as_told.
      + unfold others. rewrite !sum_but_is. split; apply sum_le; intros h _; unfold but;
          destruct (h =? next_group ch w nd)%nat; try lia; now apply members_as_told.
    - intros e [<- | He]; [| now apply Hmeans].
      unfold arriving, mean_of. simpl. exact (mean_at_most_1 cf ch w first_told world_lawful nd Hseen).
  Qed.
End Members.
