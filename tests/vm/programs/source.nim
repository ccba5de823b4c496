# SPDX-License-Identifier: MIT
proc nest(n: int): int =
  if n > 0: nest(n - 1) + 1 else: stdin.readLine.len
echo nest(5)
