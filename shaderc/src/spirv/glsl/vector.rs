//! Geometry.
use crate::ir::{Alu, Builder, Value};
use crate::spirv::ops::algebra::dot;

pub(super) fn length(b: &mut Builder<'_>, x: &[Value]) -> Value {
    if let [x] = x {
        return b.alu(Alu::FAbs, &[*x]);
    }
    let square = dot(b, x, x);
    b.alu(Alu::FSqrt, &[square])
}

pub(super) fn distance(b: &mut Builder<'_>, x: &[Value], y: &[Value]) -> Value {
    let difference = zip(b, Alu::FSub, x, y);
    length(b, &difference)
}

pub(super) fn normalize(b: &mut Builder<'_>, x: &[Value]) -> Vec<Value> {
    let square = dot(b, x, x);
    let factor = b.alu(Alu::FRsq, &[square]);
    scale(b, x, factor)
}

/// Of vectors of three.
pub(super) fn cross(b: &mut Builder<'_>, x: &[Value], y: &[Value]) -> Vec<Value> {
    (0..3)
        .map(|axis| {
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            let plus = b.alu(Alu::FMul, &[x[next], y[last]]);
            let minus = b.alu(Alu::FMul, &[y[next], x[last]]);
            b.alu(Alu::FSub, &[plus, minus])
        })
        .collect()
}

/// n, or -n if the other two point the same way.
pub(super) fn face_forward(
    b: &mut Builder<'_>,
    n: &[Value],
    incident: &[Value],
    reference: &[Value],
) -> Vec<Value> {
    let product = dot(b, reference, incident);
    let against = b.alu_float(Alu::FLt, product, 0.0);
    n.iter()
        .map(|n| {
            let minus = b.alu(Alu::FNeg, &[*n]);
            b.select(against, *n, minus)
        })
        .collect()
}

/// incident - 2 dot(n, incident) n
pub(super) fn reflect(b: &mut Builder<'_>, incident: &[Value], n: &[Value]) -> Vec<Value> {
    let product = dot(b, n, incident);
    let factor = b.alu_float(Alu::FMul, product, 2.0);
    let part = scale(b, n, factor);
    zip(b, Alu::FSub, incident, &part)
}

/// k = 1 - eta^2 (1 - d^2); zero for k < 0, else eta incident - (eta d + sqrt k) n.
pub(super) fn refract(
    b: &mut Builder<'_>,
    incident: &[Value],
    n: &[Value],
    eta: Value,
) -> Vec<Value> {
    let d = dot(b, n, incident);
    let one = b.float(1.0);
    let square = b.alu(Alu::FMul, &[d, d]);
    let rest = b.alu(Alu::FSub, &[one, square]);
    let eta_square = b.alu(Alu::FMul, &[eta, eta]);
    let product = b.alu(Alu::FMul, &[eta_square, rest]);
    let k = b.alu(Alu::FSub, &[one, product]);
    let total = b.alu_float(Alu::FLt, k, 0.0);
    let root = b.alu(Alu::FSqrt, &[k]);
    let along = b.alu(Alu::FMul, &[eta, d]);
    let factor = b.alu(Alu::FAdd, &[along, root]);
    let left = scale(b, incident, eta);
    let right = scale(b, n, factor);
    let zero = b.float(0.0);
    zip(b, Alu::FSub, &left, &right)
        .into_iter()
        .map(|value| b.select(total, zero, value))
        .collect()
}

fn zip(b: &mut Builder<'_>, alu: Alu, x: &[Value], y: &[Value]) -> Vec<Value> {
    let pairs = x.iter().zip(y);
    pairs.map(|(x, y)| b.alu(alu, &[*x, *y])).collect()
}

fn scale(b: &mut Builder<'_>, x: &[Value], factor: Value) -> Vec<Value> {
    x.iter().map(|x| b.alu(Alu::FMul, &[*x, factor])).collect()
}
