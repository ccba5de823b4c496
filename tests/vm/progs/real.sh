# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# real.sh - bash, blocked in "read", called by nested functions
inner() { local line; read -r line; echo "$line"; }
middle() { case $1 in 0) inner ;; *) middle $(($1 - 1)) ;; esac; }
trap 'middle 2' USR1
for _ in 1; do if middle 5; then :; fi; done
