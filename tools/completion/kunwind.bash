# SPDX-License-Identifier: MIT
# bash completion for kunwind(1)
_kunwind() {
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=
	if [ "$COMP_CWORD" -eq 1 ]; then
		words='run register unregister system-wide status doctor record profile snapshot report waits flamegraph export show crashes symbolize dump
			--help --version'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi
	local events='--event --pid --all --help'
	local filters='--tid --comm --from --to' names='--debug-dir --no-local --no-lines --no-kernel --progress --offsets' weights='events blocked off-cpu lock cpu'
	local option=${COMP_WORDS[COMP_CWORD - 1]} list=
	# Readline breaks --event=LIST into three words.
	[ "$cur" != = ] || { option== && cur=; }
	if [ "$option" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 1]}
		[ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $option in
	-w | --weight | -s | --sort)
		case $command in
		report | flamegraph | export)
			mapfile -t COMPREPLY < <(compgen -W "$weights" -- "$cur")
			return ;;
		esac ;;
	-p | --pid)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=)" -- "$cur")
		return ;;
	-o | --output | -m | --maps | --base)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	-e | --event | -b | --by)
		case $command in
		record | profile) words='syscalls sched_switch sched_waking openat read write futex' ;;
		report) words='call cause event thread result file function reason' ;;
		esac
		[[ $command,$option = @(record|profile),-*e* || $command,$option = report,-*b* ]] || return
		# the last item of a list; the next one may follow
		[[ $cur != *,* ]] || list=${cur%,*},
		mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${cur##*,}")
		compopt -o nospace 2>/dev/null
		return ;;
	esac
	case $command in
	record | profile)
		[ "$command" = profile ] || words='--left-over --flight --trigger --memory --interval --snapshots'
		local i
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) _command_offset $((i + 1)) 2>/dev/null; return ;;
			-e | -F | -p | -o | --event | --frequency | --pid | --output | --buffer | --trigger | --memory | --interval | --snapshots) i=$((i + 1)) ;;
			-?*) ;;
			*) _command_offset "$i" 2>/dev/null; return ;;
			esac
		done
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$events --frequency --output --kernel --context --buffer --children --json --quiet $words --" -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi ;;
	snapshot) mapfile -t COMPREPLY < <(compgen -W '--json --help' -- "$cur") ;;
	report)
		mapfile -t COMPREPLY < <(compgen -W "$events $filters --duration $names --by --callers --callees --tree --depth --least --top --sort --json" -- "$cur"; compgen -d -- "$cur") ;;
	waits)
		mapfile -t COMPREPLY < <(compgen -W "$events $filters --duration $names --depth --skip --top --json" -- "$cur"; compgen -d -- "$cur") ;;
	flamegraph)
		mapfile -t COMPREPLY < <(compgen -W "$events $filters --duration $names --output --weight --title --bottom-up --base --least" -- "$cur"; compgen -d -- "$cur") ;;
	export)
		words="--folded --speedscope --firefox --perfetto --pprof --ctf $events $filters --duration $names --output --weight"
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -d -- "$cur") ;;
	run)
		local i
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			--) _command_offset $((i + 1)) 2>/dev/null; return ;;
			-*) ;;
			*) _command_offset "$i" 2>/dev/null; return ;;
			esac
		done
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W '--children --no-children --help --' -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi ;;
	register | unregister)
		[ "$command" = register ] && words='--children --no-children '
		mapfile -t COMPREPLY < <(compgen -W "$words--json --help $(ps -eo pid=)" -- "$cur") ;;
	status) mapfile -t COMPREPLY < <(compgen -W '--tsv --json --help' -- "$cur") ;;
	system-wide) mapfile -t COMPREPLY < <(compgen -W 'on off --json --help' -- "$cur") ;;
	doctor) mapfile -t COMPREPLY < <(compgen -W '--tsv --json --help' -- "$cur") ;;
	show)
		words='--all --event --tid --comm --from --to --limit --no-symbols --no-lines --no-kernel --progress --no-local --debug-dir --pid --summary --tsv --json --help'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -d -- "$cur") ;;
	crashes)
		words='--limit --pid --json --no-lines --no-local --debug-dir --help'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -d -- "$cur") ;;
	symbolize)
		words='--pid --maps --at --exact --return --objects --lines --inlined --why --json --debug-dir --no-local --help'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; compgen -d -- "$cur") ;;
	dump) mapfile -t COMPREPLY < <(compgen -W '--tsv --json --saved --help' -- "$cur"; compgen -f -- "$cur") ;;
	esac
}
complete -o filenames -F _kunwind kunwind
