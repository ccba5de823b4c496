# SPDX-License-Identifier: MIT
# fish completion for kunwind(1): commands, options and the kinds of their arguments are those
# that --help lists

function __kunwind_help -d 'Prints the help text of the command, or of all'
	set -l words (commandline -opc)
	command $words[1] $words[2] --help 2>/dev/null
end

function __kunwind_words -d 'Prints words at the beginnings of lines, with their texts'
	__kunwind_help | string replace -rf '^  ([a-z][a-z-]*) +([^ ].*)' '$1\t$2'
end

function __kunwind_options -d 'Prints the options with their texts'
	set -l pattern '^ +(?:(-[A-Za-z]), )?(--[a-z][a-z-]*)(?: [A-Z][^ ]*)? *(.*)$'
	printf '%s\t%s\n' --help 'Print help'
	__kunwind_help | string replace -rf $pattern '$2\t$3'
	__kunwind_help | string replace -rf $pattern '$1\t$3' | string match -e -- -
end

function __kunwind_argument -d 'Prints the name that the help text gives to the argument of an option'
	for line in (__kunwind_help | string match -r '^ +(?:-[A-Za-z], )?--[a-z-]+ [A-Z].*')
		set -l fields (string replace -a , '' -- $line | string split -n ' ')
		if test $fields[1] = $argv[1]
			string match -q -- '--*' $fields[2]; and echo $fields[3]; or echo $fields[2]
		else if test $fields[2] = $argv[1]
			echo $fields[3]
		end
	end
end

# Prints what may stand here. The arguments after the COMMAND of "run", "record" and "profile" are
# that command's.
function __kunwind_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l usage (__kunwind_help)[1]
	if not set -q words[2]
		__kunwind_words
		printf '%s\n' --help --version
		return
	end
	set -l argument
	for word in $words[3..-1]
		if test -n "$argument"
			set argument
		else if string match -q -- '-?*' $word; and test $word != --
			set argument (__kunwind_argument $word)
		else if string match -q '* COMMAND *' $usage
			__fish_complete_subcommand --fcs-skip=2
			return
		end
	end
	switch "$argument"
	case PID
		__fish_complete_pids
	case 'FILE*' ELF
		__fish_complete_path $current
	case DIR TRACE
		__fish_complete_directories $current
	case WEIGHT
		printf '%s\n' events blocked off-cpu lock cpu
	case LIST
		__fish_append , syscalls sched_switch sched_waking openat read write futex
	case TABLES
		__fish_append , call cause event thread result file function reason
	case ''
		__kunwind_options
		switch $usage
		case '* COMMAND *'
			string match -q -- '-*' $current; or __fish_complete_subcommand --fcs-skip=2
		case '* FORMAT *' '*\[on|off\]*'
			__kunwind_words
		case '* PID...*'
			__fish_complete_pids
		case '*TRACE*'
			__fish_complete_directories $current
		case '*ELF*'
			__fish_complete_path $current
		end
	end
end

complete -c kunwind -f -a '(__kunwind_complete)'
