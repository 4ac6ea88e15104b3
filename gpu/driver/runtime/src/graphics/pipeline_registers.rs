//! Registers of a pipeline: what a pipeline decides alone of a draw's registers, as instructions that load all of it at once.
//!
//! They are encoded when the pipeline is made and stand in its memory; a draw with another pipeline than the last one's copies them.
//! That loads some registers again which hold their value already: a copy costs less than asking of each.
//! Facts: hardware/graphics-draw.md 3.1 and 3.3.

use super::draw_state::{FRAGMENTS, VARYINGS, VERTEX};
use super::pipeline::{GraphicsPipelined, Places};
use super::registers::DrawRegisters;
use crate::command::CommandError;
use crate::device::Device;
use crate::error::Error;
use crate::platform::Platform;
use eitri_cs::{Pair, Reg};
use heapless::Vec;

/// Most instructions: seven pairs and six words.
pub(super) const MOST_REGISTERS: usize = 7 + 6;

impl<P: Platform> Device<'_, '_, P> {
    /// Puts the instructions of a pipeline into its memory; gives how many there are.
    ///
    /// # Errors
    /// If the streams of this firmware have not what recording needs.
    pub(super) fn place_registers(
        &mut self,
        made: &GraphicsPipelined,
        places: &Places,
    ) -> Result<u8, Error> {
        let registers = DrawRegisters::of(self.hw.properties.arch);
        let words = match &self.words {
            Ok(words) => words,
            Err(fault) => return Err(CommandError::Build(*fault).into()),
        };
        let any = words.any();
        let [vertices, varyings, fragments] =
            [VERTEX, VARYINGS, FRAGMENTS].map(|it| made.programs[it]);
        let storage = places.storage().0;
        let blends = places.blends().1.0 | u64::from(made.color_count);
        let values = [
            vertices,
            varyings,
            fragments,
            storage,
            storage,
            places.tests().1.0,
            blends,
        ];
        let mut all = Vec::<u64, MOST_REGISTERS>::new();
        for (register, value) in registers.pairs_of_pipeline().into_iter().zip(values) {
            let Some(register) = register else { continue };
            if Some(register) == registers.varying_program && !made.varies() {
                continue;
            }
            // Registers of pairs are even, as the table of them says.
            let load = any.load64(Pair::new(register).unwrap_or_default());
            let load = load.map_err(CommandError::Build)?.with_address(value);
            // There are as many places as registers.
            let _ = all.push(load.word());
        }
        let values = [
            made.varying_bytes,
            made.words.primitive,
            made.words.flags_0,
            made.words.flags_1,
            made.words.flags_2,
            made.size.to_bits(),
        ];
        for (register, value) in registers.words_of_pipeline().into_iter().zip(values) {
            let load = any
                .load32(Reg::new(register))
                .map_err(CommandError::Build)?;
            let _ = all.push(load.with(value).word());
        }
        let (platform, at) = (&mut self.hw.platform, places.registers());
        platform.write_words(at, &all);
        // The GPU reads none of it; but a line that is written must not stay in a cache when the memory goes to another owner.
        platform.clean(at.span((all.len() as u64).saturating_mul(8)));
        Ok(all.len() as u8)
    }
}
