#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/style: which files it finds fault with. Runs it on a small tree that has
# one file for each rule.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh
command -v clang-format >/dev/null || { echo "1..0 # SKIP no clang-format (scripts/setup style)"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/scripts"
cp scripts/style "$tree/scripts/"
cp .clang-format "$tree/"
git -C "$tree" init -q
# file PATH TEXT: TEXT is in the format of printf
file() { mkdir -p "$tree/$(dirname "$1")"; printf "$2" >"$tree/$1"; }
style() { git -C "$tree" add -A; out=$("$tree/scripts/style" 2>&1); status=$?; }
mit='// SPDX-License-Identifier: MIT\n/*\n * f.c - what it is for\n */\n'
gpl=${mit/MIT/GPL-2.0-only}
core=${mit/MIT/GPL-2.0-only OR MIT}

file tools/f.c "${mit}int f(void)\n{\n\treturn 0;\n}\n"
file kmod/f.c "${gpl}int f(void)\n{\n\treturn 0;\n}\n"
file kmod/core/f.c "${core}int f(void)\n{\n\treturn 0;\n}\n"
file kmod/compat/version.c "${gpl}#if LINUX_VERSION_CODE < 1\n#endif\n"
file scripts/f '#!/bin/bash\n# SPDX-License-Identifier: MIT\ntrue\n'
file docs/f.md 'text\n'
file tools/struct.h "${mit}struct one {\n\tint x;\n};\n"
style
is "$status $(tail -n 1 <<<"$out")" "0 $(git -C "$tree" ls-files | wc -l) files, 0 findings" "a good tree has no finding" || diag "$out"

# fault PATH TEXT LINE EXPRESSION: the file is a finding, the only one
fault() {
	file "$1" "$2"
	style
	like "$status $out" "^1 $1:$3: .*$4.*1 findings$" "$1:$3: $4"
	git -C "$tree" rm -q -f "$1"
}
long=$(printf 'x%.0s' {1..111})
fault kmod/g.c "${mit}int g;\n" 1 "licence MIT: files here have GPL-2.0-only"
fault kmod/core/g.c "${gpl}int g;\n" 1 "licence GPL-2.0-only: files here have GPL-2.0-only OR MIT"
fault tools/g.c "${gpl}int g;\n" 1 "licence GPL-2.0-only: files here have MIT"
fault tools/g.c 'int g;\n' 1 "no SPDX line"
fault tools/g.c '// SPDX-License-Identifier: MIT\nint g;\n' 2 "no comment that says what the file is for"
fault tools/g.c "${mit}int g; \n" 5 "white space at the end"
fault docs/g.md 'text \n' 1 "white space at the end"
fault tools/g.c "${mit}int g;" 5 "no newline at the end"
fault docs/g.md 'text\r\nmore\n' 1 "carriage returns|white space"
fault tools/g.c "${mit}/* $long */\n" 5 "longer than 110 columns"
fault tools/g.c "${mit}#ifdef __KERNEL__\n#endif\n" 5 "kunwind_deps.h alone"
fault kmod/g.c "${gpl}#if LINUX_VERSION_CODE < 1\n#endif\n" 5 "kmod/compat/"
fault tools/g.c "${mit}typedef struct two two;\n" 5 "no typedef"
fault tools/g.c "${mit}int g; // why\n" 5 "comments are"
fault tools/g.c "${mit}int g;\n\nint h(void)\n{\n        return g;\n}\n" 9 "indent with tabs"
fault kmod/g.c "${gpl}void g(void)\n{\n\tprintk(\"x\");\n}\n" 7 "use pr_"
fault tools/g.c "${mit}int g(void)\n{\n\treturn 1+1;\n}\n" 7 "clang-format writes"
fault tools/twin.h "${mit}struct one {\n\tint y;\n};\n" 5 "one is also the name of a type"
fault scripts/g '#!/bin/bash\n# SPDX-License-Identifier: MIT\nif true; then\n' 1 "syntax error"
fault scripts/g.py '#!/usr/bin/python3\n# SPDX-License-Identifier: MIT\nx = (\n' 3 "never closed"
fault tools/g.c "${mit}$(printf 'int g;\\n%.0s' {1..700})" 705 "more than 700 lines"
file tools/zero 'a\0b'
style
like "$status $out" "^1 tools/zero: a binary file.*1 findings" "a binary file"
done_testing
