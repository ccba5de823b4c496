// SPDX-License-Identifier: MIT

// Two goroutines that never wait share one processor. Therefore the run-time system
// interrupts each by a signal, whose handler makes the goroutine call asyncPreempt().
package main

import "runtime"

var mask, sum int

func spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ mask
	}
	return s
}

func rounds(n int) {
	for i := 0; i < n; i++ {
		sum += spin(20000)
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	done := make(chan bool)
	for g := 0; g < 2; g++ {
		go func() {
			rounds(100)
			done <- true
		}()
	}
	<-done
	<-done
	println(sum)
}
