-- SPDX-License-Identifier: MIT
with Ada.Text_IO;
procedure Source is
   task Sleeper;
   task body Sleeper is
   begin
      delay 1000.0;
   end Sleeper;
   function Nest (N : Integer) return Integer is
      Line : String (1 .. 10);
      Last : Natural;
   begin
      if N > 0 then
         return Nest (N - 1) + 1;
      end if;
      Ada.Text_IO.Get_Line (Line, Last);
      return Last;
   end Nest;
begin
   Ada.Text_IO.Put_Line (Integer'Image (Nest (5)));
end Source;
