#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-parameters.sh - module parameters: who may write them, which values they
# take, and how they are set when the module is loaded
#
# The files belong to user 0. A write also needs CAP_SYS_ADMIN in the initial
# user namespace (kmod/base/param.c).
# timeout: 500

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
parameters=/sys/module/kunwind/parameters
chmod 755 "$KUNWIND_TMP"

# params DIR VALUES: writes to each parameter of kunwind below DIR, and prints
# its name, the errno, and whether its value is the written one, the old one or
# another. VALUES: "other" (a valid value), "bad" (each value that is none)
cat >"$KUNWIND_TMP/params" <<'END'
#!/usr/bin/python3
import os, sys

def read(path):
    with open(path) as f:
        return f.read().strip()

def write(path, text):
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as e:
        return e.errno
    try:
        os.write(fd, text.encode() + b"\n")
        return 0
    except OSError as e:
        return e.errno
    finally:
        os.close(fd)

folder, values = sys.argv[1:3]
# "enabled" last: while it is N, system_wide cannot be switched on.
for name in sorted(os.listdir(folder), key=lambda name: (name == "enabled", name)):
    path = os.path.join(folder, name)
    old = read(path)
    if old in ("Y", "N"):
        other, bad = "N" if old == "Y" else "Y", ("", "x")
    elif name == "sample_clock":
        other, bad = "cpu-clock" if old == "cycles" else "cycles", ("", "auto", "cycle")
    else:
        other, bad = str(int(old) + 1), ("", "-1", "4294967296", "99999999999999999999", "1x", "x")
    for text in (other,) if values == "other" else bad:
        error = write(path, text)
        new = read(path)
        print(name, error, "old" if new == old else "written" if new == text else "another")
END
chmod 755 "$KUNWIND_TMP/params"
params() { "$KUNWIND_TMP/params" "$@"; }
# The results of all parameters, each once
results() { awk '{ print $2, $3 }' | sort -u | tr '\n' ','; }

check "the module loads" modprobe kunwind
names=$(cd $parameters && echo *)
nr=$(wc -w <<<"$names")
check "the module has parameters" test "$nr" -ge 19
is "$(stat -c '%a %U' $parameters/* | sort -u)" "644 root" "the files are root's, and only root may write"

refused() { # WANTED DESCRIPTION COMMAND...: the command writes to all parameters
	local wanted=$1 what=$2
	shift 2
	"$@" "$KUNWIND_TMP/params" $parameters other >"$KUNWIND_TMP/out" 2>&1
	is "$(wc -l <"$KUNWIND_TMP/out") $(results <"$KUNWIND_TMP/out")" "$nr $wanted old," "$what"
}
refused 1 "user 0 without any capability: EPERM, and no value changes" setpriv --bounding-set -all --inh-caps -all --
refused 1 "user 0 with all capabilities except CAP_SYS_ADMIN: EPERM, and no value changes" \
	setpriv --bounding-set -sys_admin --inh-caps -sys_admin --
refused 1 "root of a user namespace: EPERM, and no value changes" unshare -U -r --
refused 13 "another user: EACCES, and no value changes" setpriv --reuid 1001 --regid 1001 --clear-groups --
# a user namespace with a sysfs of its own
mkdir "$KUNWIND_TMP/sys"
# shellcheck disable=SC2016
unshare -U -r -m -n sh -c 'mount -t sysfs none "$1/sys" && "$1/params" "$1/sys/module/kunwind/parameters" other' - "$KUNWIND_TMP" \
	>"$KUNWIND_TMP/out" 2>&1
is "$(wc -l <"$KUNWIND_TMP/out") $(results <"$KUNWIND_TMP/out")" "$nr 1 old," \
	"root of a user namespace with a sysfs of its own: EPERM, and no value changes"
exec 3>$parameters/enabled
check_fails 1 "a descriptor that root has opened is of no use to user 0 without capabilities" \
	setpriv --bounding-set -all --inh-caps -all -- sh -c 'echo N >&3'
exec 3>&-
is "$(cat $parameters/enabled)" Y "enabled is Y after the refused writes"

