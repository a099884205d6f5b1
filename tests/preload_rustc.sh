#!/bin/bash
# rustc, which has LLVM and threads in its process, and a program made by it: collections, strings, threads that hand
# their work on, errors of the compiler, and a panic.

. "${INK_SRCDIR:?}/tests/lib.sh"
need rustc gcc sha256sum

cat >"$scratch/main.rs" <<'END'
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

#[repr(align(64))]
#[derive(Clone)]
struct Wide([u8; 64]);

fn random(seed: &mut u64, n: u64) -> u64 {
    *seed = *seed * 16807 % 2147483647;
    *seed % n
}

fn churn(number: u64) -> u64 {
    let mut seed = number + 1;
    let mut slots: Vec<Option<Vec<u8>>> = vec![None; 500];
    let mut total = 0;
    for i in 0..40000 {
        let at = random(&mut seed, 500) as usize;
        total += slots[at].take().map_or(0, |old| old.len() as u64 + old[0] as u64);
        let size = 1 + random(&mut seed, if i % 100 == 0 { 100000 } else { 700 }) as usize;
        let mut data = if i % 2 == 0 { vec![0; size] } else { Vec::new() };
        data.push(i as u8);
        slots[at] = Some(data);
    }
    total
}

fn main() {
    let mut seed = 42;
    let mut tree: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut count: HashMap<String, usize> = HashMap::new();
    for i in 0..200000 {
        let word = format!("word{}", random(&mut seed, 9999));
        *count.entry(word.clone()).or_insert(0) += i;
        tree.entry(random(&mut seed, 500)).or_default().push(word);
    }
    let text: String = tree.values().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    println!("{} {} {}", text.len(), count.len(), count["word17"]);
    println!("{}", text.replace("word1", "W").split(' ').filter(|word| word.starts_with('W')).count());

    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || {
                for i in 0..2000 {
                    sender.send(vec![number as u8; i]).unwrap();
                }
                churn(number)
            })
        })
        .collect();
    drop(sender);
    println!("{}", receiver.iter().map(|data: Vec<u8>| data.len()).sum::<usize>());
    let sums: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    println!("{:?}", sums);

    let wide = vec![Wide([1; 64]); 100];
    assert_eq!(wide.as_ptr() as usize % 64, 0);
    println!("{}", wide.iter().map(|w| w.0[63] as u32).sum::<u32>());
    let mut none: Vec<u8> = Vec::new();
    println!("{}", none.try_reserve(1 << 60).is_err());
    let nothing: Option<u8> = None;
    nothing.expect("the end");
}
END
printf 'fn main() {\n    let text = String::new();\n    drop(text);\n    println!("{}", text, missing);\n}\n' \
    >"$scratch/wrong.rs"

work() {
    cp "$scratch"/*.rs .
    rustc --edition 2021 -C opt-level=1 -C codegen-units=2 --emit=obj,link main.rs
    sha256sum main*.o
    ./main
    echo "the program ended with $?"
    rustc --edition 2021 --color never wrong.rs
}

compare 1 work
grep -q 'ended with 101' "$scratch/inkalloc.out" || fail "the program did not run"
prove rustc rustc --emit=metadata -o "$scratch/metadata" "$scratch/main.rs"
