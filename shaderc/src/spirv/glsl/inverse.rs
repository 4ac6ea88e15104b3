//! Determinant and inverse by cofactors.
use crate::ir::{Alu, Builder, Value};

/// Of a square matrix given as columns.
pub(super) fn determinant(b: &mut Builder<'_>, columns: Vec<&[Value]>) -> Value {
    let rows: Vec<usize> = (0..columns.len()).collect();
    minor(b, &columns, &rows)
}

/// The inverse, as columns one after the other: adjugate times reciprocal of the determinant.
pub(super) fn inverse(b: &mut Builder<'_>, columns: Vec<&[Value]>) -> Vec<Value> {
    let size = columns.len();
    // cofactors[c * size + r] belongs to column c and row r.
    let mut cofactors = vec![];
    for column in 0..size {
        for row in 0..size {
            let others: Vec<&[Value]> = without(&columns, column);
            let rows = without(&(0..size).collect::<Vec<usize>>(), row);
            let value = minor(b, &others, &rows);
            cofactors.push(match (column + row) % 2 {
                0 => value,
                _ => b.alu(Alu::FNeg, &[value]),
            });
        }
    }
    let terms: Vec<(Value, Value)> = (0..size)
        .map(|row| (columns[0][row], cofactors[row]))
        .collect();
    let determinant = sum_of_products(b, &terms);
    let factor = b.alu(Alu::FRcp, &[determinant]);
    (0..size * size)
        .map(|index| {
            // The adjugate is the transpose of the cofactors.
            let cofactor = cofactors[index % size * size + index / size];
            b.alu(Alu::FMul, &[cofactor, factor])
        })
        .collect()
}

/// Determinant of these rows of the columns, as many as there are columns; along the first column.
fn minor(b: &mut Builder<'_>, columns: &[&[Value]], rows: &[usize]) -> Value {
    let Some((first, rest)) = columns.split_first() else {
        return b.float(1.0);
    };
    if rest.is_empty() {
        return first[rows[0]];
    }
    if let [second] = rest {
        let plus = b.alu(Alu::FMul, &[first[rows[0]], second[rows[1]]]);
        let minus = b.alu(Alu::FMul, &[first[rows[1]], second[rows[0]]]);
        return b.alu(Alu::FSub, &[plus, minus]);
    }
    let mut terms = vec![];
    for (number, row) in rows.iter().enumerate() {
        let others = without(rows, number);
        let value = minor(b, rest, &others);
        let value = match number % 2 {
            0 => value,
            _ => b.alu(Alu::FNeg, &[value]),
        };
        terms.push((first[*row], value));
    }
    sum_of_products(b, &terms)
}

fn sum_of_products(b: &mut Builder<'_>, terms: &[(Value, Value)]) -> Value {
    let (left, right): (Vec<Value>, Vec<Value>) = terms.iter().copied().unzip();
    crate::spirv::ops::algebra::dot(b, &left, &right)
}

fn without<T: Copy>(list: &[T], index: usize) -> Vec<T> {
    let mut list = list.to_vec();
    list.remove(index);
    list
}