shown() { awk -F'\t' '$1 == "param" { print $2, $3 }' /dev/kunwind | sort; }
stored() { for name in $names; do echo "$name $(cat $parameters/$name)"; done | sort; }
is "$(shown)" "$(stored)" "the status shows all parameters"
params $parameters bad >"$KUNWIND_TMP/out"
is "$(grep -cE ' (22|34) old$' "$KUNWIND_TMP/out") $(grep -vE ' (22|34) old$' "$KUNWIND_TMP/out")" "$(wc -l <"$KUNWIND_TMP/out") " \
	"root: empty, negative, huge and other values are refused with EINVAL or ERANGE, and no value changes"
before=$(stored)
params $parameters other >"$KUNWIND_TMP/out"
is "$(wc -l <"$KUNWIND_TMP/out") $(results <"$KUNWIND_TMP/out")" "$nr 0 written," "root: a valid value of each parameter is accepted"
is "$(comm -12 <(echo "$before") <(stored))" "" "root: each parameter has another value"
is "$(shown)" "$(stored)" "the status shows the new values"

# the largest value of each number, in use
for name in $names; do
	[[ $(cat $parameters/$name) =~ ^[0-9]+$ ]] && [ $name != sample_frequency ] || continue
	echo 4294967295 >$parameters/$name || diag "$name refuses 4294967295"
done
echo Y >$parameters/enabled
is "$(kunwind run -- /bin/true; echo $?)" 0 "the largest values: a program is registered and ends"
check "the largest values: system-wide" kunwind system-wide on
kunwind system-wide off
for name in $names; do
	[[ $(cat $parameters/$name) =~ ^[0-9]+$ ]] && [ $name != sample_frequency ] && echo 0 >$parameters/$name
done
is "$(kunwind system-wide on >/dev/null 2>&1; kunwind system-wide)" on "zeros: system-wide can be switched on"
kunwind system-wide off
check "the module is unloaded" rmmod kunwind

# ------------------------------------------------ when the module is loaded
check "modprobe sets numbers, names and flags" modprobe kunwind max_objects=77 sample_clock=cycles sample_frequency=5 enabled=N guess=1 sample_all
is "$(cd $parameters && cat max_objects sample_clock sample_frequency enabled guess sample_all | tr '\n' ' ')" "77 cycles 5 N Y Y " \
	"the parameters have these values"
rmmod kunwind
check "a loader with CAP_SYS_MODULE, without CAP_SYS_ADMIN, sets parameters" \
	setpriv --bounding-set -sys_admin --inh-caps -sys_admin -- modprobe kunwind max_objects=78 enabled=N system_wide=0
is "$(cd $parameters && cat max_objects enabled | tr '\n' ' ')" "78 N " "the parameters have these values, too"
rmmod kunwind
for option in max_objects=-1 max_table_mb= sample_frequency=0 sample_frequency=10001 sample_clock=sundial enabled=x max_objects; do
	check_fails 1 "modprobe kunwind $option fails" modprobe kunwind "$option"
	[ ! -e /sys/module/kunwind ] || rmmod kunwind
done

# ------------------------------------------------ the probe module
probe=/sys/module/lttng_probe_kunwind/parameters
if modprobe lttng-probe-kunwind; then
	is "$(stat -c '%a' $probe/* | sort -u)" 444 "lttng-probe-kunwind: nobody may write the parameters"
	chmod 644 $probe/*
	values=$(cat $probe/*)
	for name in "$probe"/*; do
		check_fails 1 "lttng-probe-kunwind: root cannot write ${name##*/}, not even after chmod" sh -c "echo 5 >$name"
	done
	is "$(cat $probe/*)" "$values" "lttng-probe-kunwind: the values are unchanged"
	rmmod lttng-probe-kunwind
	for name in dumps_done dumps_wanted; do
		check_fails 1 "lttng-probe-kunwind: modprobe cannot set $name" modprobe lttng-probe-kunwind $name=5
		[ ! -e /sys/module/lttng_probe_kunwind ] || rmmod lttng-probe-kunwind
	done
else
	skip "lttng-probe-kunwind: parameters" "the module does not load"
fi
rmmod kunwind
done_testing
