(* "Let choices be scored one after the other, or out of order within a window of D, and let
   everybody chosen join once scored. Let f >= 0 be nondecreasing and the same for all groups, all
   true means at least 0, and initial members as stated. Then the best group is ever dropped with
   probability at most delta" (Theorems 1 and 2).

   This is about the function [absorb] of Rule.v, for every choice of leaders, passes, centers and
   stakes that uses the past only, and so for the published one. f and the true means may change
   from round to round, depending on the past. *)

From AffinityBandits Require Import Trees Bets Shares Rule Game BestGroupKept.
From Coq Require Import Arith ZArith.

#[local] Arguments Nat.div : simpl never.

Lemma ratio_le (a b c d : nat) :
  (0 < b)%nat -> (0 < d)%nat -> (a * d <= c * b)%nat -> Q_of a / Q_of b <= Q_of c / Q_of d.
Proof.
  intros Hb Hd H.
  assert (Hpos : forall n, (0 < n)%nat -> 0 < Q_of n).
  { intros n Hn. unfold Q_of. rewrite <- (Zlt_Qlt 0). lia. }
  assert (Hq : Q_of a * Q_of d <= Q_of c * Q_of b).
  { unfold Q_of. rewrite <- !inject_Z_mult, <- Zle_Qle, <- !Nat2Z.inj_mul. lia. }
  pose proof (Hpos b Hb) as Hb'. pose proof (Hpos d Hd) as Hd'.
  apply Qle_shift_div_r; [assumption |].
  assert (E : Q_of c / Q_of d * Q_of b == (Q_of c * Q_of b) / Q_of d) by (field; lra).
  rewrite E. apply Qle_shift_div_l; assumption.
Qed.

Lemma share_in_unit (a b : nat) : (a <= b)%nat -> (0 < b)%nat -> 0 <= Q_of a / Q_of b <= 1.
Proof.
  intros Hab Hb. split.
  - assert (E : Q_of 0 / Q_of 1 == 0) by reflexivity. rewrite <- E. apply ratio_le; lia.
  - assert (E : Q_of 1 / Q_of 1 == 1) by reflexivity. rewrite <- E. apply ratio_le; lia.
Qed.

Definition sum_over (f : nat -> nat) (l : list nat) : nat := list_sum (map f l).

Lemma sum_over_incl f l l' : NoDup l -> incl l l' -> (sum_over f l <= sum_over f l')%nat.
Proof.
  revert l'. induction l as [| a l IH]; intros l' Hl Hincl; [unfold sum_over; simpl; lia |].
  inversion Hl; subst. destruct (in_split a l') as (l1 & l2 & ->); [apply Hincl; simpl; auto |].
  assert (H : (sum_over f l <= sum_over f (l1 ++ l2))%nat).
  { apply IH; [assumption |]. intros x Hx. assert (x <> a) by congruence.
    specialize (Hincl x (or_intror Hx)). apply in_app_iff in Hincl. apply in_app_iff.
    destruct Hincl as [| [|]]; auto. congruence. }
  unfold sum_over in *. rewrite map_app, list_sum_app in *. simpl. lia.
Qed.

Lemma sum_over_ahead f l j x g :
  NoDup l -> In j l -> f j = x -> (forall a, In a l -> a <> j -> x + g <= f a)%nat ->
  (length l * x + (length l - 1) * g <= sum_over f l)%nat.
Proof.
  intros Hl Hj Hx Hothers. destruct (in_split j l Hj) as (l1 & l2 & ->).
  assert (H : forall l', (forall a, In a l' -> x + g <= f a)%nat ->
                         (length l' * (x + g) <= sum_over f l')%nat).
  { induction l' as [| a l' IH]; intros H; unfold sum_over in *; simpl; [lia |].
    assert (x + g <= f a)%nat by (apply H; simpl; auto).
    assert (length l' * (x + g) <= list_sum (map f l'))%nat by (apply IH; intros; apply H; simpl; auto).
    lia. }
  apply NoDup_remove_2 in Hl.
  assert (H1 := H l1). assert (H2 := H l2). clear H.
  specialize (H1 ltac:(intros a Ha; apply Hothers; [apply in_app_iff; auto |];
                       intros ->; apply Hl, in_app_iff; auto)).
  specialize (H2 ltac:(intros a Ha; apply Hothers; [apply in_app_iff; simpl; auto |];
                       intros ->; apply Hl, in_app_iff; auto)).
  unfold sum_over in *. rewrite map_app, list_sum_app, app_length. simpl. rewrite Hx. nia.
Qed.

Lemma count_le g l : (count g l <= length l)%nat.
Proof.
  unfold count. induction l as [| e l IH]; simpl; [lia |]. destruct (group_of e =? g)%nat; simpl; lia.
Qed.

