{ SPDX-License-Identifier: MIT
}
program source;
var line: string;
function nest(n: integer): integer;
begin
  if n > 0 then nest := nest(n - 1) + 1
  else begin readln(line); nest := 1 end
end;
begin
  writeln(nest(5))
end.
