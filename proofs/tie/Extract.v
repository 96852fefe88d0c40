(* The rule of Rule.v as OCaml. Integers become those of Zarith, and natural numbers OCaml's; the
   greatest common divisor by which fractions are reduced is Zarith's. *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
From AffinityBandits Require Import Rule.

Extract Constant Z.ggcd =>
  "(fun a b -> let g = Big_int_Z.gcd_big_int a b in
     if Big_int_Z.sign_big_int g = 0 then (g, (a, b))
     else (g, (Big_int_Z.div_big_int a g, Big_int_Z.div_big_int b g)))".

Extraction "rule.ml" published with_panels start tell prepare plan absorb total wealth_of.
