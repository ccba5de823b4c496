! SPDX-License-Identifier: MIT
program source
  print *, nest(5)
contains
  recursive integer function nest(n) result(r)
    integer, intent(in) :: n
    if (n > 0) then
      r = nest(n - 1) + 1
    else
      read (*, *) r
    end if
  end function
end program
