//! Syndrome: what an exception's ESR says, in words.
//!
//! Serves EL1 and EL2 alike: the layout is the same. Without the feature `text` there is the number alone, for images whose size
//! counts: `eitri explain ESR_EL1=0x96000005` has the words.
//! Facts: the field positions and codes are those of the architecture's ESR_ELx; boards.md 5 step 3 has one of them.

use crate::DataAbort;
use bitfield::bitfield;
use core::fmt;

bitfield! {
    /// An ESR value.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Syndrome(pub u64);
    impl Debug;
    /// Exception class.
    pub u8, class, _: 31, 26;
}

#[cfg(feature = "text")]
/// What an exception was taken for: the codes that an image can meet.
#[rustfmt::skip]
const CLASSES: &[(u8, &str)] = &[
    (0x00, "undefined instruction"),
    (0x01, "WFI or WFE"),
    (0x07, "FP or SIMD access"),
    (0x0E, "illegal execution state"),
    (0x15, "SVC"),
    (0x16, "HVC"),
    (0x17, "SMC"),
    (0x18, "system register access"),
    (0x20, "instruction abort, lower level"),
    (0x21, "instruction abort"),
    (0x22, "PC alignment"),
    (0x24, "data abort, lower level"),
    (0x25, "data abort"),
    (0x26, "SP alignment"),
    (0x2C, "floating-point exception"),
    (0x2F, "SError"),
    (0x3C, "BRK"),
];

#[cfg(feature = "text")]
/// What an abort was for; the low two bits of the first four are a level.
#[rustfmt::skip]
const STATUSES: &[(u8, u8, &str)] = &[
    // code, mask, words
    (0x00, 0x3C, "address size"),
    (0x04, 0x3C, "nothing mapped"),
    (0x08, 0x3C, "access flag"),
    (0x0C, 0x3C, "permission"),
    (0x10, 0x3F, "external abort"),
    (0x14, 0x3C, "external abort on a table walk"),
    (0x18, 0x3F, "parity or ECC"),
    (0x21, 0x3F, "alignment"),
    (0x30, 0x3F, "TLB conflict"),
];

impl Syndrome {
    /// Whether it is a data abort.
    pub fn is_data_abort(self) -> bool {
        matches!(self.class(), 0x24 | 0x25)
    }

    /// Whether FAR says where it was.
    pub fn has_address(self) -> bool {
        matches!(self.class(), 0x20 | 0x21 | 0x22 | 0x24 | 0x25)
    }

    /// The class in words.
    #[cfg(feature = "text")]
    pub fn class_name(self) -> &'static str {
        let class = self.class();
        let row = CLASSES.iter().find(|row| row.0 == class);
        row.map_or("unknown class", |row| row.1)
    }

    /// Why an abort happened, in words; `None` for what is not an abort.
    #[cfg(feature = "text")]
    pub fn status_name(self) -> Option<&'static str> {
        if !matches!(self.class(), 0x20 | 0x21 | 0x24 | 0x25) {
            return None;
        }
        let code = DataAbort(self.0).status();
        let row = STATUSES.iter().find(|row| code & row.1 == row.0);
        Some(row.map_or("unknown status", |row| row.2))
    }

    /// Whether a data abort was a write.
    pub fn is_write(self) -> bool {
        self.is_data_abort() && DataAbort(self.0).is_write()
    }
}

#[cfg(not(feature = "text"))]
impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ESR {:#010x}", self.0)
    }
}

#[cfg(feature = "text")]
impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class_name())?;
        if let Some(status) = self.status_name() {
            let access = match (self.is_data_abort(), self.is_write()) {
                (true, true) => " on a write",
                (true, false) => " on a read",
                (false, _) => "",
            };
            write!(f, ": {status}{access}")?;
        }
        write!(f, " (ESR {:#010x})", self.0)
    }
}

#[cfg(all(test, feature = "text"))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(esr: u64, text: &str) {
        assert_eq!(std::format!("{}", Syndrome(esr)), text);
    }

    #[test]
    fn syndromes_read_as_words() {
        check(0xF200_003C, "BRK (ESR 0xf200003c)");
        check(
            0x9600_0005,
            "data abort: nothing mapped on a read (ESR 0x96000005)",
        );
        check(
            0x8600_000F,
            "instruction abort: permission (ESR 0x8600000f)",
        );
        check(
            0x9600_0061,
            "data abort: alignment on a write (ESR 0x96000061)",
        );
        check(0xBE00_0000, "SError (ESR 0xbe000000)");
        check(0xFC00_0000, "unknown class (ESR 0xfc000000)");
    }

    #[test]
    fn an_address_is_there_for_aborts_alone() {
        assert!(Syndrome(0x9600_0005).has_address());
        assert!(!Syndrome(0xF200_003C).has_address());
    }
}
