(* "The assumptions of Theorem 1 can be met": for every rule, any groups and any initial members as
   stated there is a world that meets all of them. In it choices are scored in turn by fair coins. *)

From AffinityBandits Require Import Trees Bets Shares Rule Game BestGroupKept HeadStart.
From Coq Require Import Arith.

Section NotVacuous.
  Variable cf : settings.
  Variable ch : choices.
  Hypothesis with_head_start : head_start cf = true.

  Definition coin_world : world :=
    World (fun nd => length (slots nd)) (fun _ => [(1 # 2, (0, 0%nat)); (1 # 2, (1, 0%nat))])
          (fun _ _ => []).

  Notation tree := (branches cf ch coin_world).
  Notation seen := (reachable tree (opening cf [])).

  Definition moving (st : state) : Prop := movers st <> [] -> (1 <= moves st)%nat.

  Lemma least_positive l : l <> [] -> (forall x, In x l -> 1 <= x)%nat -> (1 <= least l)%nat.
  Proof.
    destruct l as [| x l]; [congruence |]. intros _ H. simpl.
    assert (Hx : (1 <= x)%nat) by (apply H; simpl; auto).
    assert (Hl : forall y, In y l -> (1 <= y)%nat) by (intros; apply H; simpl; auto).
    clear H. induction l as [| y l IH]; simpl; [assumption |].
    assert (1 <= y)%nat by (apply Hl; simpl; auto).
    assert (1 <= fold_right Nat.min x l)%nat by (apply IH; intros; apply Hl; simpl; auto). lia.
  Qed.

  Lemma put_in_order_moves st j :
    fst (put_in_order cf st j) <> [] -> (1 <= snd (put_in_order cf st j))%nat.
  Proof.
    unfold put_in_order. set (others := filter (fun a => negb (a =? j)%nat) (active st)).
    destruct (filter (fun a => (0 <? lacking cf st j a)%nat) others) as [| x l] eqn:E.
    - destruct (head_start cf && (0 <? least (map (fun a => has cf st a - needed cf st j)%nat others))%nat) eqn:Er;
        [| simpl; congruence].
      intros _. apply andb_true_iff in Er as [_ Er]. apply Nat.ltb_lt in Er. simpl. lia.
    - intros _. cbn [snd]. apply least_positive; [discriminate |]. intros y Hy.
      apply in_map_iff in Hy as (a & <- & Ha). rewrite <- E in Ha. apply filter_In in Ha as [_ Ha].
      apply Nat.ltb_lt in Ha. lia.
  Qed.

  Lemma absorb_moving st scores : moving (absorb cf ch st scores).
  Proof.
    unfold absorb. destruct (movers st) as [| x l].
    - set (st1 := take_in cf st _ scores _).
      assert (H1 : movers st1 = []) by reflexivity.
      set (st2 := match leader st with Some _ => drop cf ch st1 | None => st1 end).
      assert (H2 : movers st2 = []) by (unfold st2; destruct (leader st); assumption).
      assert (H : moving st2) by (intros Hm; congruence).
      match goal with |- moving (if ?b then _ else _) => destruct b end; [| assumption].
      destruct (lead ch st2) as [j |]; [| assumption].
      destruct (among j (active st2) && negb (is_led_by st2 j)); [| assumption].
      intros Hm. now apply (put_in_order_moves st2 j).
    - destruct (leader st) as [j |].
      + intros Hm. now apply put_in_order_moves.
      + intros Hm. exfalso. now apply Hm.
  Qed.

  Definition in_turn_so_far (nd : node) : Prop :=
    moving (rule nd)
    /\ in_window 1 (slots nd) /\ (forall x, In x (slots nd) <-> (x < length (slots nd))%nat)
    /\ forall arms m, plan ch (rule nd) = Some (arms, m) -> (length (slots nd) < length arms * m)%nat.

  Lemma plan_is_something st arms m :
    moving st -> plan ch st = Some (arms, m) -> (0 < length arms * m)%nat.
  Proof.
    unfold plan. intros Hmoving. destruct (length (active st) <=? 1)%nat eqn:E; [discriminate |].
    apply Nat.leb_gt in E. destruct (movers st) as [| x l] eqn:Em; intros H; injection H as <- <-.
    - apply Nat.mul_pos_pos; [lia |].
      exact (Nat.lt_le_trans 0 1 _ Nat.lt_0_1 (Nat.le_max_l 1 (passes_of ch st))).
    - assert (1 <= moves st)%nat by (apply Hmoving; rewrite Em; discriminate).
      apply Nat.mul_pos_pos; simpl; lia.
  Qed.

  Lemma new_round st news : moving st -> in_turn_so_far (Node st [] [] news).
  Proof.
    intros H. split; [exact H |]. split; [exact I |]. split.
    - intros x. simpl. split; [tauto | lia].
    - intros arms m Hplan. simpl in *. now apply plan_is_something with st.
  Qed.

  Lemma next_in_window nd : in_turn_so_far nd -> in_window 1 (length (slots nd) :: slots nd).
  Proof.
    intros (_ & Hwindow & Hin & _). simpl. split; [| split; [| assumption]].
    - intros H. apply Hin in H. lia.
    - intros y Hy. apply Hin. lia.
  Qed.

  Lemma seen_in_turn nd : seen nd -> in_turn_so_far nd.
  Proof.
    induction 1 as [| p nd next Hseen IH Hin].
    - apply new_round. intros H. exfalso. now apply H.
    - unfold branches in Hin. destruct (plan ch (rule nd)) as [[arms m] |] eqn:E; [| destruct Hin].
      apply in_map_iff in Hin as ([q [y note]] & Hstep & Ho). cbn [fst snd] in Hstep.
      injection Hstep as _ <-. unfold step. rewrite E.
      destruct (length (next_slot coin_world nd :: slots nd) =? length arms * m)%nat eqn:Elast.
      + apply new_round. unfold prepare. rewrite with_head_start.
        exact (absorb_moving (rule nd) (scores_of (arriving ch coin_world nd (fst (y, note)) :: answers nd))).
      + pose proof (next_in_window nd IH) as Hwindow. destruct IH as (Hm & _ & Hslots & Hless).
        split; [exact Hm |]. split; [exact Hwindow |]. split.
        * intros x. cbn [slots length In]. rewrite Hslots. cbn [coin_world next_slot]. lia.
        * intros arms' m' E'. simpl rule in E'. rewrite E in E'. injection E' as <- <-.
          specialize (Hless arms m E). apply Nat.eqb_neq in Elast. simpl in *. lia.
  Qed.

  Theorem assumptions_can_be_met :
    window cf = 1%nat ->
    (forall nd, seen nd -> lawful cf ch coin_world nd)
    /\ (forall nd, seen nd -> plan ch (rule nd) <> None ->
          in_window (window cf) (next_slot coin_world nd :: slots nd))
    /\ (forall nd x, mean_score coin_world nd == (1 # 2) * (fun _ : Q => 1) x).
  Proof.
    intros ->. split; [| split].
    - intros nd Hseen. pose proof (seen_in_turn nd Hseen) as H. split; [| split].
      + split; [| reflexivity]. intros p a [E | [E | []]]; injection E as <- _; lra.
      + intros p y note [E | [E | []]]; injection E as _ <- _; lra.
      + intros arms m Hplan. destruct H as (_ & _ & Hslots & Hless). simpl. split; [| now apply Hless].
        intros Hin. apply Hslots in Hin. lia.
    - intros nd Hseen _. apply next_in_window. now apply seen_in_turn.
    - intros nd x. reflexivity.
  Qed.
End NotVacuous.
