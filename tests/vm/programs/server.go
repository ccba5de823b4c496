// SPDX-License-Identifier: MIT

// A web server and its clients in one process. Some goroutines compare: they ask the
// run-time system for their own stack, and then make a system call that nobody else makes,
// close(FIRST + n). Standard output gets, for each n, the return addresses of that stack, the
// innermost first.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const first = 1000000

type record struct{ pcs []uintptr }

var (
	lock    sync.Mutex
	records []record
	store   = map[string]int{}
)

// The addresses of runtime.Callers() that are return addresses. After an inlined function, there is
// one for each function around it in the same frame.
func frames(pcs []uintptr) (found []uintptr) {
	inlined := false
	for i, pc := range pcs {
		if !inlined {
			found = append(found, pc)
		}
		frame, _ := runtime.CallersFrames(pcs[i : i+1]).Next()
		inlined = frame.Func == nil
	}
	return found
}

//go:noinline
func leaf() int {
	pcs := make([]uintptr, 256)
	pcs = pcs[:runtime.Callers(1, pcs)]
	lock.Lock()
	n := len(records)
	records = append(records, record{pcs})
	lock.Unlock()
	syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(first+n), 0, 0)
	return n
}

//go:noinline
func descend(depth int) int {
	if depth == 0 {
		return leaf()
	}
	var room [64]int
	room[depth%64] = descend(depth - 1)
	return room[depth%64] + 1
}

type node struct{ depth int }

//go:noinline
func (n *node) visit(f func(int) int) int {
	return f(n.depth) + 1
}

//go:noinline
func through(depth int) int {
	n := &node{depth}
	return n.visit(descend) + 1
}

//go:noinline
func deferred(depth int) (n int) {
	defer func() { n = through(depth) }()
	return 0
}

//go:noinline
func recovering(depth int) (n int) {
	defer func() {
		recover()
		n = through(depth)
	}()
	var nothing *node
	return nothing.depth // a nil dereference: a signal, then a panic
}

//go:noinline
func reflected(depth int) int {
	return int(reflect.ValueOf(through).Call([]reflect.Value{reflect.ValueOf(depth)})[0].Int())
}

func compare(done *sync.WaitGroup) {
	defer done.Done()
	for i := 0; i < 20; i++ {
		descend(i)
		through(5 * i)
		deferred(i)
		recovering(i)
		reflected(i)
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	lock.Lock()
	store[r.URL.Path]++
	lock.Unlock()
	f, err := os.CreateTemp("", "server")
	if err == nil {
		json.NewEncoder(f).Encode(map[string]string{"sum": fmt.Sprintf("%x", sum[:4])})
		f.Close()
		os.Remove(f.Name())
	}
	time.Sleep(time.Millisecond)
	fmt.Fprintln(w, len(body))
}

func main() {
	number := 25 // requests of each client
	if len(os.Args) > 1 {
		number, _ = strconv.Atoi(os.Args[1])
	}
	server := httptest.NewServer(http.HandlerFunc(handle))
	var done sync.WaitGroup
	for i := 0; i < 4; i++ {
		done.Add(2)
		go func() { compare(&done) }() // "go compare(&done)" makes a frame that Go hides
		go func(i int) {
			defer done.Done()
			for j := 0; j < number; j++ {
				r, err := http.Post(fmt.Sprintf("%s/%d/%d", server.URL, i, j), "text/plain",
					strings.NewReader(strings.Repeat("x", 100*(j%25))))
				if err == nil {
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
			}
		}(i)
	}
	done.Wait()
	server.Close()
	out := bufio.NewWriter(os.Stdout)
	for n, r := range records {
		fmt.Fprintf(out, "%d", first+n)
		for _, pc := range frames(r.pcs) {
			fmt.Fprintf(out, " %x", pc)
		}
		fmt.Fprintln(out)
	}
	out.Flush()
}
