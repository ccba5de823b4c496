#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pages.sh - the manual pages and --help list the same options of each command
# (completion.sh does the same for the completion)

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=../../tools

# Prints the long options of a text, except --help and --version.
options() { grep -oE -- '(^|[^-a-z])--[a-z][a-z-]*' | grep -oE -- '--.*' | grep -vxE -- '--(help|version)' | sort -u; }
help_of() { "$tools/build/kunwind" "$1" --help; }
# Prints the sections of a page whose heading begins with HEADING, or all.
page() { # PAGE [HEADING]
	sed 's/\\-/-/g' "$tools/man/$1" | awk -v heading="${2-}" '
		/^\.S[HS] / { inside = heading == "" || index($0, heading) == 5 }
		heading == "" || inside'
}
# Of a page for several commands, prints the options of COMMAND: those without
# "(COMMAND, ...)" before their text are options of all.
marked() { # COMMAND: of kunwind-report.1
	awk -v command="$1" '
		/^\.TP/ { getline option; getline text
			if (text !~ /^\(/ || text ~ "[(, ]" command "[,)]") print option }'
}

is "$(page kunwind-record.1 OPTIONS | grep -A1 "^\.TP" | options)" "$(help_of record | options)" "kunwind-record(1) has the options of --help"
is "$(page kunwind-record.1 OPTIONS | grep -A1 "^\.TP" | options |
	grep -vE "left-over|flight|trigger|memory|interval|snapshots")" "$(help_of profile | options)" \
	"kunwind-record(1) has the options of profile --help"
is "$(page kunwind-record.1 'kunwind snapshot' | options)" "$(help_of snapshot | options)" \
	"kunwind-record(1) has the options of snapshot --help"
is "$(page kunwind-show.1 OPTIONS | options)" "$(help_of show | options)" "kunwind-show(1) has the options of --help"
is "$(page kunwind-crashes.1 OPTIONS | options)" "$(help_of crashes | options)" "kunwind-crashes(1) has the options of --help"
is "$(page kunwind-symbolize.1 OPTIONS | options)" "$(help_of symbolize | options)" "kunwind-symbolize(1) has the options of --help"
is "$(page kunwind-waits.1 OPTIONS | options)" "$(help_of waits | options)" "kunwind-waits(1) has the options of --help"
for command in report flamegraph export; do
	wanted=$(help_of $command | sed '/^  --folded/,/^$/d' | options)
	is "$(page kunwind-report.1 OPTIONS | marked $command | options)" "$wanted" "kunwind-report(1) has the options of $command --help"
done
is "$(page kunwind-report.1 'kunwind export' | options)" \
	"$(help_of export | sed -n '/^  --folded/,/^$/p' | options)" "kunwind-report(1) has the format options of export --help"
for command in run register unregister status doctor system-wide dump; do
	is "$(page kunwind.1 SYNOPSIS | grep -E "kunwind $command\\W" | options)" \
		"$(help_of $command | sed -n 's/^Usage: //p' | options)" "kunwind(1) has the options in the usage of $command"
done

# A page that is a link has to work in the tree, too.
if command -v lexgrog >/dev/null; then
	for page in "$tools"/man/*.? ../../libkunwind/man/*.? ../../libkunwind/symbolize/man/*.?; do
		name=${page##*/}
		[[ $page = *.3 ]] && pattern='^[^:]*: "[a-z_-]* - ' || pattern=": \"${name%.*} - "
		like "$(lexgrog "$page" 2>&1)" "$pattern" "$name can be read in the tree, and has its name in NAME"
	done
else
	skip "pages can be read in the tree" "no lexgrog"
fi
done_testing
