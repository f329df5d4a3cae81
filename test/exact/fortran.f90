! Fortran: modules, recursion, array sections, allocation, a computed select, I/O.
! variants: -O0; -O1; -O2; -O3; -Os; -O2 -fPIC; -O2 -static; -O3 -march=native; -O2 -fcheck=all; -O2 -flto
module work
  implicit none
contains
  recursive function fibonacci(n) result(r)
    integer, intent(in) :: n
    integer :: r
    if (n < 2) then
      r = n
    else
      r = fibonacci(n - 1) + fibonacci(n - 2)
    end if
  end function fibonacci

  subroutine multiply(a, b, c)
    real(8), intent(in) :: a(:, :), b(:, :)
    real(8), intent(out) :: c(:, :)
    integer :: i, j, k
    c = 0
    do j = 1, size(b, 2)
      do k = 1, size(a, 2)
        do i = 1, size(a, 1)
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine multiply

  integer function classify(n)
    integer, intent(in) :: n
    select case (n)
    case (:-1)
      classify = 1
    case (0)
      classify = 2
    case (1, 3, 5)
      classify = 3
    case (2, 4, 6)
      classify = 4
    case (7:20)
      classify = 5
    case default
      classify = 6
    end select
  end function classify
end module work

program main
  use work
  implicit none
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  integer :: i, total
  allocate (a(5, 4), b(4, 6), c(5, 6))
  do i = 1, 4
    a(:, i) = i * 0.5d0
    b(i, :) = [(i + total, total = 1, 6)]
  end do
  call multiply(a, b, c)
  total = 0
  do i = -2, 25, 3
    total = total + classify(i)
  end do
  print '(i6, i6, f10.3)', fibonacci(9), total, sum(c)
end program main
