# SPDX-License-Identifier: MIT
# fish completion for kunwind(1)

function __kunwind_command -d 'The command is one of the arguments'
	set -l words (commandline -opc)
	set -q words[2]; and contains -- $words[2] $argv
end

# The arguments after the COMMAND of "run", "record" and "profile" are that command's.
function __kunwind_is -d 'The command is one of the arguments, and takes arguments of its own here'
	__kunwind_command $argv; or return 1
	__kunwind_command run record profile; or return 0
	set -l words (commandline -opc)
	set -l value 0
	for word in $words[3..-1]
		if test $value = 1
			set value 0
		else if contains -- $word -e -F -p -o --event --frequency --pid --output --buffer --trigger --memory --interval --snapshots
			set value 1
		else if test $word = --; or not string match -q -- '-*' $word
			return 1
		end
	end
end

function __kunwind_has_no_command
	set -l words (commandline -opc)
	not set -q words[2]
end

complete -c kunwind -f
complete -c kunwind -s h -l help -d 'Print help' -n '__kunwind_has_no_command; or __kunwind_is run register unregister system-wide status doctor record profile snapshot report waits flamegraph export show crashes symbolize dump'
complete -c kunwind -n __kunwind_has_no_command -s V -l version -d 'Print the version'
complete -c kunwind -n __kunwind_has_no_command -a run -d 'Register this process, then become COMMAND'
complete -c kunwind -n __kunwind_has_no_command -a register -d 'Register running processes'
complete -c kunwind -n __kunwind_has_no_command -a unregister -d 'Leave processes to the kernel\'s own stack walk again'
complete -c kunwind -n __kunwind_has_no_command -a system-wide -d 'Register every process, running or to come'
complete -c kunwind -n __kunwind_has_no_command -a status -d 'Processes, objects, memory, stacks by reason, hooks'
complete -c kunwind -n __kunwind_has_no_command -a doctor -d 'Check what is needed, and how to get what is missing'
complete -c kunwind -n __kunwind_has_no_command -a record -d 'Record a trace of COMMAND or of running processes'
complete -c kunwind -n __kunwind_has_no_command -a snapshot -d 'Write what a flight recorder holds'
complete -c kunwind -n __kunwind_has_no_command -a profile -d 'Sample what CPUs execute: COMMAND, running processes or all'
complete -c kunwind -n __kunwind_has_no_command -a report -d 'Sum up a trace by system call and function'
complete -c kunwind -n __kunwind_has_no_command -a waits -d 'Explain times off the CPU'
complete -c kunwind -n __kunwind_has_no_command -a flamegraph -d 'Draw a trace as a flame graph'
complete -c kunwind -n __kunwind_has_no_command -a export -d 'Write a trace as folded stacks, for speedscope, Perfetto, Trace Compass ...'
complete -c kunwind -n __kunwind_has_no_command -a show -d 'Print a trace\'s events with named call stacks'
complete -c kunwind -n __kunwind_has_no_command -a crashes -d 'Print each signal that kills a process'
complete -c kunwind -n __kunwind_has_no_command -a symbolize -d 'Name the addresses in the output of other tools'
complete -c kunwind -n __kunwind_has_no_command -a dump -d 'Print the unwind table that the kernel would use'

complete -c kunwind -n '__kunwind_command run record profile' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c kunwind -n '__kunwind_is run register' -l children -d 'Register child processes, too'
complete -c kunwind -n '__kunwind_is run register' -l no-children -d 'Register no child processes'
complete -c kunwind -n '__kunwind_is register unregister' -a '(__fish_complete_pids)'
complete -c kunwind -n '__kunwind_is register unregister system-wide status doctor dump' -l json -d 'Print JSON'
complete -c kunwind -n '__kunwind_is system-wide' -a 'on off'
complete -c kunwind -n '__kunwind_is status doctor dump' -l tsv -d 'Print tab-separated lines'
complete -c kunwind -n '__kunwind_is dump' -l saved -d 'Also the rules of rbx and r12 to r15'
complete -c kunwind -n '__kunwind_is dump' -F

complete -c kunwind -n '__kunwind_is record profile' -s e -l event -x -a '(__fish_append , syscalls sched_switch sched_waking openat read write futex)' -d 'System calls and tracepoints'
complete -c kunwind -n '__kunwind_is record profile' -s c -l children -d 'With --pid: also its child processes'
complete -c kunwind -n '__kunwind_is record profile' -s o -l output -x -a '(__fish_complete_directories)' -d 'Directory of the trace'
complete -c kunwind -n '__kunwind_is record profile' -s k -l kernel -d 'Also record kernel stacks'
complete -c kunwind -n '__kunwind_is record profile' -l context -d 'Whole stacks in each event'
complete -c kunwind -n '__kunwind_is record profile' -l buffer -x -d 'Bytes of each buffer'
complete -c kunwind -n '__kunwind_is record profile' -s q -l quiet -d 'No closing words'
complete -c kunwind -n '__kunwind_is record profile' -s F -l frequency -x -d 'Samples of CPUs a second'
complete -c kunwind -n '__kunwind_is record' -l flight -d 'Keep the last events in memory'
complete -c kunwind -n '__kunwind_is record' -l trigger -x -d 'When to take a snapshot'
complete -c kunwind -n '__kunwind_is record' -l memory -x -d 'Bytes of all buffers'
complete -c kunwind -n '__kunwind_is record' -l interval -x -d 'Least number of seconds between snapshots'
complete -c kunwind -n '__kunwind_is record' -l snapshots -x -d 'Largest number of snapshots'
complete -c kunwind -n '__kunwind_is record' -l left-over -d 'List sessions of killed recorders'

