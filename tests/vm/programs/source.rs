// SPDX-License-Identifier: MIT
use std::io::Read;
use std::thread;

fn nest(n: u32) -> usize {
    if n > 0 {
        return nest(n - 1) + 1;
    }
    std::io::stdin().read(&mut [0u8; 1]).unwrap()
}

fn main() {
    let parked = thread::spawn(thread::park);
    let (_sender, receiver) = std::sync::mpsc::channel::<u32>();
    thread::spawn(move || receiver.recv().ok());
    println!("{:?}", [5u32].iter().map(|n| nest(*n)).collect::<Vec<_>>());
    parked.join().unwrap();
}
