//! What a shader prints with `debugPrintfEXT`: a buffer beside the user's own, and its records as lines.
//!
//! The format is C's, with vectors (`%v3f`) and 64 bits (`%lu`, `%ul`), as `GLSL_EXT_debug_printf` has it.

use crate::input::buffer_source::BindingName;
use crate::input::given::Given;
use crate::output::streams::talk;
use crate::runs::dispatch::{Ran, Request};
use eitri_shaderc::Compiled;
use eitri_shaderc::printf::{PrintfBuffer, PrintfRecord, PrintfType, records};
use sprintf::Printf;

/// Where shaders print to: the last set, and a binding that nobody has.
pub(crate) const BUFFER: PrintfBuffer = PrintfBuffer {
    set: 10,
    binding: 65_535,
    bytes: 1 << 20,
};

const NAME: BindingName = BindingName {
    set: BUFFER.set,
    binding: BUFFER.binding,
    element: 0,
};

/// Gives the shader the buffer, if it prints.
pub(crate) fn attach(compiled: &Compiled, request: &mut Request) {
    if !compiled.printf.is_empty() {
        let zeros = vec![0; BUFFER.bytes as usize];
        request.resources.push(Given::buffer(NAME, zeros));
        request.saves.push(NAME);
    }
}

/// Tells what it printed, on standard error.
pub(crate) fn tell(compiled: &Compiled, ran: &Ran) {
    let Some((_, bytes)) = ran.saved.iter().find(|(name, _)| *name == NAME) else {
        return;
    };
    let (found, lost) = records(&compiled.printf, bytes);
    for record in &found {
        // A format ends with a line or does not; each call is a line here.
        talk!("{}", text(record).trim_end_matches('\n'));
    }
    if lost > 0 {
        talk!("debugPrintf: there was no room for {lost} words more");
    }
}

/// A record as text. What the format asks for and the call has not is left as it stands there.
fn text(record: &PrintfRecord<'_>) -> String {
    let mut arguments = record.call.arguments.iter().zip(&record.arguments);
    let mut text = String::new();
    let mut rest = record.call.format.as_str();
    while let Some(start) = rest.find('%') {
        text.push_str(&rest[..start]);
        let from = &rest[start..];
        if let Some(after) = from.strip_prefix("%%") {
            text.push('%');
            rest = after;
            continue;
        }
        let Some(conversion) = Conversion::of(from) else {
            text.push('%');
            rest = &from[1..];
            continue;
        };
        rest = &from[conversion.length..];
        match arguments.next() {
            Some(((ty, _), scalars)) => {
                let scalars: Vec<String> = scalars
                    .iter()
                    .map(|bits| conversion.print(*ty, *bits))
                    .collect();
                text.push_str(&scalars.join(", "));
            }
            None => text.push_str(&from[..conversion.length]),
        }
    }
    text + rest
}

/// A conversion of a format: `%-8.3v4lf`.
struct Conversion<'f> {
    /// Flags, width and precision.
    head: &'f str,
    /// The letter.
    letter: char,
    /// Bytes of all of it.
    length: usize,
}

impl Conversion<'_> {
    fn of(from: &str) -> Option<Conversion<'_>> {
        let body = from.strip_prefix('%')?;
        let head = body.trim_start_matches(|c: char| "-+ #0123456789.".contains(c));
        let flags = &body[..body.len() - head.len()];
        let vector = head
            .strip_prefix('v')
            .map_or(head, |it| it.strip_prefix(['2', '3', '4']).unwrap_or(head));
        // `lu` and `ul` are the same.
        let rest = vector.strip_prefix('l').unwrap_or(vector);
        let letter = rest
            .chars()
            .next()
            .filter(|it| "diouxXaAeEfFgG".contains(*it))?;
        let rest = &rest[1..];
        let rest = match letter {
            'u' | 'x' | 'X' => rest.strip_prefix('l').unwrap_or(rest),
            _ => rest,
        };
        Some(Conversion {
            head: flags,
            letter,
            length: from.len() - rest.len(),
        })
    }

    /// One scalar.
    fn print(&self, ty: PrintfType, bits: u64) -> String {
        let Conversion { head, letter, .. } = self;
        let format = format!("%{head}{letter}");
        let float = "aAeEfFgG".contains(*letter);
        let printed = match ty {
            PrintfType::Float(_) if !float => return self.print(PrintfType::Unsigned(32), bits),
            PrintfType::Float(_) => one(&format, &ty.float(bits).unwrap_or_default()),
            PrintfType::Bool | PrintfType::Unsigned(_) if float => one(&format, &(bits as f64)),
            PrintfType::Signed(width) => {
                let unused = 64 - width.clamp(1, 64);
                let value = (bits << unused).cast_signed() >> unused;
                match (float, letter) {
                    (true, _) => one(&format, &(value as f64)),
                    (_, 'd' | 'i') => one(&format, &value),
                    _ => one(&format, &(bits << unused >> unused)),
                }
            }
            PrintfType::Bool | PrintfType::Unsigned(_) => match letter {
                'd' | 'i' => one(&format, &(bits as u32).cast_signed()),
                _ => one(&format, &bits),
            },
        };
        printed.unwrap_or(format)
    }
}

