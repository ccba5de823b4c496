// SPDX-License-Identifier: MIT
// crasher.go - the same in Go, with GOTRACEBACK=crash
package main

import "os"

var sink int
var null *int

//go:noinline
func k_crash(mode string) int {
	if mode == "panic" {
		panic("as asked")
	}
	sink = *null
	return sink + 1
}

//go:noinline
func k_two(mode string) int {
	return k_crash(mode) + 1
}

//go:noinline
func k_one(mode string) int {
	return k_two(mode) + 1
}

func main() {
	mode := "null"
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	if mode == "goroutine" {
		done := make(chan int)
		go func() { done <- k_one("null") }()
		<-done
	}
	os.Exit(k_one(mode))
}
