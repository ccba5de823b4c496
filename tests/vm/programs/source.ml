(* SPDX-License-Identifier: MIT
 *)
let rec nest n = if n = 0 then String.length (input_line stdin) else 1 + nest (n - 1)
let () = List.iter (fun n -> print_int (nest n)) [ 5 ]
