// SPDX-License-Identifier: MIT
/* back.c - C functions that Go calls: open a file, or call Go again */
#include "../record.h"
#include "_cgo_export.h"

__attribute__((noinline)) void opens(int n)
{
	RECORD_ENTER();
	record_open("cgo", n);
	RECORD_LEAVE();
}

__attribute__((noinline)) void calls(int more, int n)
{
	RECORD_ENTER();
	calledBack(more, n);
	RECORD_LEAVE();
}
