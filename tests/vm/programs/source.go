// SPDX-License-Identifier: MIT
package main

/*
#include <unistd.h>
static void read_byte(void) { char c; if (read(0, &c, 1)) {} }
*/
import "C"

import (
	"fmt"
	"os"
	"time"
)

func nest(n int) {
	if n > 0 {
		nest(n - 1)
		fmt.Sprint(n)
		return
	}
	os.Stdin.Read(make([]byte, 1))
}

func main() {
	go func() { C.read_byte() }()
	go func() { time.Sleep(time.Hour) }()
	nest(5)
}
