# SPDX-License-Identifier: MIT
# bash completion for kunwind(1): commands, options and the kinds of their arguments are those
# that --help lists

# Prints lines "OPTION ARGUMENT" for the options of a command; ARGUMENT may be empty.
_kunwind_options() {
	"${COMP_WORDS[0]}" "$1" --help 2>/dev/null |
		sed -nE 's/^ +((-[A-Za-z]), )?(--[a-z][a-z-]*)( ([A-Z][^ ]*))?( .*|$)/\3 \5\n\2 \5/p' | grep ^-
}

# Prints the words, not options, that a help text explains at the beginnings of lines.
_kunwind_words() {
	"${COMP_WORDS[0]}" "$@" --help 2>/dev/null | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p'
}

# Completes an argument by its name in the help text, or fails if nothing is known of it.
_kunwind_argument() { # NAME CURRENT
	local words= list=
	case $1 in
	PID) words=$(ps -eo pid=) ;;
	FILE* | ELF) mapfile -t COMPREPLY < <(compgen -f -- "$2"); return ;;
	DIR | TRACE) mapfile -t COMPREPLY < <(compgen -d -- "$2"); return ;;
	WEIGHT) words='events blocked off-cpu lock cpu' ;;
	LIST) words='syscalls sched_switch sched_waking openat read write futex' ;;
	TABLES) words='call cause event thread result file function reason' ;;
	?*) return ;;
	*) return 1 ;;
	esac
	if [[ $1 = LIST || $1 = TABLES ]]; then
		# the last item of a list; the next one may follow
		[[ $2 != *,* ]] || list=${2%,*},
		compopt -o nospace 2>/dev/null
	fi
	mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${2##*,}")
}

_kunwind() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option i words= usage
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_kunwind_words) --help --version" -- "$cur")
		return
	fi
	local -A argument=()
	while read -r option i; do argument[$option]=$i; done < <(_kunwind_options "$command")
	argument[--help]=
	option=${COMP_WORDS[COMP_CWORD - 1]}
	# Readline breaks --event=LIST into three words.
	[ "$cur" != = ] || { option== && cur=; }
	if [ "$option" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 1]}
		[ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	usage=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | head -n 1)
	if [[ $usage = *" COMMAND "* ]]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) _command_offset $((i + 1)) 2>/dev/null; return ;;
			-?*) [ -z "${argument[${COMP_WORDS[i]}]-}" ] || i=$((i + 1)) ;;
			=) i=$((i + 1)) ;;
			*) _command_offset "$i" 2>/dev/null; return ;;
			esac
		done
	fi
	! _kunwind_argument "${argument[$option]-}" "$cur" || return
	for option in "${!argument[@]}"; do
		[[ $option != --* ]] || words+=" $option"
	done
	case $usage in
	*" FORMAT "* | *"[on|off]"*) words+=" $(_kunwind_words "$command")" ;;
	*" PID..."*) words+=" $(ps -eo pid=)" ;;
	*" COMMAND "*) words+=" --" ;;
	esac
	if [[ $usage = *" COMMAND "* && $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"
			[[ $usage != *TRACE* ]] || compgen -d -- "$cur"
			[[ $usage != *ELF* ]] || compgen -f -- "$cur")
	fi
}
complete -o filenames -F _kunwind kunwind
