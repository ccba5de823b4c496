#!/bin/bash
# SPDX-License-Identifier: MIT
#
# register.sh - kunwind register, unregister and system-wide: what is printed, and the
# exit status, if the module refuses some of it
#
# A program takes the place of libkunwind. Its first argument says which
# processes are refused: 1 all but the second one, 2 the second one; 3: no module.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=../../tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/main.c" <<'END_C'
#include "register.c"
#include "system_wide.c"

static int refused, asked;

static int answer(void)
{
	return (++asked == 2) == (refused == 2) && refused ? -EACCES : 0;
}

int kunwind_info(struct kunwind_info *info) { (void)info; return refused == 3 ? -ENODEV : 0; }
int kunwind_unregister_pid(pid_t pid) { (void)pid; return answer(); }
int kunwind_system_wide(int on) { return refused ? -EPERM : !on && getenv("BUSY") ? -EBUSY : 0; }

int kunwind_register_fd(int fd, unsigned int flags, unsigned int *maps, unsigned int *ready)
{
	(void)fd, (void)flags;
	*maps = 5;
	*ready = 3;
	return answer();
}

int kunwind_stats(struct kunwind_stats *stats)
{
	*stats = (struct kunwind_stats){ .missed_limit = strtoul(getenv("LIMIT") ?: "0", NULL, 10),
					 .missed_memory = strtoul(getenv("MEMORY") ?: "0", NULL, 10) };
	return 0;
}

int kunwind_report_read(struct kunwind_report *report) { *report = (struct kunwind_report){ 0 }; return 0; }
void kunwind_report_free(struct kunwind_report *report) { (void)report; }

const char *kunwind_report_value(const struct kunwind_report *report, const char *kind, const char *name, int field)
{
	(void)report, (void)kind, (void)field;
	return strcmp(name, "system_wide") ? getenv("PENDING") : getenv("STATE");
}

int main(int argc, char **argv)
{
	refused = atoi(argv[1]);
	argc -= 2;
	argv += 2;
	return !strcmp(*argv, "register") ? kunwind_cmd_register(argc, argv) :
	       !strcmp(*argv, "unregister") ? kunwind_cmd_unregister(argc, argv) : kunwind_cmd_system_wide(argc, argv);
}
END_C
check "the test program compiles" cc -D_GNU_SOURCE -Wall -I $tools -I ../../libkunwind/include -o "$work/register" \
	"$work/main.c" $tools/build/tool.o

# run REFUSED ARGUMENT...: sets $out to the status and the output, in one line; lines of stderr have the mark "!"
run() {
	"$work/register" "$@" >"$work/out" 2>"$work/err"
	out="$? $(tr '\n\t' ';,' <"$work/out")$(cut -c1-60 "$work/err" | sed 's/^/!/' | tr '\n' ';')"
}

# ------------------------------------------------ register
me=$$
run 0 register $me $me
is "$out" "0 $me,5,3;$me,5,3;" "register: mappings, and those with a table"
run 2 register $me $me $me
like "$out" "^1 $me,5,3;$me,5,3;!.*$me" "register: one of three fails, not the last one: status 1, and all are tried"
run 1 register $me $me $me
like "$out" "^1 $me,5,3;!.*$me.*;!.*$me" "register: the first and the last fail"
run 2 register --json $me $me $me
like "$out" "^1 \[;  \{\"pid\": $me, \"ok\": true, \"maps\": 5, \"tables\": 3\},;  \{\"pid\": $me, \"ok\": false, \"error\": \"[^\"]*\"\},;  \{\"pid\": $me, \"ok\": true, \"maps\": 5, \"tables\": 3\};\];$" \
	"register --json: the error, and no numbers for it"
run 0 register $me x
like "$out" "^2 !" "register: nothing is registered if an argument is no number"
run 3 register $me
like "$out" "^1 !" "register: without the module"

# ------------------------------------------------ unregister
run 2 unregister $me $me $me
like "$out" "^1 !.*$me[^!]*$" "unregister: one of three fails"
run 2 unregister --json $me $me $me
like "$out" "^1 \[;  \{\"pid\": $me, \"ok\": true\},;  \{\"pid\": $me, \"ok\": false, \"error\": \"[^\"]*\"\},;  \{\"pid\": $me, \"ok\": true\};\];$" \
	"unregister --json: it has no mappings"

# ------------------------------------------------ system-wide
STATE=Y run 0 system-wide
is "$out" "0 on;" "system-wide: on"
STATE=N run 0 system-wide
is "$out" "0 off;" "system-wide: off"
STATE=Y PENDING=7 LIMIT=2 MEMORY=3 run 0 system-wide --json
is "$out" '0 {"system_wide": true, "pending": 7, "missed_limit": 2, "missed_memory": 3};' "system-wide --json: the state"
STATE=N run 0 system-wide --json off
is "$out" '0 {"system_wide": false, "pending": 0, "missed_limit": 0, "missed_memory": 0};' "system-wide --json off: the state after it"
STATE=Y PENDING=1 MEMORY=3 run 0 system-wide on
like "$out" "^0 !.* 1 process is not registered yet.*;!.*processes not registered since" "system-wide on: one process is not registered yet, and some have missed"
like "$(cat "$work/err")" "0 over the limit .*, 3 for want of memory" "system-wide on: why they have missed"
STATE=N PENDING=2 MEMORY=3 run 0 system-wide off
is "$out" "0 " "system-wide off: nothing to tell"
run 1 system-wide on
like "$out" "^1 !.*only root" "system-wide: it is refused"
BUSY=1 run 0 system-wide --json off
like "$out" "^1 !" "system-wide --json: after an error, no state is printed"
done_testing
