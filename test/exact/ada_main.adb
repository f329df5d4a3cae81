-- Ada: nested procedures, exceptions, ranges that are checked, a case.
-- variants: -O0; -O2; -O3
with Ada.Text_IO;

procedure Ada_Main is
   Failures : Natural := 0;
   Sum      : Integer := 0;

   type Kind is (Red, Green, Blue, White, Black);
   type Table is array (Positive range <>) of Integer;

   function Weight (K : Kind) return Integer is
   begin
      case K is
         when Red   => return 3;
         when Green => return 5;
         when Blue  => raise Constraint_Error;
         when White => return 11;
         when Black => return Sum mod 7;
      end case;
   end Weight;

   function Fibonacci (N : Natural) return Natural is
     (if N < 2 then N else Fibonacci (N - 1) + Fibonacci (N - 2));

   procedure Add (Values : Table; From : Integer) is
   begin
      for I in From .. From + 2 loop
         Sum := Sum + Values (I);
      end loop;
   exception
      when Constraint_Error =>
         Failures := Failures + 1;
   end Add;

begin
   for K in Kind loop
      begin
         Sum := Sum + Weight (K);
      exception
         when Constraint_Error => Failures := Failures + 10;
      end;
   end loop;
   Add ((1, 2, 3, 4), 1);
   Add ((1, 2, 3, 4), 3);
   Ada.Text_IO.Put_Line (Integer'Image (Sum) & Natural'Image (Failures)
                         & Natural'Image (Fibonacci (9)));
end Ada_Main;
