//! Prepared words: what a pipeline decides alone of a draw, as the words that draws write.
//!
//! They are instructions that load the pipeline's registers, and entries of the resource table of its vertex stage. They are made with
//! the pipeline and stand in its memory, in front of the plan of its uniforms, so that a draw with another pipeline than the last one's
//! reads all of them at once. Its loads are copied: that loads some registers again which hold their value already, but a copy costs
//! less than asking of each.
//! Facts: hardware/graphics-draw.md 3.1, 3.3 and 3.5.

use super::draw_state::{FRAGMENTS, VARYINGS, VERTEX};
use super::pipeline::GraphicsPipelined;
use super::pipeline_places::Places;
use super::registers::DrawRegisters;
use super::resource_tables::doubles;
use crate::command::CommandError;
use crate::device::Device;
use crate::error::Error;
use crate::platform::Platform;
use crate::resource::{RESOURCE_WORDS, resource};
use eitri_cs::{Pair, Reg};
use heapless::Vec;

/// Most instructions: seven pairs and six words.
pub(super) const MOST_REGISTERS: usize = 7 + 6;
/// Double words of an entry of a resource table.
const ENTRY: usize = RESOURCE_WORDS / 2;
/// Double words in memory: two entries, and the instructions.
pub(super) const PREPARED: usize = 2 * ENTRY + MOST_REGISTERS;

/// The words as they stand in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedWords<'a> {
    /// The entry of the table of inputs.
    pub(super) inputs: [u64; ENTRY],
    /// The entry of the descriptors of vertex buffers, without their address.
    pub(super) buffers: [u64; ENTRY],
    /// The loads of registers, and behind them zeros.
    pub(super) loads: &'a [u64; MOST_REGISTERS],
}

impl PreparedWords<'_> {
    /// Those that begin a slice.
    #[inline(always)]
    pub(super) fn of(words: &[u64; PREPARED]) -> PreparedWords<'_> {
        let [a, b, c, d, loads @ ..] = words;
        PreparedWords {
            inputs: [*a, *b],
            buffers: [*c, *d],
            loads,
        }
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Puts the prepared words of a pipeline into its memory; gives how many instructions there are.
    ///
    /// # Errors
    /// If the streams of this firmware have not what recording needs, or there are no such descriptors.
    pub(super) fn place_prepared_words(
        &mut self,
        made: &GraphicsPipelined,
        places: &Places,
    ) -> Result<u8, Error> {
        let arch = self.hw.properties.arch;
        let registers = DrawRegisters::of(arch);
        let words = match &self.words {
            Ok(words) => words,
            Err(fault) => return Err(CommandError::Build(*fault).into()),
        };
        let any = words.any();
        let [vertices, varyings, fragments] =
            [VERTEX, VARYINGS, FRAGMENTS].map(|it| made.programs[it]);
        let storage = places.storage().1.0;
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
        let inputs = resource(arch, places.inputs().1.0, Places::INPUT_BYTES)?;
        let buffers = resource(arch, 0, made.buffer_bytes())?;
        let (platform, at) = (&mut self.hw.platform, places.prepared());
        platform.write_words(at, &doubles::<_, ENTRY>(&inputs));
        platform.write_words(at.offset(8 * ENTRY as u64), &doubles::<_, ENTRY>(&buffers));
        platform.write_words(at.offset(16 * ENTRY as u64), &all);
        // The GPU reads none of it; but a line that is written must not stay in a cache when the memory goes to another owner.
        platform.clean(at.span(8 * PREPARED as u64));
        Ok(all.len() as u8)
    }
}
