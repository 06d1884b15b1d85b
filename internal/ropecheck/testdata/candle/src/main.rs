//! What candle makes of the float32 on standard input, for engines.py. "functions": their cosines and sines;
//! "rotate": heads [8][2][64] at the positions 60001 to 60008, rotated as its Qwen 3 does with base 25000.
use candle_core::{DType, Device::Cpu, Result, Tensor};
use std::io::{Read, Write};

fn main() -> Result<()> {
    let mut bytes = vec![];
    std::io::stdin().read_to_end(&mut bytes)?;
    let x: Vec<f32> = bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let out = if std::env::args().nth(1).as_deref() == Some("functions") {
        let n = x.len();
        let x = Tensor::from_vec(x, n, &Cpu)?;
        Tensor::cat(&[x.cos()?, x.sin()?], 0)?
    } else {
        let (base, dim) = (25000f64, 64);
        let frequencies: Vec<f32> = (0..dim).step_by(2).map(|i| 1f32 / base.powf(i as f64 / dim as f64) as f32).collect();
        let frequencies = Tensor::from_vec(frequencies, (1, dim / 2), &Cpu)?;
        let angles = Tensor::arange(60001u32, 60009, &Cpu)?.to_dtype(DType::F32)?.reshape((8, 1))?.matmul(&frequencies)?;
        let (cos, sin) = (angles.cos()?.unsqueeze(1)?, angles.sin()?.unsqueeze(1)?);
        let heads = Tensor::from_vec(x, (8, 2, dim), &Cpu)?;
        let (a, b) = (heads.narrow(2, 0, dim / 2)?, heads.narrow(2, dim / 2, dim / 2)?);
        let first = (a.broadcast_mul(&cos)? - b.broadcast_mul(&sin)?)?;
        let second = (b.broadcast_mul(&cos)? + a.broadcast_mul(&sin)?)?;
        Tensor::cat(&[first, second], 2)?.flatten_all()?
    };
    let bytes: Vec<u8> = out.to_vec1::<f32>()?.iter().flat_map(|y| y.to_le_bytes()).collect();
    std::io::stdout().write_all(&bytes)?;
    Ok(())
}
