#!/bin/bash
# SPDX-License-Identifier: MIT
#
# completion.sh - the completions of kunwind for bash, zsh and fish offer every
# command and option that --help lists, and no other
#
# The completion for bash runs here. Those for zsh and fish are read as text; if
# these shells are installed, they check the syntax, and fish completes, too.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
kunwind=../../tools/build/kunwind
# shellcheck disable=SC1091
. ../../tools/completion/kunwind.bash

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
is "$(complete_words record -e openat,re)" "openat,read " "completion continues a list after a comma"
is "$(complete_words record -e openat,futex,s)" "openat,futex,sched_switch openat,futex,sched_waking openat,futex,syscalls " "completion offers all items that may continue a list"
is "$(complete_words record --event = openat,wr)" "openat,write " "completion continues a list after --event="
is "$(complete_words record --event =)" "futex openat read sched_switch sched_waking syscalls write " "completion begins a list after --event="
is "$(complete_words report --by file,th)" "file,thread " "completion continues the list of tables of report --by"
is "$(complete_words report -e th)" " " "completion offers no tables for the pattern of report -e"
is "$(complete_words show -e openat,re)" " " "completion offers no list where the option takes a pattern"
is "$(complete_words report --sort '')" "blocked cpu events lock off-cpu " "completion offers the weights of report --sort"
is "$(complete_words export --weight o)" "off-cpu " "completion offers the weight that begins with o"
like " $(complete_words record -p '') " " $$ " "completion offers process ids"

# Prints the options of the last lines of standard input, sorted.
options() { { grep -oE -- '--[a-z][a-z-]*'; echo --help; } | sort -u | tr '\n' ' '; }
zsh_file=../../tools/completion/_kunwind fish_file=../../tools/completion/kunwind.fish
is "$(sed -n "s/^\t\t['\"]\([a-z-]*\):[A-Za-z].*/\1/p" $zsh_file | sort)" "$(sort <<<"$commands")" "zsh: the commands of --help"
is "$(sed -n 's/.* -n __kunwind_has_no_command -a \([a-z-]*\) .*/\1/p' $fish_file | sort)" "$(sort <<<"$commands")" "fish: the commands of --help"
for command in $commands; do
	told=$("$kunwind" "$command" --help | options)
	part=$(sed -n "/^\t$command)/,/;;/p" $zsh_file)
	# shellcheck disable=SC2016
	[[ $part != *'$reading'* ]] || part+=$(sed -n '/^\treading=(/,/^\t)/p' $zsh_file)
	is "$(sed 's/\[[^]]*\]//g' <<<"$part" | options)" "$told" "zsh: the options of $command --help"
	is "$(grep -E "__kunwind_is ([a-z-]+ )*$command( |')" $fish_file |
		sed -n 's/.* -l \([a-z-]*\) .*/--\1/p' | options)" "$told" "fish: the options of $command --help"
done
if command -v zsh >/dev/null; then
	check "zsh: the syntax is valid" zsh -n $zsh_file
else
	skip "zsh: the syntax is valid" "no zsh"
fi
if command -v fish >/dev/null; then
	HOME=$(mktemp -d)
	fish_words() { fish -c "source $fish_file; complete -C '$1'" | cut -f1 | sort -u | tr '\n' ' '; }
	is "$(fish_words 'kunwind ')" "$(sort <<<"$commands" | tr '\n' ' ')" "fish: the commands are offered"
	is "$(fish_words 'kunwind export --fo')" "--folded " "fish: an option is offered"
	is "$(fish_words 'kunwind record --event openat,re')" "openat,read " "fish: a list is continued after a comma"
	like "$(fish_words 'kunwind record --ev')" "^--event " "fish: an option of record is offered before COMMAND"
	like "$(fish_words 'kunwind record -e openat -p 1 --out')" "^--output " "fish: an option of record is offered after others"
	is "$(fish_words 'kunwind record true --ev')$(fish_words 'kunwind record -e openat -- true --out')$(fish_words 'kunwind run true --no-ch')" "" \
		"fish: no option of kunwind is offered after COMMAND"
	rm -rf "$HOME"
else
	skip "fish: the commands are offered" "no fish"
fi
done_testing
