#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-wrong-uses.sh - wrong uses with the module loaded (tests/tools/wrong-uses): messages,
# exit statuses, and no file, session or registration left behind
# timeout: 600
# long: more

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind
modprobe kunwind || { echo "Bail out! the module does not load"; exit 1; }
exec tests/tools/wrong-uses.sh vm
