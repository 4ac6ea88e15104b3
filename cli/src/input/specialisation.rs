//! Specialisation constants on a command line: `ID=VALUE`.

use thiserror::Error;

/// The value is an integer of 32 bits, a truth value, or a float when it has a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpecConstant {
    pub(crate) id: u32,
    pub(crate) bits: u32,
}

/// What is no `ID=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not ID=VALUE with two numbers")]
pub(crate) struct NotSpecConstant {
    text: String,
}

impl std::str::FromStr for SpecConstant {
    type Err = NotSpecConstant;

    fn from_str(text: &str) -> Result<SpecConstant, NotSpecConstant> {
        let bits = |value: &str| {
            let hex = value
                .strip_prefix("0x")
                .map(|digits| u32::from_str_radix(digits, 16).ok());
            hex.flatten()
                .or_else(|| value.parse::<u32>().ok())
                .or_else(|| value.parse::<i32>().ok().map(i32::cast_unsigned))
                .or_else(|| value.parse::<bool>().ok().map(u32::from))
                .or_else(|| value.parse::<f32>().ok().map(f32::to_bits))
        };
        let parsed = text.split_once('=').and_then(|(id, value)| {
            let id = id.parse().ok()?;
            Some(SpecConstant {
                id,
                bits: bits(value)?,
            })
        });
        parsed.ok_or_else(|| NotSpecConstant {
            text: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specialisation_constants_are_bits() {
        #[rustfmt::skip]
        let table = [
            ("3=-1",    3, u32::MAX),
            ("0=1.0",   0, 0x3F80_0000),
            ("1=true",  1, 1),
            ("2=0x10",  2, 16),
        ];
        for (text, id, bits) in table {
            assert_eq!(text.parse(), Ok(SpecConstant { id, bits }));
        }
        let error = "x".parse::<SpecConstant>().unwrap_err();
        assert_eq!(error.to_string(), "`x` is not ID=VALUE with two numbers");
    }
}
