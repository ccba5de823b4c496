#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pages.sh - the manual pages and --help list the same options of each command
# (completion.sh does the same for the completion)

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
tools=../../tools

# Prints the long options that lines begin with, except --help.
options() { grep -oE -- '^[^-]*(-., )?--[a-z][a-z-]*' | grep -oE -- '--.*' | grep -vx -- --help | sort -u; }
# Prints the headings of the options of a page.
headings() { sed 's/\\-/-/g' "$1" | awk '/^\.SH / { inside = /OPTIONS/ } inside' | grep -A1 '^\.TP'; }

for command in $("$tools/build/kunwind" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
	is "$(headings "$tools/man/kunwind-$command.1" | options)" \
		"$("$tools/build/kunwind" "$command" --help | grep -E '^ +-' | options)" "kunwind-$command(1) has the options of --help"
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
