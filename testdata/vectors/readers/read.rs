// rustc --edition 2021 read.rs && ./read ../1
use std::{env, fs, process};

fn main() {
    let folder = env::args().nth(1).expect("a folder");
    let data = fs::read(format!("{folder}/data.bin")).unwrap();
    let index = fs::read_to_string(format!("{folder}/index.txt")).unwrap();
    let mut lines = index.lines();
    assert_eq!(lines.next(), Some("posenc-vectors 1"));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, kind, shape) = (words[0], words[1], words[4]);
        let (first, count): (usize, usize) = (words[2].parse().unwrap(), words[3].parse().unwrap());
        let size = match kind {
            "float32" => 4,
            "float64" | "int64" => 8,
            _ => {
                eprintln!("{name} of {kind}: want float32, float64 or int64");
                process::exit(1);
            }
        };
        let values = data[first..first + count * size].chunks(size).map(|b| match kind {
            "float32" => f32::from_le_bytes(b.try_into().unwrap()) as f64,
            "float64" => f64::from_le_bytes(b.try_into().unwrap()),
            _ => i64::from_le_bytes(b.try_into().unwrap()) as f64,
        });
        println!("{name} {kind} {shape} {:.6}", values.fold(0.0, |a, b| a + b));
    }
}
