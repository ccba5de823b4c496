#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
#
# t-owner.sh - as root with SUDO_UID, kunwind record runs COMMAND as the user who called sudo, and
# gives that user the trace, and nothing else

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng kunwind gcc
check "the module loads" modprobe kunwind
useradd -m caller 2>/dev/null || adduser --disabled-password --gecos '' caller >/dev/null 2>&1
uid=$(id -u caller)
home=$(getent passwd caller | cut -d: -f6)
work=$KUNWIND_TMP/owner
install -d -o caller "$work"
chmod 755 "$KUNWIND_TMP"
cd "$work" || exit 1
cat >program.c <<'END'
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) void opens(void) { close(open("/etc/hostname", O_RDONLY)); __asm__ volatile(""); }
int main(void) { opens(); return 0; }
END
gcc -O1 -fomit-frame-pointer -o program program.c
sudo_record() { SUDO_UID=$uid kunwind record "$@"; }
# Prints the owners of a directory and of all in it, each once.
owners() { find "$1" -printf '%U\n' | sort -u | tr '\n' ' '; }

is "$(sudo_record -q -o ids -- sh -c 'id -u; id -g; id -G; echo $HOME $USER $LOGNAME')" \
	"$uid"$'\n'"$(id -g caller)"$'\n'"$(id -G caller)"$'\n'"$home caller caller" "COMMAND runs as the user who called sudo, with the environment of the user"
is "$(owners ids)" "$uid " "the user gets the trace"
is "$(owners .)" "0 $uid " "other files keep their owners"
is "$(readlink $home/.local/state/kunwind/last)" "$work/ids" "it is the last recording of the user"
is "$(stat -c %U $home/.local/state/kunwind)" caller "the state belongs to the user"
like "$(su caller -c 'cd; kunwind report' 2>&1)" "the last recording: $work/ids.*System calls" "the user reads it without a name, and without root"
sudo_record -q -k -o symbols -- ./program
is "$(owners symbols)" "$uid " "the user gets the symbols of the kernel"
out=$(kunwind show -e openat symbols)
like "$out" 'opens\+.*main\+' "COMMAND is walked after it has become the user's" || diag "$out"
check_fails 3 "the exit status is that of COMMAND" sudo_record -q -o status -- sh -c 'exit 3'

is "$(sudo_record -q -u root -o root -- id -u)" 0 "-u root keeps root"
is "$(owners root)" "0 " "-u root: the trace stays root's"
is "$(kunwind record -q -u caller -o named -- id -u) $(owners named)" "$uid $uid " "-u takes a user"
is "$(kunwind record -q -u "$uid" -o number -- id -u)" "$uid" "-u takes a number"
is "$(kunwind record -q -o plain -- id -u) $(owners plain)" "0 0 " "without sudo, root stays root"
like "$(kunwind record -u nobody-of-that-name true 2>&1)" "--user: no user nobody-of-that-name" "-u: an unknown user is refused"
like "$(su caller -c 'kunwind record -u root -o x true' 2>&1)" "--user: only root can" "-u: only root can choose another user"
cp /usr/bin/id suid && chmod 4755 suid
is "$(sudo_record -q -o suid-trace ./suid -u)" 0 "a set-user-ID program of the user gains its privilege"
like "$(kunwind show -e write suid-trace)" '  #1 ' "and is walked, because root has registered it"

# A directory of the user, who puts other files of root there during the recording.
echo secret >secret
chmod 600 secret
install -d -o caller theirs
out=$(sudo_record -q -o theirs -- sh -c "mv '$work/secret' theirs/mine" 2>&1)
like "$out" "it stays root's, because others can change the directory" "a directory that the user can change is not given away"
is "$(stat -c %u theirs/mine theirs/kernel/metadata | tr '\n' ' ')" "0 0 " "no file of root in it is given away"
done_testing
