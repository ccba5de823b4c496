#!/bin/bash
# SPDX-License-Identifier: MIT
#
# completion.sh - bash completion of kunwind offers every command and option
# that --help lists, and no other

cd "$(dirname "$0")" || exit 1
kunwind=../../tools/build/kunwind
# shellcheck disable=SC1091
. ../../tools/completion/kunwind

n=0 failed=0
is() { # GOT WANTED WHAT
	n=$((n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $n - $3"
	else
		echo "not ok $n - $3"
		printf '# got:    %s\n# wanted: %s\n' "$1" "$2"
		failed=1
	fi
}

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
n=$((n + 1))
if [[ " $(complete_words record -p '') " == *" $$ "* ]]; then
	echo "ok $n - completion offers process ids"
else
	echo "not ok $n - completion offers process ids"
	failed=1
fi
echo "1..$n"
exit $failed
