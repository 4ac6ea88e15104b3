//! Running a dispatch: workgroup after workgroup, the waves of one in turns.
//!
//! Facts: hardware/ir3-isa.md sections 7, 13 and 14.

use eitri_ir3_isa::Field;

use crate::execute::{Flow, Step};
use crate::fault::{Fault, FaultKind};
use crate::launch::{Code, Launch};
use crate::memory::Memory;
use crate::turns::{Turns, WORKGROUPS};
use crate::wave::Wave;

/// What a dispatch took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Instructions that waves executed.
    pub instructions: u64,
    /// Waves.
    pub waves: u64,
    /// Accesses to buffers that lay outside: they read 0 and write nothing.
    pub out_of_bounds: u64,
}

/// Runs a dispatch to its end.
///
/// # Errors
/// The first [`Fault`].
pub fn run(code: &Code, launch: &Launch, memory: &mut Memory) -> Result<Statistics, Fault> {
    let mut statistics = Statistics::default();
    let mut turns = Turns::new(launch.order);
    let [width, height, depth] = launch.workgroups.map(u64::from);
    let count = width * height * depth;
    let mut first = 0;
    while first < count {
        let next = (first + WORKGROUPS).min(count);
        let mut numbers: Vec<u64> = (first..next).collect();
        turns.shuffle(&mut numbers);
        for number in numbers {
            let id = [
                number % width,
                number / width % height,
                number / width / height,
            ];
            let mut workgroup = Workgroup {
                code,
                launch,
                id: id.map(|number| number as u32),
                shared: vec![0; launch.shared_bytes as usize],
                statistics: &mut statistics,
            };
            workgroup.run(memory, &mut turns)?;
        }
        first = next;
    }
    Ok(statistics)
}

struct Workgroup<'a> {
    code: &'a Code,
    launch: &'a Launch,
    id: [u32; 3],
    shared: Vec<u8>,
    statistics: &'a mut Statistics,
}

impl Workgroup<'_> {
    fn fault(&self, wave: u32, pc: u32, lane: Option<u32>, kind: FaultKind) -> Fault {
        Fault {
            workgroup: self.id,
            wave,
            pc,
            instr: self.code.instrs.get(pc as usize).copied(),
            generation: self.code.generation,
            lane,
            kind,
        }
    }

    fn run(&mut self, memory: &mut Memory, turns: &mut Turns) -> Result<(), Fault> {
        let [width, height, depth] = self.launch.local_size;
        let count = (width * height * depth).div_ceil(self.launch.lanes);
        let mut waves = Vec::new();
        for number in 0..count {
            let wave = Wave::new(number, self.id, self.launch, self.code.generation);
            waves.push(wave.map_err(|kind| self.fault(number, 0, None, kind))?);
        }
        self.statistics.waves += u64::from(count);
        let mut order: Vec<usize> = (0..waves.len()).collect();
        loop {
            let mut moved = false;
            turns.shuffle(&mut order);
            for &number in &order {
                let wave = &mut waves[number];
                for _ in 0..turns.length() {
                    if wave.is_done() || wave.at_barrier {
                        break;
                    }
                    self.step(wave, memory)?;
                    moved = true;
                }
            }
            if waves.iter().all(Wave::is_done) {
                return Ok(());
            }
            if moved {
                continue;
            }
            // Everybody that still runs waits at the barrier.
            if waves.iter().any(Wave::is_done) {
                let wave = waves.iter().find(|wave| wave.at_barrier);
                let (number, pc) = wave.map_or((0, 0), |wave| {
                    (wave.number, wave.groups.last().map_or(0, |group| group.pc))
                });
                return Err(self.fault(number, pc.saturating_sub(1), None, FaultKind::Barrier));
            }
            for wave in &mut waves {
                wave.at_barrier = false;
            }
        }
    }

    /// Executes one instruction of a wave.
    fn step(&mut self, wave: &mut Wave, memory: &mut Memory) -> Result<(), Fault> {
        let waited = wave.choose().unwrap_or(false);
        let number = wave.number;
        let Some(group) = wave.running() else {
            return Ok(());
        };
        let (pc, lanes) = (group.pc, group.lanes);
        let limit = self.launch.instruction_limit;
        if self.statistics.instructions >= limit {
            return Err(self.fault(number, pc, None, FaultKind::Endless(limit)));
        }
        self.statistics.instructions += 1;
        let Some(instr) = self.code.instrs.get(pc as usize).copied() else {
            return Err(self.fault(number, pc, None, FaultKind::NoInstruction));
        };
        if waited && !instr.flag(Field::Jp) {
            return Err(self.fault(number, pc, None, FaultKind::MissingJoin));
        }
        let (found, room) = (wave.waiting_places(), self.launch.branch_stack);
        if found > room {
            return Err(self.fault(number, pc, None, FaultKind::BranchStack { found, room }));
        }
        wave.check(&instr, self.code.generation)
            .map_err(|(lane, kind)| self.fault(number, pc, lane, kind))?;
        let mut step = Step {
            launch: self.launch,
            generation: self.code.generation,
            memory,
            local: &mut self.shared,
            wave,
            instr,
            lanes,
            lane: None,
            out_of_bounds: 0,
        };
        let flow = step.execute();
        let (lane, out_of_bounds) = (step.lane, step.out_of_bounds);
        self.statistics.out_of_bounds += out_of_bounds;
        let flow = flow.map_err(|kind| self.fault(number, pc, lane, kind))?;
        if let Some(group) = wave.running() {
            group.hazards.passed(&instr);
        }
        let everybody = wave.groups.len() == 1;
        match flow {
            Flow::Next => wave.branch(crate::lanes::Lanes::default(), 0),
            Flow::Branch { taken, offset } => {
                let target = i64::from(pc) + i64::from(offset);
                let target = u32::try_from(target)
                    .map_err(|_| self.fault(number, pc, None, FaultKind::NoInstruction))?;
                wave.branch(taken, target);
            }
            Flow::End => wave.end(),
            Flow::Barrier if !everybody => {
                return Err(self.fault(number, pc, None, FaultKind::Barrier));
            }
            Flow::Barrier => {
                wave.branch(crate::lanes::Lanes::default(), 0);
                wave.at_barrier = true;
            }
        }
        Ok(())
    }
}
