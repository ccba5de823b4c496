// SPDX-License-Identifier: MIT
//
// main.go - Go that calls C from a recursion
//
// C runs on the thread's stack, Go on the goroutine's stack. An argument says how
// often C calls Go again.
package main

/*
#cgo CFLAGS: -O2
void opens(int n);
void calls(int more, int n);
*/
import "C"
import (
	"fmt"
	"os"
	"strconv"
)

//export calledBack
func calledBack(more, n C.int) {
	recurse(4, int(more), int(n))
}

//go:noinline
func recurse(left, more, n int) int {
	if left > 0 {
		return recurse(left-1, more, n) + 1
	}
	if more > 0 {
		C.calls(C.int(more-1), C.int(n))
	} else {
		C.opens(C.int(n))
	}
	return n
}

func main() {
	more := 0
	if len(os.Args) > 1 {
		more, _ = strconv.Atoi(os.Args[1])
	}
	for n := 0; n < 100; n++ {
		recurse(20, more, n)
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	fmt.Print(string(maps))
}
