//! The level of the machine: warps on the model, with registers, words of the uniforms and the GPU's memory.
//!
//! It begins with a copy of the whole GPU and its memory, taken when the job's dispatch was about to start, and goes on from there
//! without a driver. A clone shares the pages that neither has changed since.
mod memory;

use std::sync::Arc;

use eitri_csf::fault::Exception;
use eitri_csf::registers::address_space::{AS_FAULTADDRESS, AS_FAULTSTATUS, as_faultstatus};
use eitri_model::{DispatchView, Gpu, WarpView};

use crate::execution::{Ahead, Execution, LaneState, Object, ScalarPlace, Touch};
use crate::program::{Instruction, Line, Path, Program};
use crate::value::Node;
use crate::warps;
pub(crate) use memory::Accessors;
pub use memory::SharedPages;

/// An instruction of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Its word.
    pub word: u64,
    /// As the assembler writes it.
    pub text: String,
    /// The file and line that it comes from.
    pub source: Option<(String, u32)>,
}

/// A dispatch on the model.
#[derive(Clone)]
pub struct MachineLevel {
    gpu: Gpu,
    memory: SharedPages,
    /// The view of it: how it stands between two instructions.
    entry: u64,
    space: u8,
    shared: (u64, u64),
    uniforms: Arc<[u32]>,
    registers: u64,
    size: [u32; 3],
    workgroup: [u32; 3],
    /// How it has ended: whether well, and what the model says of it.
    ended: Option<(bool, String)>,
}

impl MachineLevel {
    /// A dispatch that is about to start on a GPU, and its program, of which `listing` has the instructions. None if no compute job
    /// runs there.
    pub fn new(
        mut gpu: Gpu,
        memory: SharedPages,
        function: &str,
        listing: impl Iterator<Item = Listed>,
    ) -> Option<(MachineLevel, Program)> {
        gpu.settle_dispatch();
        let view = gpu.dispatch()?;
        let mut program = Program::default();
        program.paths.push(Path {
            function: function.to_owned(),
            caller: None,
        });
        for (number, own) in listing.enumerate() {
            let line = own.source.map(|(file, line)| Line {
                file: program.file(&file),
                line,
                column: 0,
            });
            program.instructions.push(Instruction {
                address: view.entry + 8 * number as u64,
                text: own.text,
                word: Some(own.word),
                line,
                path: 0,
            });
        }
        let mut level = MachineLevel {
            entry: view.entry,
            space: view.space,
            shared: view.shared,
            uniforms: view.uniforms.into(),
            registers: view.registers,
            size: view.size,
            workgroup: [0; 3],
            ended: None,
            memory,
            gpu: gpu.clone(),
        };
        level.note();
        Some((level, program))
    }

    /// Notes what there is after a step.
    fn note(&mut self) {
        let Some(view) = self.gpu.dispatch() else {
            self.ended = Some((false, self.why_not("the job was ended by a fault")));
            return;
        };
        match view.workgroup {
            None => self.ended = Some((true, "the dispatch has ended".to_owned())),
            Some(group) => {
                self.workgroup = group.id;
                if group.next.is_none() {
                    let why = "no warp can go on: not all reach the same barrier";
                    self.ended = Some((false, why.to_owned()));
                }
            }
        }
    }

    /// What has happened, with what the model says of it.
    fn why_not(&self, what: &str) -> String {
        match self.gpu.diagnoses().last() {
            Some(last) => format!("{what}: {last}"),
            None => what.to_owned(),
        }
    }

    /// The fault that the GPU reports: of the job's address space, if it has one.
    fn fault(&mut self) -> String {
        let space = u32::from(self.space);
        let status = u64::from(self.gpu.peek32(AS_FAULTSTATUS.at(space).offset));
        let exception = Exception(as_faultstatus::EXCEPTION.get(status) as u8);
        let Some(access) = as_faultstatus::ACCESS
            .get(status)
            .filter(|_| exception.is_fault())
        else {
            return self.why_not("the GPU reports a fault");
        };
        let at = AS_FAULTADDRESS.at(space).offset;
        let [low, high] = [at, at + 4].map(|word| u64::from(self.gpu.peek32(word)));
        format!("{exception}: {} of {:#x}", access.about(), high << 32 | low)
    }

    fn view(&self) -> Option<DispatchView<'_>> {
        self.gpu.dispatch()
    }

    fn warp(&self, thread: usize) -> Option<WarpView<'_>> {
        let group = self.view()?.workgroup?;
        group.warps.get(thread).copied()
    }

    /// The address of the workgroup's shared memory.
    fn shared_address(&self) -> Option<u64> {
        let core = self.view()?.workgroup?.core;
        // One workgroup at a time is on the one core.
        (core == 0 && self.shared.1 != 0).then_some(self.shared.0)
    }
}

impl Execution for MachineLevel {
    const FORESEES: bool = false;

    fn ahead(&self) -> Option<Ahead> {
        if self.ended.is_some() {
            return None;
        }
        let group = self.view()?.workgroup?;
        let thread = group.next?;
        let (lanes, address) = group.warps.get(thread)?.next()?;
        Some(Ahead {
            thread,
            lanes: lanes.into(),
            address,
        })
    }

