#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-selftrace.sh - the module's work does not cause more of its own work,
# whatever is traced
#
# This runs on one processor. In an earlier version the first two loads stopped
# it forever. "make check-selftrace" runs all tracers and states, on one
# processor and on two.
# vm: --smp 1
# timeout: 120
# long: only

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/vm/lib/selftrace.sh
. "$(dirname "$0")/../lib/selftrace.sh"
SECS=1
# libLLVM has a table of many parts, and constructors that allocate memory
PROGRAM=(clang --version)
need clang
prepare

parts ftrace:exceptions:page_fault_user,kmem:kmalloc
parts_verdict
state pending ftrace:timer:hrtimer_start,kmem:kmalloc,kmem:kfree,module:module_get,module:module_put,irq_vectors:irq_work_entry
state dead ftrace:all
state blind ftrace:all
done_testing