complete -c kunwind -n '__kunwind_is report waits flamegraph export show crashes symbolize' -a '(__fish_complete_directories)'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -s e -l event -x -d 'Only events whose name matches'
complete -c kunwind -n '__kunwind_is record profile report waits flamegraph export show crashes symbolize' -s p -l pid -x -a '(__fish_complete_pids)' -d 'Process'
complete -c kunwind -n '__kunwind_is record profile report waits flamegraph export show' -s a -l all -d 'All processes or events'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show crashes symbolize' -l debug-dir -x -a '(__fish_complete_directories)' -d 'Also look up objects and debug files there'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show crashes symbolize' -l no-local -d 'Not the files of this host'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -l tid -x -d 'Only this thread'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -l comm -x -d 'Only threads whose name matches'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -l from -x -d 'Only from this time on'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -l to -x -d 'Only before this time'
complete -c kunwind -n '__kunwind_is report waits flamegraph export' -l duration -x -d 'Only what takes so long: MIN..MAX'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show crashes' -l no-lines -d 'No inlined functions'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -l no-kernel -d 'No kernel functions'
complete -c kunwind -n '__kunwind_is report waits flamegraph export show' -l progress -d 'A line of progress every ten seconds'
complete -c kunwind -n '__kunwind_is report waits flamegraph export' -l offsets -d 'Tell apart functions without names'
complete -c kunwind -n '__kunwind_is record profile snapshot report waits show crashes symbolize' -s j -l json -d 'Print JSON'
complete -c kunwind -n '__kunwind_is report' -s b -l by -x -a '(__fish_append , call cause event thread result file function reason)' -d 'Only these tables'
complete -c kunwind -n '__kunwind_is report' -l tree -d 'The tree of calls'
complete -c kunwind -n '__kunwind_is report' -l depth -x -d 'Functions on a path of the tree'
complete -c kunwind -n '__kunwind_is report' -l least -x -d 'Smallest share in the tree, in percent'
complete -c kunwind -n '__kunwind_is report' -l callers -x -d 'What calls a function'
complete -c kunwind -n '__kunwind_is report' -l callees -x -d 'What a function calls'
complete -c kunwind -n '__kunwind_is waits' -l depth -x -d 'Functions of each stack'
complete -c kunwind -n '__kunwind_is waits' -l skip -x -d 'Functions that are no place where the program waits'
complete -c kunwind -n '__kunwind_is report waits' -s n -l top -x -d 'Lines of each table'
complete -c kunwind -n '__kunwind_is report' -s s -l sort -x -a 'events blocked off-cpu lock cpu self' -d 'Order of the functions'
complete -c kunwind -n '__kunwind_is flamegraph export' -s o -l output -r -F -d 'Output file'
complete -c kunwind -n '__kunwind_is flamegraph export' -s w -l weight -x -a 'events blocked off-cpu lock cpu' -d 'Weight'
complete -c kunwind -n '__kunwind_is flamegraph' -s t -l title -x -d 'Title'
complete -c kunwind -n '__kunwind_is flamegraph' -l bottom-up -d 'Callers below their functions'
complete -c kunwind -n '__kunwind_is flamegraph' -l least -x -d 'Narrowest frame, in percent'
complete -c kunwind -n '__kunwind_is flamegraph' -l base -x -a '(__fish_complete_directories)' -d 'Compare with this trace'
complete -c kunwind -n '__kunwind_is export' -l folded -d 'A line for each stack'
complete -c kunwind -n '__kunwind_is export' -l speedscope -d 'For speedscope'
complete -c kunwind -n '__kunwind_is export' -l firefox -d 'For Firefox Profiler'
complete -c kunwind -n '__kunwind_is export' -l perfetto -d 'For Perfetto'
complete -c kunwind -n '__kunwind_is export' -l pprof -d 'For pprof'
complete -c kunwind -n '__kunwind_is export' -l ctf -d 'For Trace Compass'
complete -c kunwind -n '__kunwind_is show crashes' -s n -l limit -x -d 'Stop after some events'
complete -c kunwind -n '__kunwind_is show' -s s -l summary -d 'Only counts'
complete -c kunwind -n '__kunwind_is show' -l no-symbols -d 'Addresses only'
complete -c kunwind -n '__kunwind_is show' -s t -l tsv -d 'Print tab-separated lines'
complete -c kunwind -n '__kunwind_is symbolize' -s m -l maps -r -F -d 'A copy of /proc/PID/maps'
complete -c kunwind -n '__kunwind_is symbolize' -l at -x -d 'Time of the trace'
complete -c kunwind -n '__kunwind_is symbolize' -l exact -d 'All addresses are program counters'
complete -c kunwind -n '__kunwind_is symbolize' -l return -d 'All addresses are return addresses'
complete -c kunwind -n '__kunwind_is symbolize' -l objects -d 'Add objects'
complete -c kunwind -n '__kunwind_is symbolize' -s l -l lines -d 'Add source lines'
complete -c kunwind -n '__kunwind_is symbolize' -s i -l inlined -d 'Print inlined functions'
complete -c kunwind -n '__kunwind_is symbolize' -s w -l why -d 'Add why an address has no name'
