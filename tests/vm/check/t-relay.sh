#!/bin/bash
# SPDX-License-Identifier: MIT
# long: only
# timeout: 250
#
# t-relay.sh - trace one host, read the trace on another
#
# The traced host streams to LTTng's relay daemon on the viewing host. The
# viewing host has none of the traced binaries; it gets names by build-id from a
# debuginfod server. Two network namespaces stand for the two hosts. On the
# viewing host another directory is mounted over that of the traced programs.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng lttng-relayd babeltrace2 kunwind gcc debuginfod ip nsenter

cd "$KUNWIND_TMP" || exit 1
source=$OLDPWD/tests/vm/fixtures/show-chain.c
mkdir -p traced saved traces elsewhere
touch live
gcc -g -O2 -fomit-frame-pointer -o traced/chain "$source" &&
	gcc -O2 -fPIC -shared -o late-payload.so "${source%/*}/late-payload.c" ||
	{ echo "Bail out! the programs do not build"; exit 1; }
libc=$(ldd traced/chain | awk '/libc\.so/ { print $3 }')
cp traced/chain "$(readlink -f "$libc")" saved/

# ------------------------------------------------ two hosts
modprobe veth
ip netns add viewer && ip link add to-viewer type veth peer name to-traced netns viewer &&
	ip addr add 10.99.0.1/24 dev to-viewer && ip link set to-viewer up &&
	ip -n viewer addr add 10.99.0.2/24 dev to-traced && ip -n viewer link set to-traced up &&
	ip -n viewer link set lo up || { echo "Bail out! no second host"; exit 1; }
# runs a command on the viewing host, with an empty directory mounted over the
# traced programs
on_viewer() { ip netns exec viewer unshare --mount bash -c '
	mount --bind '"$KUNWIND_TMP"'/elsewhere '"$KUNWIND_TMP"'/traced && exec "$@"' - "$@"; }

on_viewer lttng-relayd --daemonize --output="$KUNWIND_TMP/traces" \
	--control-port=tcp://10.99.0.2:5342 --data-port=tcp://10.99.0.2:5343 --live-port=tcp://10.99.0.2:5344
on_viewer debuginfod -F -d :memory: -p 8002 -t 1 "$KUNWIND_TMP/saved" >debuginfod.log 2>&1 &
id=$(readelf -nW traced/chain | awk '/Build ID/ { print $NF }')
export DEBUGINFOD_URLS=http://10.99.0.2:8002 DEBUGINFOD_CACHE_PATH=$KUNWIND_TMP/cache
# The client's cache is removed, because it keeps a negative answer for ten
# minutes.
served() { rm -rf cache; on_viewer debuginfod-find executable "$id" >/dev/null 2>&1; }
for _ in {1..60}; do served && break; sleep 1; done
check "the server on the viewing host has the program by its build-id" served
rm -rf cache

# ------------------------------------------------ traced there, seen here
check "the module loads" modprobe kunwind
modprobe lttng-probe-kunwind
out=$(kunwind record -e gettid -o net://10.99.0.3 true 2>&1)
is "$?" 125 "record -o net://: an address without a relay daemon is refused"
like "$out" "lttng-relayd" "record -o net://: the message names lttng-relayd"
out=$(LD_PRELOAD=./late-payload.so kunwind record -e gettid -o net://127.0.0.1:1 true 2>&1)
is "$?" 125 "record -o net://: no relay daemon, and an answer before the whole request is sent: exit status"
like "$out" "late-payload: EPIPE.*lttng-relayd" "record -o net://: an answer before the whole request is sent: the message names lttng-relayd"
kunwind record -e gettid -o net://10.99.0.2 -- sh -c '
	while [ ! -e seen ]; do ./traced/chain; sleep 0.2; done' 2>err &
recorder=$!
# the viewing host reads this session
session=kunwind-record-$recorder
on_viewer babeltrace2 --input-format=lttng-live "net://10.99.0.2:5344/host/$(hostname)/$session" \
	--component=filter.kunwind.symbolize --params=local=false >live 2>live.err &
viewer=$!
arrived() { grep -c 'syscall_entry_gettid: .*callstack_user = ' live; }
for _ in {1..240}; do
	[ "$(arrived)" -ge 3 ] && break
	sleep 0.5
done
check "live: events arrive while the program runs" test "$(arrived)" -ge 3 -a -e "/proc/$recorder/stat" ||
	diag "$(cat err live.err)"
like "$(grep -m 1 "kunwind_map:.*$id" live)" "path = \"$KUNWIND_TMP/traced/chain\"" "live: kunwind_map has the program's path and build-id"
like "$(grep -m 1 syscall_entry_gettid live)" 'fct_c.*fct_b.*fct_a.*main' "live: frames are named with files from the server"
touch seen
wait "$recorder"
is "$?" 0 "record -o net://: the recording ends with the command"
like "$(cat err)" "the trace went to net://10.99.0.2, session $session" "record -o net://: a message names the host and the session"
wait "$viewer"
is "$?" 0 "live: the viewer ends with the session"

# -------------------------------------------- afterwards, without the binaries
rm traced/chain
trace=$(find traces -name metadata -printf '%h\n' | head -n 1)
check "the trace is on the viewing host" test -n "$trace"
names() { on_viewer kunwind show "$@" --tsv --event syscall_entry_gettid --limit 1 "$trace" |
	awk -F '\t' '$1 == "frame" { printf "%s ", $5 == "" ? "?" : $5 }'; }
like "$(names --no-local)" "gettid fct_c fct_b fct_a main .*_start $" "show: all frames are named with files from the server"
like "$(on_viewer kunwind show --no-local --event syscall_entry_gettid --limit 1 "$trace")" "fct_b.*show-chain\.c:[0-9]+" \
	"show: frames have source lines from the server"
like "$(on_viewer kunwind report --no-local "$trace")" "fct_a \($KUNWIND_TMP/traced/chain\)" "report: functions are named with files from the server"
kill "$(pidof debuginfod)"
wait
rm -rf cache
is "$(names --no-local | tr -d '? ')" "" "show: without the server frames have no names"
done_testing
