#!/bin/bash
# SPDX-License-Identifier: MIT
#
# completion.sh - bash completion of kunwind offers every command and option
# that --help lists, and no other

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
kunwind=../../tools/build/kunwind
# shellcheck disable=SC1091
. ../../tools/completion/kunwind

# Prints the completions of the last WORD, sorted.
complete_words() { # WORD...
	COMP_WORDS=(kunwind "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_kunwind
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

commands=$("$kunwind" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
is "$(complete_words '')" "$(printf '%s\n' $commands --help --version | sort | tr '\n' ' ')" "completion offers the commands of --help"
for command in $commands; do
	told=$({ "$kunwind" "$command" --help | grep -o -- '--[a-z][a-z-]*'; echo --help; } | sort -u)
	is "$(complete_words "$command" -- | sed 's/\(^\| \)-- /\1/')" "$(tr '\n' ' ' <<<"$told")" "completion offers the options of $command --help"
done
is "$(complete_words report --sort '')" "blocked events off-cpu " "completion offers the weights of report --sort"
is "$(complete_words export --weight o)" "off-cpu " "completion offers the weight that begins with o"
like " $(complete_words record -p '') " " $$ " "completion offers process ids"
done_testing
