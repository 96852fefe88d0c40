(* Follows histories by the rule of Rule.v: reads settings and rounds, prints plans and wealths.

   A history is seven lines of settings, two lines per round, and the line "end". The lines of a
   round are each group's seats, which only panels use, and tallies, which count each planned group's
   scores at 0, 1/16, ..., 1. Fractions are written 3/7. *)

module Integer = Z
open Rule

let words line = List.filter (fun w -> w <> "") (String.split_on_char ' ' line)

let fraction word =
  match String.split_on_char '/' word with
  | [ n; d ] -> qred { qnum = Integer.of_string n; qden = Integer.of_string d }
  | _ -> failwith ("not a fraction: " ^ word)

let next () = words (input_line stdin)
let numbers () = List.map int_of_string (next ())
let fractions () = List.map fraction (next ())

(* The logarithm of a large integer by its leading bits. *)
let log_of_integer z =
  let shift = max 0 (Integer.numbits z - 60) in
  log (Integer.to_float (Integer.shift_right z shift)) +. (float_of_int shift *. log 2.0)

let log_of q = log_of_integer q.qnum -. log_of_integer q.qden

let show cf ch st =
  (match plan ch st with
   | None -> print_string "over"
   | Some (arms, times) ->
       Printf.printf "%d of %s" times (String.concat "," (List.map string_of_int arms)));
  Printf.printf "; %s; %d;"
    (String.concat "," (List.map string_of_int st.active))
    (match st.leader with Some j -> j | None -> -1);
  List.iter
    (fun i -> Printf.printf " %.17g" (log_of (total (wealth_of st i))))
    (List.init cf.groups (fun i -> i));
  print_newline ()

(* Each planned group's scores, one by one. *)
let scores_of arms tallies =
  let scores = ref [] in
  List.iteri
    (fun at times ->
      let score = qred { qnum = Integer.of_int (at mod 17); qden = Integer.of_int 16 } in
      for _ = 1 to times do
        scores := (List.nth arms (at / 17), score) :: !scores
      done)
    tallies;
  !scores

let follow () =
  let kind, groups, window, threshold =
    match next () with
    | [ kind; k; d; t ] -> (kind, int_of_string k, int_of_string d, fraction t)
    | _ -> failwith "the first line has the kind, the groups, the window and the threshold"
  in
  let head_start = kind = "head-start" in
  let fewest = numbers () in
  let most = numbers () in
  let stakes = fractions () in
  let prior = fractions () in
  let clearly_squared = fractions () in
  let lost = List.hd (fractions ()) in
  let cf = { groups; head_start; fewest; most; window; threshold; prior } in
  let ch = published cf stakes clearly_squared lost in
  let ch = if kind = "panel" then with_panels ch else ch in
  let rec go st =
    show cf ch st;
    match next () with
    | [ "end" ] -> ()
    | seats ->
        let st = prepare cf ch (tell st (List.map int_of_string seats)) in
        let arms = match plan ch st with Some (arms, _) -> arms | None -> failwith "over" in
        go (absorb cf ch st (scores_of arms (numbers ())))
  in
  go (start cf [])

let () = try while true do follow () done with End_of_file -> ()
