// SPDX-License-Identifier: MIT
// crasher.rs - the same in Rust: a panic, a bad index, a load from address 0, an abort in a thread
use std::hint::black_box;

#[inline(never)]
fn k_crash(mode: &str) -> i32 {
    match mode {
        "panic" => panic!("as asked"),
        "index" => black_box(vec![1, 2, 3])[black_box(7)],
        "abort" => std::process::abort(),
        _ => unsafe { std::ptr::read_volatile(black_box(std::ptr::null::<i32>())) + 1 },
    }
}

#[inline(never)]
fn k_two(mode: &str) -> i32 {
    black_box(k_crash(mode)) + 1
}

#[inline(never)]
fn k_one(mode: &str) -> i32 {
    black_box(k_two(mode)) + 1
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode == "thread" {
        std::thread::spawn(|| black_box(k_one("abort"))).join().unwrap();
    }
    println!("{}", black_box(k_one(&mode)));
}
