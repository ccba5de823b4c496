# SPDX-License-Identifier: MIT
puts [lsort {3 1 2}]
