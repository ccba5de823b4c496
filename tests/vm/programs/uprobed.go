// SPDX-License-Identifier: MIT

// Functions that are called directly and through a func value, for t-uprobes.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

//go:noinline
func leaf(n int) int { return n*3 + 1 }

//go:noinline
func through(f func(int) int, n int) int { return f(n) + 1 }

//go:noinline
func outer(n int) int { return through(leaf, n) + 2 }

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	sum := 0
	for i := 0; i < rounds; i++ {
		sum += outer(i)
		time.Sleep(2 * time.Millisecond)
	}
	fmt.Println(sum)
}