fn one(format: &str, argument: &dyn Printf) -> Option<String> {
    sprintf::vsprintf(format, &[argument]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_shaderc::printf::PrintfCall;

    #[track_caller]
    fn prints(format: &str, arguments: &[(PrintfType, &[u64])], wanted: &str) {
        let call = PrintfCall {
            format: format.to_owned(),
            arguments: arguments
                .iter()
                .map(|(ty, bits)| (*ty, bits.len() as u32))
                .collect(),
        };
        let record = PrintfRecord {
            call: &call,
            arguments: arguments.iter().map(|(_, bits)| bits.to_vec()).collect(),
        };
        assert_eq!(text(&record), wanted);
    }

    const fn float(value: f32) -> u64 {
        value.to_bits() as u64
    }

    #[test]
    fn formats_are_those_of_c_with_vectors_and_64_bits() {
        let (signed, unsigned) = (PrintfType::Signed(32), PrintfType::Unsigned(32));
        let f32s = PrintfType::Float(32);
        prints("no arguments, 100%%", &[], "no arguments, 100%");
        prints(
            "%d|%5d|%-4i|",
            &[(signed, &[0xFFFF_FFFF]), (signed, &[7]), (signed, &[3])],
            "-1|    7|3   |",
        );
        prints(
            "%u %x %08X %o",
            &[
                (unsigned, &[0xFFFF_FFFF]),
                (unsigned, &[255]),
                (unsigned, &[0xBEEF]),
                (unsigned, &[8]),
            ],
            "4294967295 ff 0000BEEF 10",
        );
        prints(
            "%f %.2f %e %g",
            &[
                (f32s, &[float(1.5)]),
                (f32s, &[float(-0.3)]),
                (f32s, &[float(1500.0)]),
                (f32s, &[float(0.25)]),
            ],
            "1.500000 -0.30 1.500000e+03 0.25",
        );
        prints(
            "at %v3f!",
            &[(f32s, &[float(1.0), float(2.0), float(3.0)])],
            "at 1.000000, 2.000000, 3.000000!",
        );
        prints(
            "%1.2v2f",
            &[(f32s, &[float(1.0), float(2.0)])],
            "1.00, 2.00",
        );
        let wide = PrintfType::Unsigned(64);
        prints(
            "%lu %ul %lx",
            &[(wide, &[1 << 40]), (wide, &[u64::MAX]), (wide, &[1 << 36])],
            "1099511627776 18446744073709551615 1000000000",
        );
        prints(
            "%d %u",
            &[
                (PrintfType::Signed(16), &[0xFFFE]),
                (PrintfType::Bool, &[1]),
            ],
            "-2 1",
        );
        prints("%f", &[(PrintfType::Float(16), &[0x3C00])], "1.000000");
    }

    #[test]
    fn what_does_not_fit_is_left_as_it_stands() {
        let unsigned = PrintfType::Unsigned(32);
        prints("%u and %u", &[(unsigned, &[1])], "1 and %u");
        prints("50% off, %q, %", &[], "50% off, %q, %");
        prints("%f", &[(unsigned, &[2])], "2.000000");
        prints("%x", &[(PrintfType::Float(32), &[float(1.0)])], "3f800000");
    }
}
