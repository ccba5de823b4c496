#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A file that an object names is used only if it is an ELF file of root, of the
# caller or of the object's owner: split DWARF, .gnu_debuglink, dwz's common file,
# a file by build-id. Functions of the object itself keep their names.
#
#   owners-test.sh SYMBOLIZE

symbolize=$(realpath "$1")
# shellcheck source=tests/symbolize/lib.sh
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP files of other users need root"
	exit 0
fi
chmod 755 "$work"
cat >"$work/base.c" <<'END'
static inline int inner(int x) { return x * 3 + 1; }
__attribute__((noinline)) int outer(int x) { return inner(x) ^ inner(x + 2); }
int main(int argc, char **argv) { (void)argv; return outer(argc); }
END
one=1 two=2
foreign="its debug information is in a file of another user"
cd "$work" || exit 1

# Prints how many of the lines are of inlined functions, then why some are missing.
inlined() { # OPTION... OBJECT
	"$symbolize" -i "$@" "$id" <<<"$addresses" >out 2>err
	echo "$(grep -c '^inner' out) $(sed -n 's/^why: //p' err)"
}
set_object() { # OBJECT
	id=$(build_id "$1")
	addresses=$(objdump -d --no-show-raw-insn "$1" |
		awk '/^[0-9a-f]+ <outer>/ { on = 1; next } !NF { on = 0 } on { sub(":", "", $1); print "0x" $1 }')
}

gcc -g -gsplit-dwarf -O2 -c base.c -o split.o && gcc -Wl,--build-id split.o -o split
set_object split
all=$(inlined split)
like "$all" '^[1-9][0-9]* $' "split DWARF of root for an object of root: inlined functions"
chown $two split.dwo
is "$(inlined split)" "0 $foreign" "split DWARF of another user: not used, and reported"
like "$(awk -F '\t' 'NR > 1 && NF > 1 { print $1 }' out | sort -u)" '^\?\?$|^outer$' "split DWARF of another user: the function keeps its name"
chown $two split
is "$(inlined split)" "$all" "split DWARF of the object's owner: used"
chown $one split.dwo
is "$(inlined split)" "0 $foreign" "split DWARF of another user than the object's owner: not used"
chown 0 split.dwo
is "$(inlined split)" "$all" "split DWARF of root for an object of another user: used"
chmod 600 split.dwo
is "$(inlined split)" "0 $foreign" "split DWARF that root lets nobody read, for an object of another user: not used"
chown 0 split
is "$(inlined split)" "$all" "split DWARF that root lets nobody read, for an object of root: used"
mkdir dir && mv split.dwo "dir/" && chmod 644 dir/split.dwo && mkdir -p "dir/$work" && mv dir/split.dwo "dir/$work/"
chown $one dir "dir/$work/split.dwo"
is "$(inlined -d "$work/dir" split)" "$all" "split DWARF below a debug directory, of the owner of that directory: used"
chown $two "dir/$work/split.dwo"
is "$(inlined -d "$work/dir" split)" "0 $foreign" "split DWARF below a debug directory, of another user: not used"
rm -r dir

# Which files does the helper get? The one in between passes packets on, and
# prints the path of each file.
cat >spy <<'END'
#!/usr/bin/python3
import os, socket, subprocess, sys
outer = socket.socket(fileno=3)
here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
real = subprocess.Popen([sys.argv[0] + ".real", *sys.argv[1:]], env={}, close_fds=False,
                        preexec_fn=lambda: os.dup2(there.fileno(), 3))
there.close()
with open(sys.argv[0] + ".log", "a") as log:
    while True:
        data, fds, _, _ = socket.recv_fds(outer, 100000, 2)
        if not data:
            break
        for fd in fds:
            print(os.readlink("/proc/self/fd/%d" % fd), file=log, flush=True)
        socket.send_fds(here, [data], fds)
        for fd in fds:
            os.close(fd)
        outer.send(here.recv(100000))
