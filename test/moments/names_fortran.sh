#!/bin/bash
# 'quipu goto' and 'quipu when' take Fortran's names as their programmers write them, in upper or lower
# case: procedures of their own, of modules and in one another, the main program, variables and
# components, and elements by all of their indices in Fortran's order.  C's names stay as they are.
. "$(dirname "$0")/lib.bash"
needs_debug_registers
needs gfortran
cat >program.f90 <<'EOF'
module model
  implicit none
  integer :: used = 1
  real(8) :: cube(2,0:3,-1:1)
  type point
    integer :: x
    real :: y(3)
  end type
  type(point) :: points(3)
  type(point), pointer :: one
  real, allocatable :: later(:)
  type, extends(point) :: more
    integer :: z
  end type
  class(point), allocatable :: any, many(:)
contains
  subroutine step(n)
    integer, intent(in) :: n
    integer, save :: calls = 0
    calls = calls + 1
    used = used + n
    cube(2,3,1) = n
    call inner(n)
  contains
    subroutine inner(k)
      integer, intent(in) :: k
      cube(1,0,-1) = cube(1,0,-1) + k
    end subroutine
  end subroutine
end module
subroutine Outer(m)
  use model
  integer m, i
  integer, save :: Total = 0
  do i = 1, m
    Total = Total + i
    call step(i)
  end do
end subroutine
program whole
  use model
  implicit none
  integer :: i
  interface
    subroutine shout() bind(c)
    end subroutine
  end interface
  allocate(one)
  allocate(later(3))
  allocate(more :: any)
  allocate(more :: many(3))
  do i = 1, 10
    call outer(i)
    points(2)%y(3) = i
    later(2) = i
    one%x = 2 * i
    any%x = i
    many(2)%x = i
  end do
  call shout()
end program
EOF
echo 'int Total_c; void shout(void) { Total_c++; } void Shout_2(void) {}' >shout.c
quipu-cc --quipu=moment -O0 -g -c shout.c || fail "cannot build"
quipu-fortran --quipu=moment -O0 -g program.f90 shout.o -o program || fail "cannot build"

leads outer_ outer OUTER outer_
leads __model_MOD_step model::step step Model::Step __model_MOD_step
inner=$(nm program | sed -n 's/.* t \(inner\.[0-9]*\)$/\1/p')
leads "$inner" model::step::inner step::inner inner "$inner"
leads MAIN__ whole Whole MAIN__
for name in Shout model::outer ste outer::step tep; do
    refuses "no function '$name'" -- quipu goto --print "$name@1" -- ./program
done

# becomes EXPRESSION NAME VALUES: it becomes true where a moment is that goto takes, too.
becomes() {
    ends 0 quipu when "$1" -- ./program
    grep -qE "^  $(sed 's/[()]/\\&/g' <<<"$2") +$3" output || fail "'$1': $(cat output)"
    moment=$(sed -n 's/^  moment *\([^ ]*\).*/\1/p' output)
    ends 0 quipu goto --print "$moment" -- ./program
    grep -qF "$moment" output || fail "'$moment': $(cat output)"
}
becomes 'USED > 20' USED '17, then 21'
becomes 'Outer::Total > 20' Outer::Total '20, then 21'
becomes 'model::step::calls == 6' model::step::calls '5, then 6'
becomes 'cube(2,3,1) > 3' 'cube(2,3,1)' '3, then 4'
becomes 'cube[2,3,1] > 3' 'cube\[2,3,1\]' '3, then 4'
becomes 'cube[1][3][2] > 3' 'cube\[1\]\[3\]\[2\]' '3, then 4'
becomes 'cube(1,0,-1) > 3' 'cube(1,0,-1)' '2, then 4'
becomes 'cube(used - 10, points(2)%Y(3) == 0 ? 3 : 3, 1) == 3 && used == 12' used '11, then 12'
becomes 'Points(2)%y(3) > 4' 'Points(2)%y(3)' '4, then 5'
becomes 'one && one%X == 8' 'one%X' '6, then 8'
becomes 'later(2) > 5' 'later(2)' '5, then 6'
becomes 'Later[used / used + 1] == 7' '.*' '6, then 7'
becomes 'any%x > 3' 'any%x' '3, then 4'
becomes 'any%_data%x > 3' 'any%_data%x' '3, then 4'
becomes 'Many(2)%X > 6' 'Many(2)%X' '6, then 7'
becomes 'Total_c' Total_c '0, then 1'
ends 0 quipu when --from=Model::Step 'used >= 1' -- ./program
grep -q 'moment *__model_MOD_step+0x0@' output || fail "$(cat output)"
# wrong TEXT EXPRESSION
wrong() {
    ends 1 quipu when "$2" -- ./program
    grep -qF -- "$1" messages || fail "not '$1': $(cat messages)"
}
wrong "where the elements of 'later' are tells its descriptor" 'later + 1 > 1'
wrong "where the elements of 'later' are tells its descriptor" 'later'
wrong 'an index must be an integer' 'later(1.5) > 1'
wrong 'the array has 1 dimension' 'later(1,2) > 1'
wrong 'the array has 3 dimensions' 'cube(1,2) > 1'
wrong "'many' is no structure" 'many%x > 1'
wrong "'any' has no member 'w'" 'any%w > 1'
wrong 'the indices are from 0 to 3' 'cube(1,4,0) > 1'
wrong 'the indices are from -1 to 1' 'cube[1,0,-2] > 1'
wrong 'the indices are from 1 to 3' 'points(4)%x > 1'
wrong "no variable 'total_c'" 'total_c > 1'
wrong "no variable 'cuba'; did you mean 'cube'" 'cuba(1,2,3) > 1'
wrong "'i' has no fixed address: it is local" 'i(3) > 1'
