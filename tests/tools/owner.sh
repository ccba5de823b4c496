#!/bin/bash
# SPDX-License-Identifier: MIT
#
# owner.sh - what tools/record/owner.c gives to the user who called sudo, and as whom COMMAND runs
# (vm/t-owner records)

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
if [ "$(id -u)" != 0 ]; then
	skip "only root can give a file away" "not root"
	done_testing
	exit
fi
build=$(realpath ../../tools/build)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# DIRECTORY USER [COMMAND...]: gives the directory, and becomes COMMAND as the user. USER "": of sudo.
cat >"$work/give.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
#include "owner.h"
#include "tool.h"

int main(int argc, char **argv)
{
	struct owner owner;

	kunwind_tool_name = "record";
	if (!owner_find(&owner, *argv[2] ? argv[2] : NULL))
		return 125;
	owner_give(&owner, open(argv[1], O_RDONLY | O_DIRECTORY), argv[1]);
	return argc > 3 && (!owner_become(&owner) || execvp(argv[3], argv + 3));
}
END
check "it builds" gcc -iquote ../../tools/record -iquote ../../tools -I ../../libkunwind/include -I ../../libkunwind/deps \
	-o "$work/give" "$work/give.c" "$build"/record-owner.o "$build"/{dir,last,tool}.o ../../libkunwind/libkunwind.a
new() { rm -rf "$work/dir"; mkdir -p "$work/dir/sub/deep"; touch "$work/dir/a" "$work/dir/sub/b" "$work/dir/sub/deep/c"; }
give() { "$work/give" "$work/dir" "$@"; }
owners() { find "$work/dir" -printf '%U %P\n' | LC_ALL=C sort | tr '\n' ';'; }
export -n SUDO_UID

new
echo secret >"$work/secret"
ln "$work/secret" "$work/dir/link"
ln -s "$work/secret" "$work/dir/soft"
ln -s / "$work/dir/root"
mkfifo "$work/dir/fifo"
touch "$work/dir/theirs"
chown 1 "$work/dir/theirs"
SUDO_UID=65534 give ''
is "$(owners)" "0 fifo;0 link;0 root;0 soft;1 theirs;65534 ;65534 a;65534 sub;65534 sub/b;65534 sub/deep;65534 sub/deep/c;" \
	"directories and files of root are given: no links, no FIFO, no hard link, no file of another user"
is "$(stat -c '%u ' "$work/secret" / | tr -d '\n')" "0 0 " "what the links name stays root's"
for change in "chown 65534" "chmod g+w" "chmod o+w"; do
	new
	$change "$work/dir"
	out=$(SUDO_UID=65534 give '' 2>&1)
	like "$out" "it stays root's, because others can change the directory" "$change: a message says why nothing is given"
	is "$(owners | grep -o '0 [a-z]' | tr -d '\n ')" "0a0s0s0s0s" "$change: nothing is given where others can change the directory"
done
new
give ''
is "$(owners | tr -d 'a-z/; ')" "000000" "without sudo, nothing is given"
SUDO_UID=0 give ''
is "$(owners | tr -d 'a-z/; ')" "000000" "sudo of root: nothing is given"
SUDO_UID=65534 give root
is "$(owners | tr -d 'a-z/; ')" "000000" "-u root: nothing is given"
is "$(SUDO_UID=65534 give '' sh -c 'id -u; id -g; id -G; echo $USER $LOGNAME $HOME' | tr '\n' ' ')" \
	"65534 65534 65534 nobody nobody $(getent passwd nobody | cut -d: -f6) " "COMMAND has the ids, groups and environment of the user"
new
is "$(give nobody id -u; new; give 65534 id -u)" "65534"$'\n'"65534" "-u takes a name or a number"
like "$(give nobody-of-that-name 2>&1)" "--user: no user nobody-of-that-name" "an unknown user is refused"
like "$(SUDO_UID=4000000000 give '' 2>&1)" "SUDO_UID: no user 4000000000" "a user of sudo who does not exist is refused"
like "$(setpriv --reuid=65534 --regid=65534 --clear-groups "$work/give" "$work/dir" root 2>&1)" "only root can run COMMAND as another user" \
	"only root can choose another user"
done_testing
