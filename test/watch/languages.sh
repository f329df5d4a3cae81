#!/bin/bash
# Objects of Fortran and C++ that C does not have: modules, common blocks, arrays whose first index is
# not 0 and whose first index runs fastest, strings, complex numbers, virtual bases.
. "$(dirname "$0")/lib.bash"
needs gfortran

# says TEXT: the error has it.
says() {
    grep -qF -- "quipu: error: $1" messages || fail "not '$1': $(cat messages)"
}

cat >program.f90 <<'EOT2'
module model
  implicit none
  integer :: used = 1
  real(8) :: row(5), grid(2,3), cube(2,0:1,-1:0)
  integer :: around(-2:2)
  complex :: wave
  character(len=8) :: title
  type point
    integer :: x
    real :: y(3)
  end type
  type(point) :: points(3)
  real, allocatable :: later(:)
end module
subroutine add(n)
  use model
  implicit none
  integer :: n, shared, parts(4)
  common /block/ shared, parts
  used = used + n
  shared = n
end subroutine
program main
  use model
  implicit none
  integer :: shared, parts(4), place
  common /block/ shared, parts
  place = 4
  call add(3)
  row(place) = 1.5d0
  row(5) = 2
  grid(2,1) = 7
  grid(1,3) = 9
  cube(2,1,-1) = 3
  around(-2) = 1
  around(2) = 5
  wave = (1.5, -2.5)
  title(2:2) = 'x'
  points(3)%x = 8
  points(1)%y(2) = 2.5
  parts(4) = 6
  allocate(later(10))
  later(3) = 4
end program
EOT2
for level in -O0 '-O1 -fno-inline'; do
    read -ra flags <<<"$level"
    quipu-fortran --quipu=watch "${flags[@]}" -g program.f90 -o program || fail "$level: cannot build"
    watches 0 -e model::used -e shared -e block::parts -e 'around[-2]' -- ./program
    tells 'model::used 1 -> 4' 'shared 0 -> 3' 'around[-2] 0 -> 1' 'block::parts(4) 0 -> 6'
    watches 0 -e row -- ./program
    tells 'row(4) 0 -> 1.5' 'row(5) 0 -> 2'
    watches 0 -e 'row[5]' --if 'row(4) == 1.5 && new == 2' -- ./program
    tells 'row[5] 0 -> 2'
    watches 0 -e 'Row(5)' --if 'row[4] == 1.5 && new == 2' -- ./program
    tells 'Row(5) 0 -> 2'
    watches 0 -e 'row[1..4]' -- ./program
    tells 'row[4] 0 -> 1.5'
    watches 0 -e 'grid[1][2]' -e 'grid[3]' -- ./program
    tells 'grid[1][2] 0 -> 7' 'grid[3][1] 0 -> 9'
    # Fortran's order, of which the first index runs fastest.
    watches 0 -e 'grid(2,1)' -e 'grid(:,3)' -- ./program
    tells 'grid(2,1) 0 -> 7' 'grid(1,3) 0 -> 9'
    watches 0 -e 'GRID(1:2, 1)' -e 'grid[1,3]' -- ./program
    tells 'GRID(2, 1) 0 -> 7' 'grid[1,3] 0 -> 9'
    watches 0 -e grid -- ./program
    tells 'grid(2,1) 0 -> 7' 'grid(1,3) 0 -> 9'
    watches 0 -e 'grid(:,2:3)' -- ./program
    tells 'grid(1,3) 0 -> 9'
    watches 0 -e cube -e 'cube(:,0:1,-1)' -- ./program
    tells 'cube(2,1,-1) 0 -> 3' 'cube(2,1,-1) 0 -> 3'
    watches 0 -e 'around(-2:0)' -e 'around[-1..2]' -e 'title(2:3)' -e 'Points(1:2)' -e 'points(3)%X' \
        -- ./program
    tells 'around(-2) 0 -> 1' 'around[2] 0 -> 5' "title(2) 0 -> 'x' (120)" 'points(3)%X 0 -> 8' \
        'Points(1)%y(2) 0 -> 2.5'
    watches 0 -e around -e title -e points -- ./program
    tells 'around(-2) 0 -> 1' 'around(2) 0 -> 5' "title(2) 0 -> 'x' (120)" 'points(3)%x 0 -> 8' \
        'points(1)%y(2) 0 -> 2.5'
    watches 0 --guard used --allow ADD -- ./program
    watches 1 --guard used --allow main -- ./program
    grep -q 'used .* VIOLATION' hits || fail "$(cat hits)"
