#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-selftrace.sh - no work of the module causes itself, whatever is traced
#
# On one processor; the first two loads once stopped it for ever. All tracers and
# states, on one processor and on two: make check-selftrace.
# vm: --smp 1
# timeout: 120

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
# shellcheck source=tests/vm/lib/selftrace.sh
. "$(dirname "$0")/lib/selftrace.sh"
SECS=1
# its libLLVM has a table of many parts, and constructors that allocate
PROGRAM=(clang --version)
need clang
prepare

parts ftrace:exceptions:page_fault_user,kmem:kmalloc
state pending ftrace:timer:hrtimer_start,kmem:kmalloc,kmem:kfree,module:module_get,module:module_put,irq_vectors:irq_work_entry
state dead ftrace:all
state blind ftrace:all
done_testing
