# SPDX-License-Identifier: MIT
# for any shell
inner() { read -r line; }
outer() { inner; }
outer
