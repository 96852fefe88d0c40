(* The rule of elimination with a head start, as a function over exact rational numbers: the plan of
   a round, the order of pulls, the wealth of the bets, who is dropped.

   [choices] is what the theorem leaves open: any functions of everything seen so far. [published]
   are those of the policy's definition, for scores in [0, 1] and a failure probability. *)

From AffinityBandits Require Import Trees Bets.
From Coq Require Import Arith.

Record settings : Type := Settings {
  groups : nat;
  head_start : bool;        (* whether shares are put in order; false for panels and recusal *)
  fewest : list nat;        (* per group: initial members at least *)
  most : list nat;          (* per group: initial members at most *)
  window : nat;             (* D: how far out of order slots may be answered *)
  threshold : Q;            (* wealth at which a group is dropped, 1/delta *)
  prior : list Q            (* wealth on each stake at first *)
}.

Record state : Type := State {
  pulls : list nat;
  active : list nat;
  leader : option nat;
  movers : list nat;        (* groups that are pulled alone, to put shares in order *)
  moves : nat;              (* how often each of them *)
  passes : nat;             (* finished *)
  rounds : nat;             (* finished, of those in which all took part *)
  doubled : nat;            (* passes when wealth last returned to the prior *)
  recent : Q;               (* passes, discounted by age *)
  sums : list Q;            (* per group: scores, discounted likewise *)
  squares : list Q;
  wealth : list (list Q);   (* per group and stake *)
  record : list (list (nat * Q));  (* all rounds so far: groups and scores *)
  told : list nat           (* what the world tells before a round, such as seats *)
}.

Record choices : Type := Choices {
  passes_of : state -> nat;
  center_of : state -> nat -> Q;
  stakes_of : state -> nat -> list Q;
  returned : state -> nat -> list Q -> list Q;
  lead : state -> option nat;
  restarted : state -> nat -> list Q -> list Q;
  extra : state -> list nat * nat    (* groups to pull alone before a round, without a head start *)
}.

Definition tabulate {A} (n : nat) (f : nat -> A) : list A := map f (seq 0 n).
Definition among (a : nat) (l : list nat) : bool := existsb (Nat.eqb a) l.
Definition total (wealth : list Q) : Q := fold_right (fun w t => Qred (w + t)) 0 wealth.
Definition wealth_of (st : state) (i : nat) : list Q := nth i (wealth st) [].
Definition pulls_of (st : state) (i : nat) : nat := nth i (pulls st) 0%nat.

Definition is_led_by (st : state) (i : nat) : bool :=
  match leader st with
  | Some j => (i =? j)%nat
  | None => false
  end.

(* The groups that take turns in the next round, and how often; none once a single group is left. *)
Definition plan (ch : choices) (st : state) : option (list nat * nat) :=
  if (length (active st) <=? 1)%nat then None
  else match movers st with
       | [] => Some (active st, Nat.max 1 (passes_of ch st))
       | _ => Some (movers st, moves st)
       end.

(* A stake that could lose more than 0.9 of its wealth on one score is not bet. *)
Definition guarded (center stake : Q) : Q :=
  if Qle_bool 0 stake && Qle_bool (stake * center) (9 # 10)
     && Qle_bool (stake * (1 - center)) (9 # 10)
  then stake else 0.

Definition product_of_scores (stake center : Q) (j i : nat) (scores : list (nat * Q)) : Q :=
  product (fun s => Qred (factor stake center j i (fst s) (snd s))) scores.

(* Each stake multiplies its wealth; wealth without a stake is kept. *)
Fixpoint settle (f : Q -> Q) (wealth stakes : list Q) : list Q :=
  match wealth, stakes with
  | w :: ws, s :: ss => Qred (w * f s) :: settle f ws ss
  | _, _ => wealth
  end.

Definition bet (ch : choices) (st : state) (scores : list (nat * Q)) (i : nat) : list Q :=
  match leader st with
  | Some j =>
      if (i =? j)%nat || negb (among i (active st)) then wealth_of st i
      else let c := center_of ch st i in
           settle (fun s => product_of_scores (guarded c s) c j i scores)
                  (wealth_of st i) (stakes_of ch st i)
  | None => wealth_of st i
  end.

Definition sum_of (f : Q -> Q) (g : nat) (scores : list (nat * Q)) : Q :=
  fold_right (fun s t => if (fst s =? g)%nat then f (snd s) + t else t) 0 scores.

Definition Q_of (n : nat) : Q := inject_Z (Z.of_nat n).

(* Take in a round of m passes whose bets are settled. *)
Definition take_in (cf : settings) (st : state) (m : nat) (scores : list (nat * Q))
  (wealth' : list (list Q)) : state :=
  let kept := Q_of (passes st) / Q_of (passes st + m) in
  let added f old g :=
    if among g (active st) then Qred (kept * nth g old 0 + sum_of f g scores) else nth g old 0 in
  State
    (tabulate (groups cf) (fun g => if among g (active st) then pulls_of st g + m else pulls_of st g)%nat)
    (active st) (leader st) [] 0 (passes st + m) (rounds st + 1) (doubled st)
    (Qred (kept * recent st + Q_of m))
    (tabulate (groups cf) (added (fun y => y) (sums st)))
    (tabulate (groups cf) (added (fun y => y * y) (squares st)))
    wealth' (scores :: record st) (told st).

Definition beaten (cf : settings) (st : state) (i : nat) : bool :=
  negb (is_led_by st i) && Qle_bool (threshold cf) (total (wealth_of st i)).

Definition drop (cf : settings) (ch : choices) (st : state) : state :=
  let kept := filter (fun i => negb (beaten cf st i)) (active st) in
  let returns := (2 * doubled st <=? passes st)%nat in
  State (pulls st) kept (leader st) (movers st) (moves st) (passes st) (rounds st)
    (if returns then passes st else doubled st)
    (recent st) (sums st) (squares st)
    (tabulate (groups cf) (fun i =>
       if returns && among i kept && negb (is_led_by st i) then returned ch st i (wealth_of st i)
       else wealth_of st i))
    (record st) (told st).

Definition needed (cf : settings) (st : state) (j : nat) : nat :=
  (pulls_of st j + nth j (most cf) 0 + window cf / 2 + 1)%nat.

Definition has (cf : settings) (st : state) (a : nat) : nat :=
  (pulls_of st a + nth a (fewest cf) 0)%nat.

Definition lacking (cf : settings) (st : state) (j a : nat) : nat :=
  if head_start cf then (needed cf st j - has cf st a)%nat else 0%nat.

Definition least (l : list nat) : nat :=
  match l with
  | [] => 0
  | x :: rest => fold_right Nat.min x rest
  end.

(* Pull the others until they are ahead of the leader, then the leader until it is nearly even. *)
Definition put_in_order (cf : settings) (st : state) (j : nat) : list nat * nat :=
  let others := filter (fun a => negb (a =? j)%nat) (active st) in
  let behind := filter (fun a => (0 <? lacking cf st j a)%nat) others in
  match behind with
  | [] => let room := least (map (fun a => has cf st a - needed cf st j)%nat others) in
          if head_start cf && (0 <? room)%nat then ([j], room) else ([], 0%nat)
  | _ => (behind, least (map (lacking cf st j) behind))
  end.

Definition with_order (st : state) (order : list nat * nat) : state :=
  State (pulls st) (active st) (leader st) (fst order) (snd order) (passes st) (rounds st)
    (doubled st) (recent st) (sums st) (squares st) (wealth st) (record st) (told st).

Definition led (cf : settings) (ch : choices) (st : state) (j : nat) : state :=
  let order := put_in_order cf st j in
  State (pulls st) (active st) (Some j) (fst order) (snd order) (passes st) (rounds st)
    (doubled st) (recent st) (sums st) (squares st)
    (tabulate (groups cf) (fun i =>
       if among i (active st) then restarted ch st i (wealth_of st i) else wealth_of st i))
    (record st) (told st).

(* Take in the scores of the round that was planned. *)
Definition absorb (cf : settings) (ch : choices) (st : state) (scores : list (nat * Q)) : state :=
  match movers st with
  | [] =>
      let m := Nat.max 1 (passes_of ch st) in
      let st1 := take_in cf st m scores (tabulate (groups cf) (bet ch st scores)) in
      let st2 := match leader st with Some _ => drop cf ch st1 | None => st1 end in
      let may_change :=
        (1 <? length (active st2))%nat
        && match leader st with Some _ => Nat.even (rounds st2) | None => true end in
      if may_change then
        match lead ch st2 with
        | Some j => if among j (active st2) && negb (is_led_by st2 j) then led cf ch st2 j else st2
        | None => st2
        end
      else st2
  | _ =>
      let st1 :=
        State
          (tabulate (groups cf) (fun g =>
             if among g (movers st) then pulls_of st g + moves st else pulls_of st g)%nat)
          (active st) (leader st) [] 0 (passes st) (rounds st) (doubled st) (recent st) (sums st)
          (squares st) (wealth st) (scores :: record st) (told st) in
      match leader st with
      | Some j => with_order st1 (put_in_order cf st1 j)
      | None => st1
      end
  end.

Definition start (cf : settings) (first_told : list nat) : state :=
  State (tabulate (groups cf) (fun _ => 0%nat)) (seq 0 (groups cf)) None [] 0 0 0 1 0
    (tabulate (groups cf) (fun _ => 0)) (tabulate (groups cf) (fun _ => 0))
    (tabulate (groups cf) (fun _ => prior cf)) [] first_told.

Definition tell (st : state) (news : list nat) : state :=
  State (pulls st) (active st) (leader st) (movers st) (moves st) (passes st) (rounds st)
    (doubled st) (recent st) (sums st) (squares st) (wealth st) (record st) news.

(* Once the world has told its news, a rule without a head start may pull some groups alone. *)
Definition prepare (cf : settings) (ch : choices) (st : state) : state :=
  if head_start cf then st
  else match leader st with
       | Some _ => with_order st (fst (extra ch st), Nat.max 1 (snd (extra ch st)))
       | None => st
       end.

(* With panels, bets are placed only against groups with at least as many seats as the leader. *)
Definition seats_of (st : state) (i : nat) : nat := nth i (told st) 0%nat.

Definition with_panels (ch : choices) : choices :=
  Choices (passes_of ch) (center_of ch)
    (fun st i => match leader st with
                 | Some j => if (seats_of st j <=? seats_of st i)%nat then stakes_of ch st i else []
                 | None => []
                 end)
    (returned ch) (lead ch) (restarted ch) (extra ch).

(* If the policy is told each group's members and how many may begin in the round, bets are placed
   only against groups whose share is surely at least the leader's. The world tells the members of
   all groups, and then who may begin. *)
Definition soon_of (cf : settings) (st : state) (g : nat) : nat := nth (groups cf + g) (told st) 0%nat.

Definition sum_but (cf : settings) (f : nat -> nat) (g : nat) : nat :=
  list_sum (map (fun h => if (h =? g)%nat then 0%nat else f h) (seq 0 (groups cf))).

Definition most_of_leader (cf : settings) (st : state) (m j : nat) : nat :=
  (seats_of st j + soon_of cf st j + m - 1)%nat.

Definition most_others (cf : settings) (st : state) (m i : nat) : nat :=
  (sum_but cf (fun h => seats_of st h + soon_of cf st h) i + (length (active st) - 1) * m)%nat.

Definition members_in_order (cf : settings) (st : state) (m j i : nat) : bool :=
  let x := most_of_leader cf st m j in
  (x * (seats_of st i + most_others cf st m i)
   <=? seats_of st i * Nat.max 1 (x + sum_but cf (seats_of st) j))%nat.

Definition with_members (cf : settings) (ch : choices) : choices :=
  Choices (passes_of ch) (center_of ch)
    (fun st i => match leader st with
                 | Some j => if members_in_order cf st (Nat.max 1 (passes_of ch st)) j i
                             then stakes_of ch st i else []
                 | None => []
                 end)
    (returned ch) (lead ch) (restarted ch) (extra ch).

(* The choices of the policy's definition. Irrational numbers are given as rational ones. *)
Section Published.
  Variable cf : settings.
  Variable stakes : list Q.              (* the first is 0: cash *)
  Variable clearly_squared : list Q.     (* by the number of active groups *)
  Variable lost : Q.                     (* e^100 *)

  Definition first_part : nat := 12.
  Definition round_part : nat := 40.
  Definition least_noise : Q := 3 # 100.
  Definition part_returned : Q := 2 # 100.

  Definition larger (x y : Q) : Q := if Qle_bool x y then y else x.
  Definition smaller (x y : Q) : Q := if Qle_bool x y then x else y.
  Definition highest (l : list nat) : nat := fold_right Nat.max 0%nat l.

  Definition published_passes (st : state) : nat :=
    let shortest := ((window cf + groups cf - 1) / groups cf)%nat in
    if (passes st =? 0)%nat
    then Nat.max 4 (Nat.max shortest ((highest (most cf) - least (fewest cf)) / first_part))
    else Nat.max 1 (Nat.max shortest (passes st / round_part)).

  Definition estimated_mean (st : state) (g : nat) : Q :=
    Qred ((nth g (sums st) 0 + 1) / (recent st + 2)).

  Definition estimated_variance (st : state) (g : nat) : Q :=
    let s := nth g (sums st) 0 in
    let seen := if Qeq_bool (recent st) 0 then 0 else nth g (squares st) 0 - s * s / recent st in
    Qred ((larger 0 seen + (2 # 10)) / (recent st + 2)).

  Definition published_center (st : state) (i : nat) : Q :=
    match leader st with
    | Some j => Qred ((estimated_mean st i + estimated_mean st j) / 2)
    | None => 1 # 2
    end.

  Definition published_stakes (st : state) (i : nat) : list Q :=
    match leader st with
    | Some j =>
        let c := published_center st i in
        let cap := (9 # 10) / larger c (1 - c) in
        let v := larger (estimated_variance st i) (estimated_variance st j) in
        let p := Q_of (passes st + published_passes st) in
        let w := wealth_of st i in
        let top := fold_right larger 0 w in
        map (fun sw : Q * Q =>
               let (s, w) := sw in
               if Qle_bool least_noise (s * s * v * p) && Qle_bool top (w * lost)
               then Qred (smaller s cap) else 0)
            (combine stakes w)
    | None => []
    end.

  Definition to_prior (part : Q) (w : list Q) : list Q :=
    let t := total w in
    map (fun one : Q * Q => let (p, old) := one in Qred (part * t * p + (1 - part) * old))
        (combine (prior cf) w).

  Definition published_returned (st : state) (i : nat) (w : list Q) : list Q :=
    to_prior part_returned w.

  Definition published_restarted (st : state) (i : nat) (w : list Q) : list Q := to_prior 1 w.

  (* The active group with the largest discounted sum; the lowest number among equal ones. *)
  Definition best_of_late (st : state) : nat :=
    fold_left (fun best a => if Qle_bool (nth a (sums st) 0) (nth best (sums st) 0) then best else a)
              (active st) (hd 0%nat (active st)).

  Definition published_lead (st : state) : option nat :=
    let best := best_of_late st in
    match leader st with
    | None => Some best
    | Some j =>
        let ahead := nth best (sums st) 0 - nth j (sums st) 0 in
        let left := length (active st) in
        let cost := fold_right Nat.add 0%nat
          (map (lacking cf st best) (filter (fun a => negb (a =? best)%nat) (active st))) in
        let noise := (estimated_variance st best + estimated_variance st j) * recent st
                     * (1 + 3 * Q_of cost / Q_of (left * passes st)) in
        if Qle_bool ahead 0 || Qle_bool (ahead * ahead) (nth left clearly_squared 0 * noise)
        then None else Some best
    end.

  Definition published : choices :=
    Choices published_passes published_center published_stakes published_returned published_lead
      published_restarted (fun _ => ([], 0%nat)).
End Published.