here.close()
real.wait()
END
chmod +x spy && cp "$(dirname "$symbolize")/kunwind-symbolize-helper" spy.real
passed() { # OBJECT; prints the files other than the object
	rm -f spy.log
	KUNWIND_SYMBOLIZE_HELPER=$work/spy "$symbolize" -i "$work/$1" "$(build_id "$1")" <<<"$addresses" >out 2>err
	[ -s spy.log ] || echo "the helper got nothing"
	grep -v -x "$work/$1" spy.log | sort -u | paste -s -d ' '
}
gcc -g -gsplit-dwarf -O2 -S base.c -o base.s
names() { # OBJECT NAME; makes an object whose split DWARF is in NAME
	sed "s#\"[a-z-]*\.dwo\"#\"$2\"#" base.s >"$1.s" && gcc -Wl,--build-id "$1.s" -o "$1" && chown $one "$1" &&
		set_object "$1"
}
names good "$work/good.dwo"
cp good good.dwo
is "$(passed good)" "$work/good.dwo" "an ELF file that DW_AT_dwo_name names: passed to the helper"
printf 'secret' >secret && names evil "$work/secret"
is "$(passed evil)" "" "another file that DW_AT_dwo_name names: not passed to the helper"
chmod 600 secret
is "$(passed evil)" "" "a private file that DW_AT_dwo_name names: not passed to the helper"
cp good secret
is "$(passed evil)" "" "a private ELF file that DW_AT_dwo_name names: not passed to the helper"
printf '\4' | dd of=good.dwo bs=1 seek=16 conv=notrunc status=none
is "$(passed good)" "" "a core file that DW_AT_dwo_name names: not passed to the helper"
printf '%s\0%020d' "$work/secret" 0 >alt
gcc -g -O2 -Wl,--build-id base.c -o plain && objcopy --add-section .gnu_debugaltlink=alt plain alted && chown $one alted
is "$(passed alted)" "" "a private file that .gnu_debugaltlink names: not passed to the helper"
printf 'text' >text && chmod 644 text && printf '%s\0%020d' "$work/text" 0 >alt
objcopy --add-section .gnu_debugaltlink=alt plain alted
is "$(passed alted)" "" "a text that .gnu_debugaltlink names: not passed to the helper"
strip -o stripped plain && objcopy --only-keep-debug plain plain.debug && objcopy --add-gnu-debuglink=plain.debug stripped linked
set_object plain
is "$(passed linked)" "$work/plain.debug" "an ELF file of root that .gnu_debuglink names: passed to the helper"
chown $two plain.debug
is "$(passed linked)" "" "a file of another user that .gnu_debuglink names: not passed to the helper"
chown $one plain.debug linked && chmod 600 plain.debug
is "$(passed linked)" "$work/plain.debug" "a private file of the object's owner that .gnu_debuglink names: passed to the helper"
id=$(build_id stripped)
mkdir -p "ids/.build-id/${id:0:2}" && cp plain.debug "ids/.build-id/${id:0:2}/${id:2}.debug"
chown $two "ids/.build-id/${id:0:2}/${id:2}.debug"
"$symbolize" -d "$work/ids" -i stripped "$id" <<<"$addresses" >out 2>err
is "$(grep -c '^outer' out) $(sed -n 's/^why: //p' err)" "0 $foreign" "a file of another user by build-id: not used, and reported"
chown 0 "ids/.build-id/${id:0:2}/${id:2}.debug"
chmod 644 "ids/.build-id/${id:0:2}/${id:2}.debug"
"$symbolize" -d "$work/ids" -i stripped "$id" <<<"$addresses" >out 2>err
is "$([ "$(grep -c '^outer' out)" -gt 0 ] && echo found) $(sed -n 's/^why: //p' err)" "found " "a file of root by build-id: used"
is "$("$symbolize" text "$id" </dev/null 2>err)" "file not readable" "a mapping of a file that is no ELF file: reported"

# What the helper is started with.
printf '#!/bin/sh\nexec >%s\ncat /proc/self/environ\nexit 1\n' "$work/environment" >spy
SECRET=1 KUNWIND_SYMBOLIZE_HELPER=$work/spy "$symbolize" plain "$id" </dev/null >out 2>err
is "$(tr '\0' '\n' <environment | grep -v '^PWD=\|^_=\|^OLDPWD=\|^SHLVL=')" "" "the helper has no environment"
done_testing