    fn step(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let executed = |level: &MachineLevel| level.view().map(|view| view.executed);
        let before = executed(self);
        let faults = self.gpu.faults();
        self.memory.note_accesses(Accessors::Cores);
        self.gpu.step_dispatch(&mut self.memory);
        self.gpu.settle_dispatch();
        self.note();
        if self.gpu.faults() != faults {
            self.ended = Some((false, self.fault()));
        } else if self.ended.is_none() && executed(self) == before {
            self.ended = Some((false, self.why_not("the warps do not go on")));
        }
    }

    fn ending(&self) -> Option<String> {
        self.ended.as_ref().map(|(_, why)| why.clone())
    }

    fn ended_well(&self) -> bool {
        matches!(self.ended, Some((true, _)))
    }

    fn threads(&self) -> usize {
        let group = self.view().and_then(|view| view.workgroup);
        // One that has ended still has a name.
        group.map_or(1, |group| group.warps.len())
    }

    fn thread_name(&self, thread: usize) -> String {
        let [x, y, z] = self.workgroup;
        format!("warp {thread} of workgroup {x},{y},{z}")
    }

    fn lanes(&self, thread: usize) -> usize {
        self.warp(thread)
            .map_or(0, |warp| warp.started().count_ones() as usize)
    }

    fn lane_name(&self, thread: usize, lane: usize) -> String {
        let first = self.warp(thread).map_or(0, |warp| warp.first_thread());
        let index = first + lane as u32;
        let [width, height, _] = self.size.map(|size| size.max(1));
        let (x, y, z) = (
            index % width,
            index / width % height,
            index / width / height,
        );
        format!("lane {lane}: local {x},{y},{z}")
    }

    fn lane_state(&self, thread: usize, lane: usize) -> Option<LaneState> {
        warps::lane_state(self.warp(thread)?, lane)
    }

    fn workgroup(&self) -> [u32; 3] {
        self.workgroup
    }

    fn touches(&self) -> Vec<Touch> {
        vec![]
    }

    fn touched(&self, object: Object, start: u64, len: u64) -> (bool, bool) {
        let address = match object {
            Object::Memory => Some(start),
            Object::Shared => self
                .shared_address()
                .and_then(|base| base.checked_add(start)),
            Object::Buffer(..) | Object::Push | Object::Var(_) => None,
        };
        let Some(address) = address else {
            return (false, false);
        };
        self.memory.touched(&self.gpu, (self.space, address), len)
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["Registers", "Uniforms"]
    }

    fn nodes(&self, scope: usize, thread: usize, _: usize) -> Vec<Node> {
        if scope == 1 {
            return warps::uniform_nodes(self.uniforms.len());
        }
        let warp = self.warp(thread);
        warp.map_or(vec![], |warp| warps::register_nodes(warp, self.registers))
    }

    fn special(&self, name: &str) -> Option<Node> {
        warps::named(name, self.uniforms.len())
    }

    fn scalar(&self, thread: usize, lane: usize, place: ScalarPlace) -> Option<u64> {
        match place {
            ScalarPlace::Register(register) => {
                let bits = self.warp(thread)?.register(register, lane)?;
                Some(bits.into())
            }
            ScalarPlace::Uniform(word) => {
                let bits = self.uniforms.get(usize::from(word))?;
                Some(u64::from(*bits))
            }
            ScalarPlace::Known(bits) => Some(bits),
            ScalarPlace::Var(..) | ScalarPlace::Value(_) | ScalarPlace::Lane(_) => None,
        }
    }

    fn read(&self, object: Object, start: u64, len: u64) -> Option<Vec<u8>> {
        let (address, len) = match object {
            Object::Memory => (start, len),
            Object::Shared => {
                let rest = self.shared.1.saturating_sub(start);
                (self.shared_address()?.checked_add(start)?, len.min(rest))
            }
            Object::Buffer(..) | Object::Push | Object::Var(_) => return None,
        };
        let mut reader = self.memory.reader();
        Some(self.gpu.peek(&mut reader, self.space, address, len))
    }

    fn size(&self, object: Object) -> u64 {
        match object {
            Object::Memory => u64::MAX,
            Object::Shared => self.shared.1,
            Object::Buffer(..) | Object::Push | Object::Var(_) => 0,
        }
    }

    fn objects(&self) -> Vec<(String, Object)> {
        let mut objects = vec![("gpu".to_owned(), Object::Memory)];
        if self.shared.1 != 0 {
            objects.push(("shared".to_owned(), Object::Shared));
        }
        objects
    }

    fn bytes(&self) -> usize {
        // Pages that are shared are not counted: a few are changed between two checkpoints.
        64 * self.memory.pages() + (1 << 17)
    }
}

impl MachineLevel {
    /// Pages of memory that something was written to.
    pub fn written_pages(&self) -> usize {
        self.memory.pages()
    }

    /// Pages that have changed since another state, and are not shared with it any more.
    pub fn changed_pages(&self, before: &MachineLevel) -> usize {
        self.memory.changed_pages(&before.memory)
    }

    /// Where the program begins.
    pub fn entry(&self) -> u64 {
        self.entry
    }
}
