//! Varyings that are the same constant at every vertex: the fragment shader has the constant, and interpolates nothing.
//!
//! Needs: both stages without dead code.  Guarantees: loads that are left read at least one component that varies; what is
//! mixed of equal numbers is that number.  Never: replaces an infinity or a NaN that is interpolated, whose mixture is another.
//! Facts: hardware/compiler-optimization.md 3 (each component takes the interpolator's time).

use std::collections::BTreeMap;

use crate::ir::rewrite::rewrite_where;
use crate::ir::{Builder, Function, Op, Output, Sampling, Value, Varying};

/// The components of a location; none for those that vary.
type Constants = [Option<u32>; 4];

/// Replaces components that the vertex shader stores as constants.
pub(crate) fn replace(vertex: &Function, fragment: &mut Function) {
    let constants = constants(vertex);
    if constants.is_empty() {
        return;
    }
    rewrite_where(
        fragment,
        |_, data| matches!(data.op, Op::LoadVarying(varying) if !varying.half),
        |b, data| match data.op {
            Op::LoadVarying(varying) => {
                let own = constants.get(&varying.location)?;
                load_others(b, varying, own, &data.args)
            }
            _ => None,
        },
    );
}

/// Constants that a vertex shader stores, by location.
fn constants(vertex: &Function) -> BTreeMap<u8, Constants> {
    let mut all: BTreeMap<u8, Constants> = BTreeMap::new();
    for (_, inst) in vertex.placed_insts() {
        let data = vertex.inst(inst);
        let Op::StoreOutput(Output::Varying { location, .. }) = data.op else {
            continue;
        };
        let mut own: Constants = [None; 4];
        for (constant, value) in own.iter_mut().zip(&data.args) {
            *constant = vertex.as_word(*value);
        }
        // Stores on different ways.
        let known = all.entry(location).or_insert(own);
        for (known, own) in known.iter_mut().zip(own) {
            *known = known.filter(|_| *known == own);
        }
    }
    all.retain(|_, own| own.iter().any(Option::is_some));
    all
}

/// Loads what varies of a location, all at once; nothing where all of it does.
fn load_others(
    b: &mut Builder<'_>,
    varying: Varying,
    constants: &Constants,
    args: &[Value],
) -> Option<Vec<Value>> {
    let constant = |number: u8| {
        let word = constants.get(usize::from(varying.first + number))?;
        let keeps =
            |word: &u32| varying.sampling == Sampling::Flat || f32::from_bits(*word).is_finite();
        word.filter(keeps)
    };
    let numbers = 0..varying.count;
    if !numbers.clone().any(|number| constant(number).is_some()) {
        return None;
    }
    let varies = |number: &u8| constant(*number).is_none();
    let first = numbers.clone().find(varies);
    let loaded = match first.zip(numbers.clone().rfind(varies)) {
        Some((first, last)) => {
            let load = Varying {
                first: varying.first + first,
                count: last - first + 1,
                ..varying
            };
            let values = b.inst(Op::LoadVarying(load), args);
            (first..=last).zip(values).collect()
        }
        None => vec![],
    };
    let words = numbers.map(|number| match constant(number) {
        Some(word) => b.word(word),
        None => {
            let own = loaded.iter().find(|(other, _)| *other == number);
            // All that vary are between the first and the last.
            own.map_or_else(|| b.word(0), |(_, value)| *value)
        }
    });
    Some(words.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;
    use crate::ir::verify::verify;

    /// The fragment shader behind the replacement.
    fn replaced(vertex: &str, loads: &str) -> String {
        let read = |text: String| parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let vertex = read(format!(
            "function main\nstage vertex\nb0:\n  %x = vertex_index\n  %y = u2f %x\n{vertex}  return\n"
        ));
        let mut fragment = read(format!(
            "function main\nstage fragment\nb0:\n{loads}  output.color.0.0.float %a, %b, %c, %d\n  return\n"
        ));
        replace(&vertex, &mut fragment);
        verify(&fragment).unwrap_or_else(|errors| panic!("{errors:?}\n{fragment}"));
        fragment.to_string()
    }

    const SMOOTH: &str = "  %a, %b, %c, %d = varying.2.0.4.center\n";

    #[test]
    fn components_that_are_constant_are_not_loaded() {
        let text = replaced("  output.varying.2.4 %y, 0.5, %y, 1.0\n", SMOOTH);
        assert!(text.contains("varying.2.0.3.center"), "{text}");
        assert!(text.contains(", 0.5, "), "{text}");
        assert!(text.contains(", 1.0\n"), "{text}");
        let text = replaced("  output.varying.2.4 0.0, 0.5, %y, 1.0\n", SMOOTH);
        assert!(text.contains("varying.2.2.1.center"), "{text}");
        let text = replaced("  output.varying.2.4 0.0, 0.5, 0.25, 1.0\n", SMOOTH);
        assert!(!text.contains("varying"), "{text}");
    }

    #[test]
    fn what_varies_or_is_no_number_is_loaded() {
        let whole = "varying.2.0.4.center";
        for vertex in [
            "  output.varying.2.4 %y, %y, %y, %y\n",
            "  output.varying.2.4 %y, %y, %y, 0x7f800000\n",
            "  output.varying.2.4 %y, %y, %y, 1.0\n  output.varying.2.4 %y, %y, %y, 0.5\n",
            "  output.varying.1.4 0.0, 0.0, 0.0, 1.0\n",
        ] {
            let text = replaced(vertex, SMOOTH);
            assert!(text.contains(whole), "{vertex}\n{text}");
        }
        // What is not mixed keeps its bits.
        let flat = SMOOTH.replace("center", "flat");
        let text = replaced("  output.varying.2.4 %y, %y, %y, 0x7f800000\n", &flat);
        assert!(text.contains("varying.2.0.3.flat"), "{text}");
    }
}
