//! Devices: what GPUs of one generation have, and which is which.
//!
//! Facts: hardware/ir3-isa.md 19 (the table of groups), 14 (waves, workgroups).
//!
//! ```
//! use eitri_ir3_isa::{Gen, device};
//!
//! let device = device::find("Adreno 650").ok_or("unknown")?;
//! assert_eq!((device.name, device.generation), ("a650", Gen::A6xx));
//! assert!(device.parts.dp2acc && !device.parts.dp4acc);
//! # Ok::<(), &str>(())
//! ```

use crate::Gen;

/// What the GPUs of a group have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Vectors of four full registers that a wave's share of the register file holds.
    pub registers: u16,
    /// KiB of local memory of a core.
    pub local_kib: u16,
    /// Waves come in multiples of this.
    pub wave_granularity: u8,
    /// Whether compute waves can have 128 lanes in place of 64.
    pub doubled: bool,
    /// `getfiberid`, `getlast`, `brcst` and `quad_shuffle`.
    pub lane_ops: bool,
    /// `dp2acc`.
    pub dp2acc: bool,
    /// `dp4acc`.
    pub dp4acc: bool,
}

/// A GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// As drivers write it, such as `a650`.
    pub name: &'static str,
    /// Its generation.
    pub generation: Gen,
    /// What it has.
    pub parts: Parts,
}

/// Lanes of a wave that isn't doubled, from a6xx on.
pub const WAVE: u32 = 64;

/// Most waves at once.
pub const MOST_WAVES: u32 = 16;

macro_rules! groups {
    ($( $group:ident $generation:ident $registers:literal $local:literal $granularity:literal $doubled:literal $lanes:literal $dp2:literal $dp4:literal: $($name:literal)*; )*) => {
        $(
            const $group: Parts = Parts {
                registers: $registers,
                local_kib: $local,
                wave_granularity: $granularity,
                doubled: $doubled,
                lane_ops: $lanes,
                dp2acc: $dp2,
                dp4acc: $dp4,
            };
        )*

        /// Every device, group by group.
        pub const DEVICES: &[Device] = &[
            $( $( Device { name: $name, generation: Gen::$generation, parts: $group }, )* )*
        ];
    };
}

// FACT: whether gen2 has dp4acc is not confirmed (hardware/ir3-isa.md 19), and of a7xx only that it is like gen4; what isn't
// confirmed is taken not to be there. Settled by running one dp4acc on an a640, and by the device table of a7xx.
#[rustfmt::skip]
groups! {
    // group  generation registers local granularity doubled lane_ops dp2acc dp4acc  devices
    GEN1_LOW  A6xx       48        16    1           false   false    false  false:  "a605" "a608" "a610" "a612";
    GEN1      A6xx       96        32    2           true    false    false  false:  "a615" "a616" "a618" "a619" "a620" "a630";
    GEN2      A6xx       96        32    2           true    false    false  false:  "a640" "a680";
    GEN3      A6xx       64        32    2           true    false    true   false:  "a650";
    GEN4      A6xx       64        32    2           true    true     true   true:   "a635" "a643" "a644" "a660" "a690";
    A7        A7xx       64        32    2           true    true     true   true:   "a725" "a730" "a740" "a750";
}

/// The device with this name, as people write it: `a650`, `650`, `Adreno 650`, `adreno-650`.
pub fn find(name: &str) -> Option<&'static Device> {
    let family = "adreno";
    let name = match name.get(..family.len()) {
        Some(start) if start.eq_ignore_ascii_case(family) => {
            name[family.len()..].trim_start_matches([' ', '-', '_'])
        }
        _ => name,
    };
    let number = name.strip_prefix(['a', 'A']).unwrap_or(name);
    DEVICES
        .iter()
        .find(|device| device.name.strip_prefix('a') == Some(number))
}
