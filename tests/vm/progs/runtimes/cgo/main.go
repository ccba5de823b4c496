// SPDX-License-Identifier: MIT
//
// main.go - Go that calls C from a recursion: C runs on the thread's own stack, Go on its own
package main

/*
#cgo CFLAGS: -I${SRCDIR}/.. -O2
#include "record.h"
static __attribute__((noinline)) void opens(int n)
{
	RECORD_ENTER();
	record_open("cgo", n);
	RECORD_LEAVE();
}
*/
import "C"
import (
	"fmt"
	"os"
)

//go:noinline
func recurse(left, n int) int {
	if left == 0 {
		C.opens(C.int(n))
		return n
	}
	return recurse(left-1, n) + 1
}

func main() {
	for n := 0; n < 100; n++ {
		recurse(20, n)
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	fmt.Print(string(maps))
}
