//! Lengths of unsized arrays of descriptors on a command line: `BINDING=N`.

use crate::input::buffer_source::BindingName;
use thiserror::Error;

/// The length of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorCount {
    pub(crate) name: BindingName,
    pub(crate) count: u32,
}

/// What is no `BINDING=N`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{text}` is not BINDING=N: write N or SET:N for the binding, and how many descriptors it has"
)]
pub(crate) struct NotDescriptorCount {
    text: String,
}

impl std::str::FromStr for DescriptorCount {
    type Err = NotDescriptorCount;

    fn from_str(text: &str) -> Result<DescriptorCount, NotDescriptorCount> {
        let parsed = text.split_once('=').and_then(|(name, count)| {
            let name: BindingName = name.parse().ok()?;
            let count = count.parse().ok().filter(|count| *count > 0)?;
            (name.element == 0).then_some(DescriptorCount { name, count })
        });
        parsed.ok_or_else(|| NotDescriptorCount {
            text: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_positive_and_of_whole_bindings() {
        let name = BindingName::new(1, 2);
        assert_eq!("1:2=8".parse(), Ok(DescriptorCount { name, count: 8 }));
        for text in ["2", "2=", "2=0", "2[1]=3", "x=3", "2=-1"] {
            assert!(text.parse::<DescriptorCount>().is_err(), "{text}");
        }
    }
}
