//! Draws and render passes: what streams give to the tiler and to fragment endpoints.
//!
//! The registers are read at issue; what they point to is read when the job runs.
//!
//! Facts: hardware/command-stream.md 3.6, 4.2 to 4.6; graphics-draw.md 3.1.

use super::execute::{Current, Known, Step};
use super::registers::NoSuchRegister;
use super::{
    DRAW_REGISTERS, Issued, IssuedDraw, IssuedFragment, IssuedFullscreen, StageRegisters, Stream,
    VertexStages, Work,
};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use alloc::boxed::Box;
use eitri_cs::staging::StagingMap;
use eitri_cs::{Instr, Reg};

impl Stream {
    /// Draws, tiling, render passes.
    pub(super) fn draw(&mut self, current: &mut Current<'_>, instr: &Instr) -> Known {
        let Current {
            fabric,
            word,
            outcome,
            ..
        } = current;
        let word = *word;
        let (issued, progress) = match instr {
            Instr::RunIdvs(i) => {
                let pick = |second: bool, one: u8, other: u8| if second { other } else { one };
                let position = StageRegisters {
                    resources: 0,
                    uniforms: 8,
                    program: 16,
                    storage: 24,
                };
                let varying = StageRegisters {
                    resources: pick(i.varying_srt_select, 0, 2),
                    uniforms: pick(i.varying_fau_select, 8, 10),
                    program: 18,
                    storage: pick(i.varying_tsd_select, 24, 26),
                };
                let fragment = StageRegisters {
                    resources: pick(i.fragment_srt_select, 0, 4),
                    uniforms: 12,
                    program: 20,
                    storage: pick(i.fragment_tsd_select, 24, 28),
                };
                let mut draw = IssuedDraw {
                    instruction: self.address(),
                    job: 0,
                    registers: self.staging(fabric, word, StagingMap::Idvs)?,
                    flags_override: i.flags_override,
                    draw_id: self.draw_id(fabric, word, i.draw_id_register_enable, i.draw_id)?,
                    heap: self.heap_context,
                    vertex: VertexStages::Split { position, varying },
                    fragment,
                };
                fabric.defects.draw_registers(&mut draw.registers);
                (Issued::Draw(Box::new(draw)), i.progress_increment)
            }
            Instr::RunIdvs2(i) => {
                let stage = |first: u8| StageRegisters {
                    resources: first,
                    uniforms: 8 + first,
                    program: 16 + first,
                    storage: 24 + first,
                };
                let mut draw = IssuedDraw {
                    instruction: self.address(),
                    job: 0,
                    registers: self.staging(fabric, word, StagingMap::Idvs)?,
                    flags_override: i.flags_override,
                    draw_id: self.draw_id(fabric, word, i.draw_id_register_enable, i.draw_id)?,
                    heap: self.heap_context,
                    vertex: VertexStages::Merged(stage(0)),
                    fragment: stage(2),
                };
                fabric.defects.draw_registers(&mut draw.registers);
                (Issued::Draw(Box::new(draw)), i.progress_increment)
            }
            Instr::RunFullscreen(i) => {
                let draw = IssuedFullscreen {
                    instruction: self.address(),
                    job: 0,
                    registers: self.staging(fabric, word, StagingMap::Fullscreen)?,
                    flags_override: i.flags_override,
                    heap: self.heap_context,
                    draw: self.read64(fabric, word, i.dcd)?,
                };
                (Issued::Fullscreen(Box::new(draw)), i.progress_increment)
            }
            Instr::FinishTiling(i) => (Issued::FinishTiling, i.progress_increment),
            // FACT: the format of a tile enable map is not published beyond "bitmap of tiles" with a row stride (hardware/descriptors.md
            // 23, command-stream.md 3.6), and no driver has one; it is refused. Settled by passes with maps of single bits on any
            // board.
            Instr::RunFragment(i) => {
                if i.enable_tem {
                    self.report(fabric, word, StreamMisuse::TileEnableMap);
                    return Ok(Some(Step::Fatal(super::exception::CS_INSTR_INVALID)));
                }
                let [low, high, first, last] = {
                    let registers = self.staging(fabric, word, StagingMap::Fragment)?;
                    [40, 41, 42, 43].map(|register: usize| registers[register])
                };
                let fragment = IssuedFragment {
                    framebuffer: u64::from(high) << 32 | u64::from(low),
                    corners: [first, last],
                };
                (Issued::Fragment(fragment), i.progress_increment)
            }
            // FACT: how RUN_TILING's array of positions is laid out is not published (hardware/command-stream.md 10, 14), and no driver
            // emits it; it is refused. Settled by a dump of one on a v10 board.
            Instr::RunTiling(_) => {
                self.report(fabric, word, StreamMisuse::PositionArray);
                return Ok(Some(Step::Fatal(super::exception::CS_INSTR_INVALID)));
            }
            _ => return Ok(None),
        };
        let work: Work = issued.work();
        self.draws |= work == Work::Tiling;
        self.check_job(fabric, word, work, progress);
        self.issue_job(issued, progress, outcome);
        Ok(Some(Step::Done))
    }

    /// The registers of a job by their numbers; 0 where the job has none.
    fn staging(
        &self,
        fabric: &mut Fabric,
        word: u64,
        map: StagingMap,
    ) -> Result<[u32; DRAW_REGISTERS], NoSuchRegister> {
        let mut registers = [0; DRAW_REGISTERS];
        for row in map.rows_of(fabric.config.product.arch()) {
            for register in row.registers().iter() {
                let number = register.number();
                if let Some(place) = registers.get_mut(usize::from(number)) {
                    // Whether a register matters depends on the others: one that was never written reads as 0.
                    (*place, _) = self.look(fabric, word, number.into())?;
                }
            }
        }
        Ok(registers)
    }

    fn draw_id(
        &self,
        fabric: &mut Fabric,
        word: u64,
        enabled: bool,
        register: Reg,
    ) -> Result<u32, NoSuchRegister> {
        if enabled {
            self.read32(fabric, word, register)
        } else {
            Ok(0)
        }
    }
}
