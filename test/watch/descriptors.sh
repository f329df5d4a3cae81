#!/bin/bash
# Fortran's allocatable and pointer arrays: their elements are where a descriptor tells, with the bounds
# and strides that it has at the time, also when they come to lie elsewhere.
. "$(dirname "$0")/lib.bash"
needs gfortran

# says TEXT: the error has it.
says() {
    grep -qF -- "quipu: error: $1" messages || fail "not '$1': $(cat messages)"
}

cat >program.f90 <<'EOT2'
module model
  implicit none
  type box
    integer :: n = 0
    real(8), allocatable :: v(:)
  end type
  integer, allocatable :: row(:), grid(:,:), later(:)
  integer, pointer :: odd(:), back(:), plane(:,:)
  integer, target :: plain(10) = 0, flat(4,6) = 0
  type(box) :: one, many(3)
  type(box), allocatable :: boxes(:)
end module
subroutine grow()
  use model
  implicit none
  integer :: i
  do i = 1, 40
    row = [row, 7 * i]
  end do
  row(3) = 33
end subroutine
subroutine point()
  use model
  implicit none
  odd => plain(1:9:2)
  back => plain(10:1:-1)
  plane => flat(2:4:2,1:5:2)
  odd(3) = 5
  back(3) = 8
  plane(2,3) = 6
end subroutine
program main
  use model
  implicit none
  integer :: i
  allocate(row(-1:3), grid(0:2,5:8), one%v(4:6), many(2)%v(3), boxes(4))
  allocate(boxes(3)%v(0:1))
  row = 0
  grid = 0
  one%v = 0
  many(2)%v = 0
  boxes(3)%v = 0
  do i = -1, 3
    row(i) = row(i) + 10 + i
  end do
  grid(1,7) = 17
  grid(2,5) = 25
  one%v(5) = 2.5d0
  many(2)%v(1) = 1.5d0
  boxes(3)%n = 9
  boxes(3)%v(1) = 3.5d0
  call grow()
  call point()
  deallocate(row)
  allocate(row(2:4), source=0)
  print *, row
  row(3) = 99
  print *, row, grid(1,7), plain, flat
end program
EOT2

for level in -O0 '-O1 -fno-inline'; do
    read -ra flags <<<"$level"
    quipu-fortran --quipu=watch "${flags[@]}" -g program.f90 -o program || fail "$level: cannot build"
    # Bounds of its own; a longer one in another place, whose first index is another; and the next one.
    # A block that is not the program's any more may be written to by the C library.
    watches 0 -e 'row(3)' --if 'old != new && new != 0' -- ./program
    grep -v 'during the call' hits >own && mv own hits
    tells 'row(3) 0 -> 13' 'row(3) 11 -> 33' 'row(3) 0 -> 99'
    watches 0 -e 'grid(1,7)' -e 'grid(2,5)' --if 'new != 0' -- ./program
    tells 'grid(1,7) 0 -> 17' 'grid(2,5) 0 -> 25'
    watches 0 -e 'Grid(1:2,7)' -e 'grid[0:2,5]' --if 'new != 0' -- ./program
    tells 'Grid(1,7) 0 -> 17' 'grid[2,5] 0 -> 25'
    watches 0 -e 'one%v(5)' -e 'many(2)%v(1:3)' -e 'boxes(3)%n' -e 'boxes(3)%v(1)' \
        --if 'new != 0' -- ./program
    tells 'one%v(5) 0 -> 2.5' 'many(2)%v(1) 0 -> 1.5' 'boxes(3)%n 0 -> 9' 'boxes(3)%v(1) 0 -> 3.5'
    # With strides, backwards, too.
    watches 0 -e 'odd(3)' -e 'back(3)' -e 'plane(2,3)' -- ./program
    tells 'odd(3) 0 -> 5' 'back(3) 0 -> 8' 'plane(2,3) 0 -> 6'
    watches 0 -e 'later(2)' -- ./program
    tells
done

watches 1 -e 'row(:)' -- ./program
says 'how many elements there are'
watches 1 -e 'row(3:1)' -- ./program
says 'how many elements there are'
watches 1 -e 'grid(1,5:6)' -- ./program
says 'of an array with a descriptor the first index alone can have a slice'
watches 1 -e 'odd(1:2)' -- ./program
says 'the elements of a pointer, or of a structure, need not'
watches 1 -e 'boxes(1:2)' -- ./program
says 'the elements of a pointer, or of a structure, need not'
watches 1 -e 'row(1:4611686018427387905)' -- ./program
says 'no array has so many elements'
watches 1 -e 'grid(1)' -- ./program
says 'the array has 2 dimensions'
watches 1 -e 'one%v' -- ./program
says "where the elements of 'one%v' are"