Section Shares.
  Variable cf : settings.
  Variable ch : choices.
  Variable initial : nat -> nat.

  Definition members_before (st : state) (g : nat) : nat := (initial g + pulls_of st g)%nat.

  Definition committee_before (st : state) : nat := sum_over (members_before st) (seq 0 (groups cf)).

  (* The share of a group once the [earlier] answers of the round have been given. *)
  Definition share (st : state) (earlier : list answer) (g : nat) : Q :=
    Q_of (members_before st g + count g earlier) / Q_of (committee_before st + length earlier).

  (* The same with people whom the rule does not count: of the group, and in all. *)
  Definition share_with (own all : nat) (st : state) (earlier : list answer) (g : nat) : Q :=
    Q_of (members_before st g + count g earlier + own)
    / Q_of (committee_before st + length earlier + all).

  Lemma share_without st earlier g : share_with 0 0 st earlier g = share st earlier g.
  Proof. unfold share_with, share. now rewrite !Nat.add_0_r. Qed.

  (* The mean of each score is the true mean times the bias at the share; both may depend on how
     many scores of the round the group already has. Up to u people are not counted. *)
  Variable u : nat.

  Fixpoint told_by (worth : nat -> nat -> Q) (bias : nat -> Q -> Q) (st : state)
    (l : list answer) : Prop :=
    match l with
    | [] => True
    | e :: earlier =>
        told_by worth bias st earlier
        /\ let g := group_of e in let c := count g earlier in
           exists own all, (own <= all <= u)%nat
             /\ mean_of e == worth c g * bias c (share_with own all st earlier g)
    end.

  Lemma turns_are_counts arms p g (l : list nat) (es : list answer) :
    NoDup arms -> (p < length arms)%nat -> nth p arms 0%nat = g ->
    map group_of es = map (fun x => nth (x mod length arms) arms 0%nat) l ->
    count g es = turns (length arms) p l.
  Proof.
    intros Harms Hp Ep. revert l. induction es as [| e es IH]; intros [| x l] H; try discriminate;
      [reflexivity |].
    simpl in H. injection H as He Hrest. unfold count, turns in *. simpl.
    assert (E : (group_of e =? g)%nat = at_position (length arms) p x).
    { rewrite He. unfold at_position. destruct (x mod length arms =? p)%nat eqn:Ex.
      - apply Nat.eqb_eq in Ex. rewrite Ex, Ep. apply Nat.eqb_refl.
      - apply Nat.eqb_neq. intros Heq. apply Nat.eqb_neq in Ex. apply Ex.
        apply (NoDup_nth arms 0%nat); [assumption | apply Nat.mod_upper_bound; lia | assumption |].
        now rewrite Ep. }
    rewrite E. destruct (at_position (length arms) p x); simpl; now rewrite (IH l).
  Qed.

  Definition minimum (x y : Q) : Q := if Qle_bool x y then x else y.

  Lemma minimum_spec x y z : z <= x -> z <= y -> z <= minimum x y.
  Proof. unfold minimum. destruct (Qle_bool x y); auto. Qed.

  Lemma minimum_le x y : minimum x y <= x /\ minimum x y <= y.
  Proof.
    unfold minimum. destruct (Qle_bool x y) eqn:E.
    - apply Qle_bool_iff in E. split; lra.
    - split; [| lra]. apply Qlt_le_weak, Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence.
  Qed.

  (* A round of passes in which shares are in order. *)
  Lemma round_in_order st worth bias j best l es :
    (forall c g, 0 <= worth c g <= worth c best) ->
    (forall c x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias c x <= bias c y) ->
    (1 <= window cf)%nat ->
    NoDup (active st) -> (forall a, In a (active st) -> a < groups cf)%nat ->
    In j (active st) -> In best (active st) -> j <> best ->
    (forall a, In a (active st) -> a <> j ->
       members_before st j + u + window cf / 2 + 1 <= members_before st a)%nat ->
    in_window (window cf) l ->
    map group_of es = map (fun x => nth (x mod length (active st)) (active st) 0%nat) l ->
    told_by worth bias st es ->
    (forall e, In e es -> mean_of e <= 1) ->
    exists level, (forall c, 0 <= level c <= 1) /\ lies_between level j best es.
  Proof.
    intros Hworth Hbias HD Hnodup Hgroups Hj Hi Hne Hahead Hwindow Hmap Htold Hunit.
    set (k := length (active st)) in *. set (D := window cf) in *.
    assert (Hk : (2 <= k)%nat).
    { unfold k. destruct (active st) as [| x [| y r]]; simpl in *; [tauto | | lia].
      destruct Hj as [<- |]; [| tauto]. destruct Hi; [congruence | tauto]. }
    destruct (In_nth _ _ 0%nat Hj) as (p_j & Hpj & Epj).
    destruct (In_nth _ _ 0%nat Hi) as (p_i & Hpi & Epi). fold k in Hpj, Hpi.
    set (a := ((D - 1) / k)%nat). set (b := ((D - 1) mod k)%nat).
    assert (HDab : D = (k * a + b + 1)%nat).
    { pose proof (Nat.div_mod (D - 1) k ltac:(lia)). unfold a, b. lia. }
    assert (Hb : (b < k)%nat) by (apply Nat.mod_upper_bound; lia).
    set (E := others_in_window k a b). set (g := (D / 2 + 1)%nat).
    set (x_j := (members_before st j + u)%nat) in *. set (x_i := members_before st best).
    set (A := (committee_before st + u)%nat).
    assert (HA : (k * x_j + (k - 1) * g <= A)%nat).
    { assert (Hsum : (k * members_before st j + (k - 1) * (u + g) <= committee_before st)%nat).
      { apply Nat.le_trans with (sum_over (members_before st) (active st)).
        - apply (sum_over_ahead _ _ j); auto. intros a' Ha' Hne'. specialize (Hahead a' Ha' Hne').
          unfold g, x_j in *. lia.
        - apply sum_over_incl; [assumption |]. intros a' Ha'. apply in_seq. specialize (Hgroups a' Ha'). lia. }
      unfold x_j, A. rewrite Nat.mul_add_distr_l in *.
      assert (k * u = (k - 1) * u + u)%nat by (clear - Hk; nia). lia. }
    assert (Hin : forall a', In a' (active st) -> (members_before st a' <= committee_before st)%nat).
    { intros a' Ha'. unfold committee_before.
      replace (members_before st a') with (sum_over (members_before st) [a'])
        by (unfold sum_over; simpl; lia).
      apply sum_over_incl; [constructor; [simpl; tauto | constructor] |].
      intros a'' [<- | []]. apply in_seq. specialize (Hgroups a' Ha'). lia. }
    assert (Hxi : (x_j + g <= x_i)%nat).
    { specialize (Hahead best Hi ltac:(auto)). unfold g, x_i. lia. }
    assert (Hg : (k * a + b + 2 <= 2 * g)%nat).
    { unfold g. pose proof (Nat.div_mod D 2 ltac:(lia)). pose proof (Nat.mod_upper_bound D 2 ltac:(lia)). lia. }
    assert (HE : (E < (k - 1) * g)%nat).
    { unfold E, others_in_window.
      assert (H1 : ((k - 1) * (k * a + b + 2) <= (k - 1) * (2 * g))%nat) by (apply Nat.mul_le_mono_l; lia).
      assert (H2 : (2 * ((k - 1) * a) <= k * ((k - 1) * a))%nat) by (apply Nat.mul_le_mono_r; lia).
      assert (H3 : (2 * b < (k - 1) * b + 2 * (k - 1))%nat).
      { destruct (Nat.eq_dec k 2) as [Ek | Nk]; [rewrite Ek in *; lia |].
        assert (2 * b <= (k - 1) * b)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
      assert (H4 : ((k - 1) * (k * a + b + 2) = k * ((k - 1) * a) + (k - 1) * b + 2 * (k - 1))%nat) by ring.
      lia. }
    set (bottom := fun c => (A + k * c + p_j - E)%nat).
    assert (Hbottom : forall c, (x_j + c <= bottom c /\ 0 < bottom c)%nat).
    { intros c. unfold bottom.
      assert (1 * x_j <= k * x_j)%nat by (apply Nat.mul_le_mono_r; lia).
      assert (1 * c <= k * c)%nat by (apply Nat.mul_le_mono_r; lia). lia. }
    set (B := fun c => Q_of (x_j + c) / Q_of (bottom c)).
    assert (HB : forall c, 0 <= B c <= 1).
    { intros c. apply share_in_unit; apply Hbottom. }
    exists (fun c => minimum 1 (worth c best * bias c (B c))).
    assert (Hlevel : forall c, 0 <= worth c best * bias c (B c)).
    { intros c. destruct (Hbias c (B c) (B c)) as [H0 _]; try apply HB; [apply Qle_refl |].
      destruct (Hworth c best). nra. }
    split.
    { intros c. split; [apply minimum_spec; [lra | apply Hlevel] | apply minimum_le]. }
    (* one answer after the other *)
    revert l Hwindow Hmap Htold Hunit. induction es as [| e earlier IH]; intros l Hwindow Hmap Htold Hunit;
      [exact I |].
    destruct l as [| x l]; [discriminate |]. simpl in Hmap. injection Hmap as He Hmap.
    destruct Htold as [Htold (own & all & Hown & Hmean)].
    assert (Hwindow' : in_window D l) by apply Hwindow.
    assert (Hlen : length earlier = length l).
    { rewrite <- (map_length group_of), Hmap, map_length. reflexivity. }
    assert (Hposition : forall p, (p < k)%nat -> group_of e = nth p (active st) 0%nat -> at_position k p x = true).
    { intros p Hp Heq. unfold at_position. apply Nat.eqb_eq.
      apply (NoDup_nth (active st) 0%nat); [assumption | apply Nat.mod_upper_bound; lia | assumption |].
      rewrite <- He. assumption. }
    simpl. split; [| split].
    - apply (IH l); auto. intros e' He'. apply Hunit. simpl. auto.
    - (* the leader's share is at most B *)
      intros Ej. rewrite Ej in Hmean. set (c := count j earlier) in *.
      assert (Hc : c = turns k p_j l) by (apply turns_are_counts; auto).
      pose proof (answers_before k D ltac:(lia) a b HDab Hb p_j x l Hpj Hwindow
                    (Hposition p_j Hpj ltac:(congruence))) as Hbefore.
      fold E in Hbefore. rewrite <- Hc in Hbefore.
      assert (Hc_le : (c <= length earlier)%nat) by apply count_le.
      pose proof (Hin j Hj) as Hmine.
      assert (Hpositive : (0 < committee_before st + length earlier + all)%nat).
      { specialize (Hin best Hi). unfold x_j, g in *. lia. }
      set (share_j := share_with own all st earlier j) in *.
      assert (Hshare : share_j <= B c).
      { unfold share_j, share_with, B. fold c. apply ratio_le; [assumption | apply Hbottom |].
        apply Nat.le_trans with
          ((members_before st j + c + own) * (committee_before st + length earlier + u))%nat.
        - apply Nat.mul_le_mono_l. unfold bottom, A. lia.
        - unfold x_j. set (y := (members_before st j + c + own)%nat).
          set (t := (committee_before st + length earlier)%nat).
          assert (Hy : (y <= t + own)%nat) by (unfold y, t; lia).
          apply Nat.le_trans with ((y + (u - own)) * (t + own))%nat.
          + rewrite Nat.mul_add_distr_r, !Nat.mul_add_distr_l.
            assert ((u - own) * y <= (u - own) * (t + own))%nat by (apply Nat.mul_le_mono_l; lia).
            assert (y * u = y * own + (u - own) * y)%nat
              by (rewrite (Nat.mul_comm (u - own)), <- Nat.mul_add_distr_l; f_equal; lia).
            rewrite Nat.mul_add_distr_l in *. lia.
          + apply Nat.mul_le_mono; unfold y, t; lia. }
      assert (Hunit_share : 0 <= share_j <= 1).
      { split; [| specialize (HB c); lra]. unfold share_j, share_with.
        apply share_in_unit; lia. }
      apply minimum_spec; [apply Hunit; simpl; auto |]. rewrite Hmean.
      destruct (Hbias c share_j (B c)) as [H0 H1]; try apply Hunit_share; auto; [apply HB |].
      destruct (Hworth c j) as [H2 H3].
      apply Qle_trans with (worth c best * bias c share_j); nra.
    - (* the best group's share is at least B *)
      intros Ei. rewrite Ei in Hmean. set (c := count best earlier) in *.
      assert (Hc : c = turns k p_i l) by (apply turns_are_counts; auto).
      pose proof (answers_before_at_most k D ltac:(lia) a b HDab Hb p_i x l Hpi Hwindow
                    (Hposition p_i Hpi ltac:(congruence))) as Hbefore.
      fold E in Hbefore. rewrite <- Hc in Hbefore.
      assert (Hc_le : (c <= length earlier)%nat) by apply count_le.
      pose proof (Hin best Hi) as Hmine.
      assert (Hpositive : (0 < committee_before st + length earlier + all)%nat).
      { unfold x_j, x_i, g in *. lia. }
      set (share_i := share_with own all st earlier best) in *.
      assert (Hshare : B c <= share_i).
      { unfold share_i, share_with, B. fold x_i c. apply ratio_le; [apply Hbottom | assumption |].
        apply Nat.le_trans with ((x_j + c) * (A + length earlier))%nat;
          [apply Nat.mul_le_mono_l; unfold A; lia |].
        apply Nat.le_trans with ((x_i + c) * bottom c)%nat; [| apply Nat.mul_le_mono_r; lia].
        apply Nat2Z.inj_le. rewrite !Nat2Z.inj_mul.
        pose proof (share_arithmetic (Z.of_nat k) (Z.of_nat a) (Z.of_nat b) (Z.of_nat g) (Z.of_nat x_j)
                      (Z.of_nat x_i) (Z.of_nat A) (Z.of_nat c)
                      (Z.of_nat k * Z.of_nat c + Z.of_nat p_j - Z.of_nat E) (Z.of_nat (length earlier))
                      (Z.of_nat p_j) (Z.of_nat p_i) (Z.of_nat E)) as Harith.
        assert (HEZ : Z.of_nat E = ((Z.of_nat k - 1) * Z.of_nat a + Z.of_nat b)%Z).
        { unfold E, others_in_window. rewrite Nat2Z.inj_add, Nat2Z.inj_mul, Nat2Z.inj_sub by lia. reflexivity. }
        assert (HAZ : (Z.of_nat k * Z.of_nat x_j + (Z.of_nat k - 1) * Z.of_nat g <= Z.of_nat A)%Z).
        { apply Nat2Z.inj_le in HA. rewrite Nat2Z.inj_add, !Nat2Z.inj_mul, Nat2Z.inj_sub in HA by lia. exact HA. }
        assert (HgZ : (Z.of_nat k * Z.of_nat a + Z.of_nat b + 2 <= 2 * Z.of_nat g)%Z).
        { apply Nat2Z.inj_le in Hg. rewrite !Nat2Z.inj_add, !Nat2Z.inj_mul in Hg. exact Hg. }
        assert (HbZ : (Z.of_nat (length earlier) <= Z.of_nat k * Z.of_nat c + Z.of_nat p_i + Z.of_nat E)%Z).
        { rewrite Hlen. apply Nat2Z.inj_le in Hbefore. rewrite !Nat2Z.inj_add, !Nat2Z.inj_mul in Hbefore. exact Hbefore. }
        specialize (Harith ltac:(lia) ltac:(lia) ltac:(lia) HgZ HEZ ltac:(lia) ltac:(lia) ltac:(lia)
                      ltac:(lia) ltac:(lia) HAZ ltac:(lia) HbZ).
        assert (Hbot : Z.of_nat (bottom c) = (Z.of_nat A + (Z.of_nat k * Z.of_nat c + Z.of_nat p_j - Z.of_nat E))%Z).
        { unfold bottom. rewrite Nat2Z.inj_sub by (clear - HE HA; nia).
          rewrite !Nat2Z.inj_add, Nat2Z.inj_mul. lia. }
        rewrite Hbot, !Nat2Z.inj_add. exact Harith. }
      assert (Hshare1 : share_i <= 1).
      { unfold share_i, share_with. fold x_i c. apply share_in_unit; unfold x_i in *; lia. }
      rewrite Hmean. apply Qle_trans with (worth c best * bias c (B c)); [apply minimum_le |].
      destruct (Hbias c (B c) share_i) as [H0 H1]; auto; [apply HB |].
      destruct (Hworth c best). nra.
  Qed.
End Shares.

(* The rule puts shares in order before it bets. *)
Section Ordered.
  Variable cf : settings.
  Variable ch : choices.

  Definition ordered (st : state) : Prop :=
    NoDup (active st)
    /\ (forall a, In a (active st) -> a < groups cf)%nat
    /\ (forall j, leader st = Some j -> In j (active st))
    /\ (forall j a, leader st = Some j -> movers st = [] -> In a (active st) -> a <> j ->
         needed cf st j <= has cf st a)%nat.

  Hypothesis with_head_start : head_start cf = true.

  Lemma put_in_order_spec st j a :
    fst (put_in_order cf st j) = [] -> In a (active st) -> a <> j -> (needed cf st j <= has cf st a)%nat.
  Proof.
    unfold put_in_order. intros H Ha Hne.
    set (others := filter (fun a => negb (a =? j)%nat) (active st)) in *.
    destruct (filter (fun a => (0 <? lacking cf st j a)%nat) others) as [| x l] eqn:E.
    - destruct (Nat.le_gt_cases (needed cf st j) (has cf st a)) as [| Hlt]; [assumption |]. exfalso.
      assert (Hin : In a (filter (fun a => (0 <? lacking cf st j a)%nat) others)).
      { apply filter_In. split.
        - apply filter_In. split; [assumption |]. apply negb_true_iff, Nat.eqb_neq. assumption.
        - apply Nat.ltb_lt. unfold lacking. rewrite with_head_start. lia. }
      rewrite E in Hin. destruct Hin.
    - discriminate.
  Qed.

  Lemma pulls_tabulated f g : (g < groups cf)%nat -> nth g (tabulate (groups cf) f) 0%nat = f g.
  Proof. apply nth_tabulate. Qed.

  Lemma led_ordered st j : ordered st -> In j (active st) -> ordered (led cf ch st j).
  Proof.
    intros (H1 & H2 & H3 & H4) Hj. unfold ordered, led. simpl. repeat split; auto.
    - intros j' Hj'. now injection Hj' as <-.
    - intros j' a Hj' Hm Ha Hne. injection Hj' as <-.
      change (needed cf st j <= has cf st a)%nat. now apply put_in_order_spec.
  Qed.

  Lemma drop_ordered st : ordered st -> ordered (drop cf ch st).
  Proof.
    intros (H1 & H2 & H3 & H4). unfold ordered, drop. simpl. repeat split.
    - now apply NoDup_filter.
    - intros a Ha. apply filter_In in Ha. apply H2, Ha.
    - intros j Hj. apply filter_In. split; [now apply H3 |].
      unfold beaten, is_led_by. now rewrite Hj, Nat.eqb_refl.
    - intros j a Hj Hm Ha Hne. apply filter_In in Ha as [Ha _].
      change (needed cf st j <= has cf st a)%nat. auto.
  Qed.

  Lemma take_in_ordered st m scores ws :
    movers st = [] -> ordered st -> ordered (take_in cf st m scores ws).
  Proof.
    intros Hm (H1 & H2 & H3 & H4). unfold ordered. simpl. repeat split; auto.
    intros j a Hj _ Ha Hne. specialize (H4 j a Hj Hm Ha Hne). specialize (H3 j Hj).
    unfold needed, has, pulls_of in *. simpl. rewrite !pulls_tabulated by auto.
    apply among_In in Ha, H3. rewrite Ha, H3. unfold pulls_of. lia.
  Qed.

  Lemma absorb_ordered st scores : ordered st -> ordered (absorb cf ch st scores).
  Proof.
    intros H. unfold absorb. destruct (movers st) as [| x l] eqn:Em.
    - set (st1 := take_in cf st _ scores _).
      assert (H1 : ordered st1) by (now apply take_in_ordered).
      set (st2 := match leader st with Some _ => drop cf ch st1 | None => st1 end).
      assert (H2 : ordered st2) by (unfold st2; destruct (leader st); [now apply drop_ordered | assumption]).
      match goal with |- ordered (if ?b then _ else _) => destruct b end; [| assumption].
      destruct (lead ch st2) as [j |]; [| assumption].
      destruct (among j (active st2)) eqn:E; simpl; [| assumption].
      destruct (negb (is_led_by st2 j)); [| assumption]. apply led_ordered; [assumption |].
      now apply among_In.
    - destruct H as (H1 & H2 & H3 & H4). destruct (leader st) as [j |] eqn:El.
      + unfold ordered. simpl. rewrite ?El. split; [| split; [| split]]; auto.
        intros j' a Hj' Hm Ha Hne. injection Hj' as <-.
        match type of Hm with fst (put_in_order cf ?s j) = [] =>
          change (needed cf s j <= has cf s a)%nat; apply put_in_order_spec; auto end.
      + unfold ordered. simpl. repeat split; auto; intros; congruence.
  Qed.

  Lemma start_ordered first_told : ordered (start cf first_told).
  Proof.
    unfold ordered. simpl. repeat split; try discriminate; [apply seq_NoDup |].
    intros a Ha. apply in_seq in Ha. lia.
  Qed.
End Ordered.

Section HeadStart.
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

  (* Up to u people join whom the rule does not count; the most initial members allow for them. *)
  Variable u : nat.
  Variable uncounted_of : node -> nat -> nat.
  Variable uncounted : node -> nat.
  Hypothesis few_uncounted : forall nd g, seen nd -> (uncounted_of nd g <= uncounted nd <= u)%nat.
  Hypothesis initial_members_as_stated : forall g, (g < groups cf)%nat ->
    (nth g (fewest cf) 0 <= initial g /\ initial g + u <= nth g (most cf) 0)%nat.

  (* A slot is handed out only once every slot D or more before it has its score. *)
  Hypothesis within_window : (1 <= window cf)%nat /\
    forall nd, seen nd -> plan ch (rule nd) <> None ->
      in_window (window cf) (next_slot w nd :: slots nd).

  Definition answers_match (nd : node) : Prop :=
    forall arms m, plan ch (rule nd) = Some (arms, m) ->
      map group_of (answers nd) = map (fun x => nth (x mod length arms) arms 0%nat) (slots nd)
      /\ forall e, In e (answers nd) -> mean_of e <= 1.

  (* In one step a round goes on or another begins. *)
  Lemma step_cases (P : node -> Prop) nd p next :
    In (p, next) (tree nd) ->
    (forall st news, P (Node st [] [] news)) ->
    (forall arms m y news, plan ch (rule nd) = Some (arms, m) ->
       P (Node (rule nd) (next_slot w nd :: slots nd) (arriving ch w nd y :: answers nd) news)) ->
    P next.
  Proof.
    intros Hin Hnew Hsame. unfold branches in Hin.
    destruct (plan ch (rule nd)) as [[arms m] |] eqn:E; [| destruct Hin].
    apply in_map_iff in Hin as ([q [y note]] & Hstep & Ho). simpl in Hstep. injection Hstep as _ <-.
    unfold step. rewrite E.
    destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat; [apply Hnew |].
    now apply (Hsame arms m).
  Qed.

  Lemma seen_ordered nd : seen nd -> ordered cf (rule nd).
  Proof.
    induction 1 as [| p nd next Hseen IH Hin]; [apply start_ordered |].
    unfold branches in Hin. destruct (plan ch (rule nd)) as [[arms m] |] eqn:E; [| destruct Hin].
    apply in_map_iff in Hin as ([q [y note]] & Hstep & Ho). simpl in Hstep. injection Hstep as _ <-.
    unfold step. rewrite E.
    destruct (length (next_slot w nd :: slots nd) =? length arms * m)%nat; simpl; [| assumption].
    unfold prepare. rewrite with_head_start.
    change (ordered cf (absorb cf ch (rule nd)
              (scores_of (arriving ch w nd (fst (y, note)) :: answers nd)))).
    now apply absorb_ordered.
  Qed.

  Lemma mean_at_most_1 nd : seen nd -> mean_score w nd <= 1.
  Proof.
    intros H. destruct (world_lawful nd H) as (Hp & Hy & _).
    apply (mean_within 0 1 fst (outcomes w nd) Hp).
    intros p [y note] Hin. simpl. eauto.
  Qed.

  Lemma seen_match nd : seen nd -> answers_match nd.
  Proof.
    induction 1 as [| p nd next Hseen IH Hin].
    - intros arms m _. simpl. split; [reflexivity | tauto].
    - eapply step_cases; [exact Hin | |].
      + intros st news arms m _. simpl. split; [reflexivity | tauto].
      + intros arms m y news E arms' m' E'. simpl in E'. rewrite E in E'. injection E' as <- <-.
        destruct (IH arms m E) as [Hmap Hmeans]. simpl. split.
        * rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl. now rewrite E.
        * intros e [<- | He]; [unfold arriving, mean_of; simpl; now apply mean_at_most_1 | auto].
  Qed.

  (* True means and bias as functions of the round's first state, f nondecreasing on [0, 1]. *)
  Variable worth : state -> nat -> Q.
  Variable bias : state -> Q -> Q.
  Hypothesis best_is_best : forall st g, 0 <= worth st g <= worth st best.
  Hypothesis bias_nondecreasing :
    forall st x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias st x <= bias st y.
  Hypothesis mean_is_worth_times_bias : forall nd, seen nd -> plan ch (rule nd) <> None ->
    let g := next_group ch w nd in
    mean_score w nd == worth (rule nd) g
      * bias (rule nd) (share_with cf initial (uncounted_of nd g) (uncounted nd) (rule nd) (answers nd) g).

  Lemma seen_told nd : seen nd ->
    told_by cf initial u (fun _ => worth (rule nd)) (fun _ => bias (rule nd)) (rule nd) (answers nd).
  Proof.
    induction 1 as [| p nd next Hseen IH Hin]; [exact I |].
    apply (step_cases (fun nd => told_by cf initial u (fun _ => worth (rule nd))
                                   (fun _ => bias (rule nd)) (rule nd) (answers nd)) nd p next Hin);
      [intros; exact I |].
    intros arms m y news E. simpl. split; [assumption |].
    exists (uncounted_of nd (next_group ch w nd)), (uncounted nd). split; [now apply few_uncounted |].
    unfold arriving, mean_of, group_of. simpl. apply mean_is_worth_times_bias; [assumption |].
    rewrite E. discriminate.
  Qed.

  (* Theorems 1 and 2, and the statement on members who are not counted. *)
  Theorem best_group_kept_with_uncounted : forall n, ever tree (is_dropped best) n root <= delta.
  Proof.
    apply best_group_kept_if_not_behind; auto.
    intros nd j Hseen (Hm & Hl & Hne & Hbest & Hmany & _).
    destruct (seen_ordered nd Hseen) as (Hnodup & Hgroups & Hleader & Horder).
    assert (Hplan : plan ch (rule nd) = Some (active (rule nd), Nat.max 1 (passes_of ch (rule nd)))).
    { unfold plan. rewrite Hm. destruct (length (active (rule nd)) <=? 1)%nat eqn:E; [| reflexivity].
      apply Nat.leb_le in E. lia. }
    destruct (seen_match nd Hseen _ _ Hplan) as [Hmap Hmeans].
    destruct within_window as [HD Hwindow].
    apply (round_in_order cf initial u (rule nd) (fun _ => worth (rule nd)) (fun _ => bias (rule nd))
             j best (next_slot w nd :: slots nd)); auto.
    - intros a Ha Hna. specialize (Horder j a Hl Hm Ha Hna).
      pose proof (initial_members_as_stated a (Hgroups a Ha)).
      pose proof (initial_members_as_stated j (Hgroups j (Hleader j Hl))).
      unfold needed, has, members_before in *. lia.
    - apply Hwindow; [assumption |]. rewrite Hplan. discriminate.
    - simpl. rewrite Hmap. f_equal. unfold arriving, group_of, next_group. simpl. now rewrite Hplan.
    - simpl. split; [now apply seen_told |].
      exists (uncounted_of nd (next_group ch w nd)), (uncounted nd). split; [now apply few_uncounted |].
      unfold arriving, mean_of, group_of. simpl. apply mean_is_worth_times_bias; [assumption |].
      rewrite Hplan. discriminate.
    - intros e [<- | He]; [unfold arriving, mean_of; simpl; now apply mean_at_most_1 | auto].
  Qed.
End HeadStart.

(* Theorems 1 and 2. *)
Theorem best_group_kept cf ch w delta best first_told initial :
  let tree := branches cf ch w in
  let seen := reachable tree (opening cf first_told) in
  proper cf delta best -> head_start cf = true -> fair ch ->
  (forall nd, seen nd -> lawful cf ch w nd) ->
  (forall g, (g < groups cf)%nat -> (nth g (fewest cf) 0 <= initial g <= nth g (most cf) 0)%nat) ->
  ((1 <= window cf)%nat /\
   forall nd, seen nd -> plan ch (rule nd) <> None -> in_window (window cf) (next_slot w nd :: slots nd)) ->
  forall worth bias,
  (forall st g, 0 <= worth st g <= worth st best) ->
  (forall st x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias st x <= bias st y) ->
  (forall nd, seen nd -> plan ch (rule nd) <> None ->
     let g := next_group ch w nd in
     mean_score w nd == worth (rule nd) g * bias (rule nd) (share cf initial (rule nd) (answers nd) g)) ->
  forall n, ever tree (is_dropped best) n (opening cf first_told) <= delta.
Proof.
  intros tree seen Hproper Hhead Hfair Hlawful Hinitial Hwindow worth bias Hbest Hbias Hmean.
  apply (best_group_kept_with_uncounted cf ch w delta best first_told initial) with
    (u := 0%nat) (uncounted_of := fun _ _ => 0%nat) (uncounted := fun _ => 0%nat)
    (worth := worth) (bias := bias); auto.
  - intros g Hg. specialize (Hinitial g Hg). lia.
  - intros nd Hseen Hplan. cbv zeta. rewrite share_without. now apply Hmean.
Qed.

(* The published choices only move wealth. *)
Lemma to_prior_fair cf part ws :
  (forall x, In x (prior cf) -> 0 <= x) -> total (prior cf) <= 1 -> 0 <= part <= 1 ->
  (forall x, In x ws -> 0 <= x) ->
  (forall x, In x (to_prior cf part ws) -> 0 <= x) /\ total (to_prior cf part ws) <= total ws.
Proof.
  intros Hprior Hone Hpart Hws. unfold to_prior. set (t := total ws).
  assert (Ht : 0 <= t) by (now apply total_positive).
  assert (H : forall ps vs, (forall x, In x ps -> 0 <= x) -> (forall x, In x vs -> 0 <= x) ->
    let l := map (fun one : Q * Q => let (p, old) := one in Qred (part * t * p + (1 - part) * old))
                 (combine ps vs) in
    (forall x, In x l -> 0 <= x) /\ total l <= part * t * total ps + (1 - part) * total vs).
  { induction ps as [| p ps IH]; intros vs Hps Hvs; simpl.
    - split; [tauto |]. pose proof (total_positive vs Hvs).
      assert (0 <= (1 - part) * total vs) by (apply Qmult_le_0_compat; lra). lra.
    - destruct vs as [| v vs]; simpl map.
      + split; [tauto |]. pose proof (total_positive (p :: ps) Hps). change (total []) with 0.
        assert (0 <= part * t) by (apply Qmult_le_0_compat; lra).
        assert (0 <= part * t * total (p :: ps)) by (apply Qmult_le_0_compat; lra).
        rewrite Qmult_0_r, Qplus_0_r. assumption.
      + destruct (IH vs) as [H1 H2]; [intros; apply Hps; simpl; auto | intros; apply Hvs; simpl; auto |].
        assert (0 <= p) by (apply Hps; simpl; auto). assert (0 <= v) by (apply Hvs; simpl; auto).
        assert (0 <= part * t) by (apply Qmult_le_0_compat; lra).
        assert (0 <= part * t * p) by (apply Qmult_le_0_compat; lra).
        assert (0 <= (1 - part) * v) by (apply Qmult_le_0_compat; lra). split.
        * intros x [<- | Hx]; [rewrite Qred_correct; lra | now apply H1].
        * rewrite !total_cons, !Qred_correct. cbv zeta in H2. lra. }
  destruct (H (prior cf) ws Hprior Hws) as [H1 H2]. split; [exact H1 |].
  eapply Qle_trans; [exact H2 |]. fold t.
  assert (0 <= part * t) by (apply Qmult_le_0_compat; lra).
  assert (0 <= part * t * (1 - total (prior cf))) by (apply Qmult_le_0_compat; lra). lra.
Qed.

Lemma published_fair cf delta best stakes clearly_squared lost :
  proper cf delta best -> fair (published cf stakes clearly_squared lost).
Proof.
  intros (_ & _ & _ & Hprior & Hone) st i ws Hws. simpl. split.
  - unfold published_returned. apply to_prior_fair; auto. unfold part_returned. lra.
  - unfold published_restarted. apply to_prior_fair; auto. lra.
Qed.

(* The rule that the tie to the code runs: Theorem 1 for the published choices, whatever rational
   stakes, prior and margins are used for the irrational ones. *)
Theorem best_group_kept_by_the_published_rule cf w delta best initial worth bias stakes clearly_squared lost :
  let ch := published cf stakes clearly_squared lost in
  let tree := branches cf ch w in
  let root := opening cf [] in
  let seen := reachable tree root in
  proper cf delta best ->
  head_start cf = true ->
  (forall nd, seen nd -> lawful cf ch w nd) ->
  (forall g, (g < groups cf)%nat -> (nth g (fewest cf) 0 <= initial g <= nth g (most cf) 0)%nat) ->
  ((1 <= window cf)%nat /\
   forall nd, seen nd -> plan ch (rule nd) <> None -> in_window (window cf) (next_slot w nd :: slots nd)) ->
  (forall st g, 0 <= worth st g <= worth st best) ->
  (forall st x y, 0 <= x -> x <= y -> y <= 1 -> 0 <= bias st x <= bias st y) ->
  (forall nd, seen nd -> plan ch (rule nd) <> None ->
     let g := next_group ch w nd in
     mean_score w nd == worth (rule nd) g * bias (rule nd) (share cf initial (rule nd) (answers nd) g)) ->
  forall n, ever tree (is_dropped best) n root <= delta.
Proof.
  intros ch tree root seen Hproper Hhead Hlawful Hinitial Hwindow Hbest Hbias Hmean.
  apply (best_group_kept cf ch w delta best [] initial) with (worth := worth) (bias := bias); auto.
  eapply published_fair. eassumption.
Qed.