done
cat >text.f90 <<'EOP'
module texts
  character(len=8) :: name = 'abc', names(2) = ' '
contains
  subroutine fill(text)
    character(len=8), intent(in) :: text
    name = text
    names(2) = text
  end subroutine
end module
program main
  use texts
  call fill('whole123')
end program
EOP
quipu-fortran --quipu=watch -O1 -fno-inline -g text.f90 -o text || fail "cannot build 'text'"
watches 0 -e texts::name -e texts::names -- ./text
tells 'texts::name "abc " -> "whole123"' 'texts::names(2) " " -> "whole123"'
[[ $(grep -cF '(character(len=8))' hits) == 2 ]] || fail "no type: $(cat hits)"
watches 1 -e 'row[0..4]' -- ./program
says 'the first index is 1'
watches 1 -e 'row[2..6]' -- ./program
says 'there are 5 elements; the last index is 5'
watches 1 -e later -- ./program
says "where the elements of 'later' are tells its descriptor"
watches 1 -e 'row(0:4)' -- ./program
says 'the first index is 1'
watches 1 -e 'around(-2:3)' -- ./program
says 'there are 5 elements; the last index is 2'
watches 1 -e 'grid(2,1:2)' -- ./program
says "a slice's elements must lie next to each other"
watches 1 -e 'grid(2)' -- ./program
says 'the array has 2 dimensions'
quipu-fortran --quipu=watch -O0 -g program.f90 -o program || fail "cannot build"
watches 0 -e wave -- ./program
tells 'wave 0 + 0i -> 1.5 + 0i' 'wave 1.5 + 0i -> 1.5 + -2.5i'

cat >program.cc <<'EOT2'
struct base {
    virtual ~base() {}
    int shared = 1;
};
struct left : virtual base {
    int l = 2;
};
struct right : virtual base {
    int r = 3;
};
struct both : left, right {
    int own = 4;
} object;
base *volatile to_base;
right *volatile to_right;
int left::*volatile member;
int main(int arguments, char **) {
    to_base = &object;
    object.l = 5;
    object.own = 6;
    to_base->shared = 7;
    to_right = &object;
    to_right->r = 8;
    if (arguments > 1)
        object.l = 9;
    member = &left::l;
}
EOT2
quipu-c++ --quipu=watch -O0 -g program.cc -o program || fail 'cannot build'
watches 0 -e object.l -e object.own -e 'to_base->shared' --if 'new > 4' -- ./program
tells 'object.l 2 -> 5' 'object.own 4 -> 6' 'to_base->shared 1 -> 7'
watches 1 -e object.shared -- ./program
says "'shared' is in a virtual base of 'object'"
# Casts go to bases that lie elsewhere in the object, and back.
watches 0 -e '((right *)&object)->r' -e '((both *)to_right)->own' --if 'new > 4' -- ./program
tells '((right *)&object)->r 3 -> 8'
watches 0 --follow -e '((left *)(both *)to_right)->l' --if 'new > 4' -- ./program again
tells '((left *)(both *)to_right)->l 5 -> 9'
watches 1 -e '((base *)&object)->shared' -- ./program
says 'that leads over a virtual base'
watches 1 -e '((both *)to_base)->own' -- ./program
says 'that leads over a virtual base'
watches 0 -e member -- ./program
grep -q "member .* -> 0x8 " hits || fail "$(cat hits)"
leaves_nothing

# Variables that are templates, by gcc's and clang's debug information.
cat >template.cc <<'EOT'
template <class T> T counter;
template <class T, int N> T pairs[N];
namespace inner {
template <class T> int single;
}
int main() {
    counter<int> = 3;
    counter<unsigned long> = 4;
    pairs<int, 3>[1] = 5;
    inner::single<char *> = 6;
    return counter<int> + (int)counter<unsigned long> + pairs<int, 3>[1] + inner::single<char *> - 18;
}
EOT
for compiler in quipu-c++ quipu-clang++; do
    has ${compiler#quipu-} || continue
    $compiler --quipu=watch -O1 -g template.cc -o template || fail "$compiler: cannot build"
    watches 0 -e 'counter<int>' -e 'counter<unsigned long>' -e 'pairs<int,3>[0..2]' -e inner::single \
        --if 'counter<int> < 4' -- ./template
    tells 'counter<int> 0 -> 3' 'counter<unsigned long> 0 -> 4' 'pairs<int,3>[1] 0 -> 5' \
        'inner::single 0 -> 6'
    watches 1 -e counter -- ./template
    says "'counter' is there more than once; write 'template.cc:counter<int>' or "
done
leaves_nothing
