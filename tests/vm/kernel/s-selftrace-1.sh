#!/bin/bash
# SPDX-License-Identifier: MIT
#
# s-selftrace-1.sh - every tracer with every state of a table, on one processor
# vm: --smp 1
# timeout: 1500

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/selftrace.sh"
matrix
done_testing
