/* SPDX-License-Identifier: MIT */
/*
 * points.h - the functions at whose calls the two stacks are compared
 *
 * One POINT(name) for each: functions that a C++ throw, its landing pads and a
 * forced unwind call, functions that the tests of both libunwinds call, and those
 * that end a program. A call that does not return may be the last instruction of
 * its function.
 */
POINT(_Unwind_RaiseException)
POINT(_Unwind_ForcedUnwind)
POINT(_Unwind_Resume)
POINT(_Unwind_Resume_or_Rethrow)
POINT(_Unwind_Backtrace)
POINT(_Unwind_DeleteException)
POINT(__cxa_throw)
POINT(__cxa_rethrow)
POINT(__cxa_begin_catch)
POINT(__cxa_end_catch)
POINT(__cxa_call_unexpected)
POINT(__gxx_personality_v0)
POINT(__gcc_personality_v0)
POINT(_ZSt9terminatev)
POINT(backtrace)
POINT(unw_backtrace)
POINT(unw_getcontext)
POINT(unw_init_local)
POINT(unw_step)
POINT(__unw_getcontext)
POINT(__unw_init_local)
POINT(__unw_step)
POINT(_Ux86_64_getcontext)
POINT(_ULx86_64_init_local)
POINT(_ULx86_64_step)
POINT(_Ux86_64_init_local)
POINT(_Ux86_64_step)
POINT(pthread_exit)
POINT(longjmp)
POINT(siglongjmp)
POINT(__longjmp_chk)
POINT(raise)
POINT(abort)
POINT(exit)
POINT(_exit)
POINT(puts)
POINT(malloc)
POINT(free)
