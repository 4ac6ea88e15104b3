//! The pattern of a block's partitions.

/// The partition of a texel. Of `small` blocks the pattern is twice as large.
pub(super) fn partition(seed: u32, partitions: u32, small: bool, at: [u32; 3]) -> usize {
    let [x, y, z] = at.map(|at| if small { 2 * at } else { at });
    let seed = seed + 1024 * (partitions - 1);
    let hash = hash(seed);
    let field = |low: u32| hash >> low & 0xf;
    let mut factors = [0, 4, 8, 12, 16, 20, 24, 28, 18, 22, 26, 0].map(field);
    factors[11] = hash >> 30 | (hash & 3) << 2;
    let odd = seed & 1 != 0;
    let wide = if seed & 2 != 0 { 4 } else { 5 };
    let by_count = if partitions == 3 { 6 } else { 5 };
    let (first, second) = if odd {
        (wide, by_count)
    } else {
        (by_count, wide)
    };
    let third = if seed & 16 != 0 { first } else { second };
    for (index, factor) in factors.iter_mut().enumerate() {
        let shift = match index {
            8.. => third,
            _ if index % 2 == 0 => first,
            _ => second,
        };
        *factor = (*factor * *factor) >> shift;
    }
    let n = factors;
    let candidates = [
        n[0] * x + n[1] * y + n[10] * z + (hash >> 14),
        n[2] * x + n[3] * y + n[11] * z + (hash >> 10),
        n[4] * x + n[5] * y + n[8] * z + (hash >> 6),
        n[6] * x + n[7] * y + n[9] * z + (hash >> 2),
    ];
    let mut best = (0, 0);
    for (index, candidate) in candidates[..partitions as usize].iter().enumerate() {
        let size = candidate & 63;
        if index == 0 || size > best.1 {
            best = (index, size);
        }
    }
    best.0
}

fn hash(seed: u32) -> u32 {
    let mut p = seed;
    p ^= p >> 15;
    p = p.wrapping_sub(p << 17);
    p = p.wrapping_add(p << 7);
    p = p.wrapping_add(p << 4);
    p ^= p >> 5;
    p = p.wrapping_add(p << 16);
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^ p >> 17
}
