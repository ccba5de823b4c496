#!/bin/bash
# SPDX-License-Identifier: MIT
#
# completion.sh - the completions of kunwind for bash, zsh and fish offer every
# command and option that --help lists, and no other
#
# The completion for bash runs here; those for zsh and fish if these shells are installed.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
PATH=$(realpath ../../tools/build):$PATH
kunwind=kunwind
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

# Prints the options that the usage or a line of --help begins with, sorted, in one line.
options() { # COMMAND
	{ "$kunwind" "$1" --help | grep -oE '^ +(-., )?--[a-z][a-z-]*' | grep -o -- '--.*'; echo --help; } | sort -u | tr '\n' ' '
}

commands=$("$kunwind" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
is "$(complete_words '')" "$(printf '%s\n' $commands --help --version | sort | tr '\n' ' ')" "completion offers the commands of --help"
for command in $commands; do
	is "$(complete_words "$command" -- | sed 's/\(^\| \)-- /\1/')" "$(options "$command")" "completion offers the options of $command --help"
done
is "$(complete_words record -e openat,re)" "openat,read " "completion continues a list after a comma"
is "$(complete_words record -e openat,futex,s)" "openat,futex,sched_switch openat,futex,sched_waking openat,futex,syscalls " "completion offers all items that may continue a list"
is "$(complete_words record --event = openat,wr)" "openat,write " "completion continues a list after --event="
is "$(complete_words record --event =)" "futex openat read sched_switch sched_waking syscalls write " "completion begins a list after --event="
is "$(complete_words report --by file,th)" "file,thread " "completion continues the list of tables of report --by"
is "$(complete_words report -e th)" " " "completion offers no tables for the pattern of report -e"
is "$(complete_words show -e openat,re)" " " "completion offers no list where the option takes a pattern"
is "$(complete_words report --sort '')" "blocked cpu events lock off-cpu " "completion offers the weights of report --sort"
is "$(complete_words export f)" "firefox folded " "completion offers the formats that begin with f"
is "$(complete_words export --weight o)" "off-cpu " "completion offers the weight that begins with o"
like " $(complete_words record -p '') " " $$ " "completion offers process ids"

zsh_file=../../tools/completion/_kunwind fish_file=../../tools/completion/kunwind.fish
if command -v zsh >/dev/null; then
	# The second _arguments gets what zsh completes.
	# shellcheck disable=SC2016
	zsh_words() {
		zsh -c 'subject=$2
			_arguments() { [[ $1 = -C ]] && { state=arguments words=($subject); return; }; print -l -- "$@" }
			words=(kunwind $2); . $1' - $zsh_file "$1" |
			sed -n 's/^\**\(--[a-z-]*\)\[.*/\1/p' | sort -u | tr '\n' ' '
	}
	for command in $commands; do
		is "$(zsh_words "$command")" "$(options "$command")" "zsh: the options of $command --help"
	done
else
	skip "zsh: the options of --help" "no zsh"
fi
if command -v fish >/dev/null; then
	HOME=$(mktemp -d)
	fish_words() { fish -c "source $fish_file; complete -C '$1'" | cut -f1 | sort -u | tr '\n' ' '; }
	is "$(fish_words 'kunwind ')" "$(printf '%s\n' --help --version $commands | sort | tr '\n' ' ')" "fish: the commands are offered"
	for command in $commands; do
		is "$(fish_words "kunwind $command --")" "$(options "$command")" "fish: the options of $command --help"
	done
	is "$(fish_words 'kunwind export fo')" "folded " "fish: a format is offered"
	is "$(fish_words 'kunwind report --sort ev')" "events " "fish: a weight is offered"
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
