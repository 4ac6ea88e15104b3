//! Modifiers: the dot-separated words of an instruction, of a source, and its flow.
//!
//! The words are the assembler's; `pack` hands them to `eitri-isa`, which refuses any that an instruction lacks.
//! Facts: hardware/valhall-isa.md 6 (flow), 7.3 (source words), 8.2 (clamp, round), 9 (the rest).

/// Defines an enum whose variants are assembler words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub(crate) enum $name { $($variant,)* }

        impl $name {
            /// Every word.
            pub(crate) const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The word in assembly text.
            pub(crate) fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// Word on the instruction.
    Modifier {
        // Result of a float operation.
        Clamp0Inf "clamp_0_inf",
        ClampM11 "clamp_m1_1",
        Clamp01 "clamp_0_1",
        // Rounding; nearest-even is no word.
        RoundUp "rtp",
        RoundDown "rtn",
        RoundZero "rtz",
        // Condition of a compare, select or branch.
        Eq "eq",
        Gt "gt",
        Ge "ge",
        Ne "ne",
        Lt "lt",
        Le "le",
        Gtlt "gtlt",
        Total "total",
        // Result of a compare.
        ResultInt "i1",
        ResultFloat "f1",
        ResultMask "m1",
        ResultChain "u1",
        // MUX mode; int_zero is no word.
        MuxBit "bit",
        Saturate "saturate",
        NotResult "not_result",
        // Reduction of FREXP.
        FrexpLog "log",
        // Memory.
        Force "force",
        Unsigned "unsigned",
        LaneH0 "h0",
        LaneW0 "w0",
        Compare "compare",
        // Atomic operations.
        AtomAdd "aadd",
        AtomSmin "asmin",
        AtomSmax "asmax",
        AtomUmin "aumin",
        AtomUmax "aumax",
        AtomAnd "aand",
        AtomOr "aor",
        AtomXor "axor",
        AtomExchange "axchg",
        AtomInc "ainc",
        AtomDec "adec",
        // Cross-lane.
        LaneXor "xor",
        Subgroup2 "subgroup2",
        Subgroup4 "subgroup4",
        Subgroup8 "subgroup8",
        Subgroup16 "subgroup16",
    }
}

words! {
    /// Selection of bytes or halves of a source.
    Select {
        All "",
        H0 "h0",
        H1 "h1",
        H00 "h00",
        H10 "h10",
        H11 "h11",
        B0 "b0",
        B1 "b1",
        B2 "b2",
        B3 "b3",
        B00 "b00",
        B11 "b11",
        B22 "b22",
        B33 "b33",
        W0 "w0",
        And "and",
    }
}

/// What happens after an instruction and before the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Flow {
    #[default]
    None,
    /// Wait until the slots of this mask (bits 0, 1, 2, 6, 7) have no outstanding message.
    Wait(u8),
    /// Choose anew which lanes run.
    Reconverge,
    /// The thread returns.
    End,
}

impl Flow {
    /// The slots that messages may use freely.
    pub(crate) const GENERAL: u8 = 0b0000_0111;
    /// Slot 7: barriers.
    pub(crate) const BARRIER: u8 = 0b1000_0000;

    /// The word in assembly text; nothing for none. A mask that the field cannot say is widened to the next it can.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Flow::None => "",
            Flow::Wait(mask) if mask & Flow::BARRIER != 0 => "wait",
            Flow::Wait(mask) if mask & !Flow::GENERAL != 0 => "wait0126",
            Flow::Wait(mask) => [
                "", "wait0", "wait1", "wait01", "wait2", "wait02", "wait12", "wait012",
            ][usize::from(mask & Flow::GENERAL)],
            Flow::Reconverge => "reconverge",
            Flow::End => "end",
        }
    }

    /// The slots that are drained when this flow has taken effect.
    pub(crate) fn drained(self) -> u8 {
        match self {
            Flow::Wait(mask) if mask & Flow::BARRIER != 0 => 0b1100_0111,
            Flow::Wait(mask) if mask & !Flow::GENERAL != 0 => 0b0100_0111,
            Flow::Wait(mask) => mask & Flow::GENERAL,
            Flow::None | Flow::Reconverge | Flow::End => 0,
        }
    }
}
