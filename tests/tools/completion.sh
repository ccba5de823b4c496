#!/bin/bash
# SPDX-License-Identifier: MIT
#
# completion.sh - bash completion of kunwind offers every command, every option
# that --help tells of, and none that is unknown there

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

# complete WORD...: what is offered for the last one, sorted
complete_words() {
	COMP_WORDS=(kunwind "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_kunwind
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

commands=$("$kunwind" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
is "$(complete_words '')" "$(printf '%s\n' $commands --help --version | sort | tr '\n' ' ')" "the commands"
for command in $commands; do
	told=$({ "$kunwind" "$command" --help | grep -o -- '--[a-z][a-z-]*'; echo --help; } | sort -u)
	is "$(complete_words "$command" -- | sed 's/\(^\| \)-- /\1/')" "$(tr '\n' ' ' <<<"$told")" "the options of $command"
done
is "$(complete_words report --sort '')" "blocked events off-cpu " "weights"
is "$(complete_words export --weight o)" "off-cpu " "a weight that begins with o"
n=$((n + 1))
if [[ " $(complete_words record -p '') " == *" $$ "* ]]; then
	echo "ok $n - process numbers"
else
	echo "not ok $n - process numbers"
	failed=1
fi
echo "1..$n"
exit $failed
