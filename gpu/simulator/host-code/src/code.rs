//! Code: memory with translated functions, and the calls of them.

use crate::blocks::blocks;
use crate::context::Context;
use crate::operation::Host;
use crate::translate::{signature, translate};
use cranelift_codegen::settings::Configurable;
use cranelift_codegen::{Context as Function, settings};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use eitri_model::host_code::{Arch, FloatPolicy, HostCode, PAGE_WORDS, Running, Section, Step};
use std::collections::BTreeMap;
use std::fmt;
use std::mem::ManuallyDrop;

/// A translated function.
type Entry = unsafe extern "C" fn(*mut Context) -> u32;

/// The code of a section.
pub(crate) struct Code {
    entry: Entry,
    /// For each place the number of its block and 1. Generated code has its address.
    entries: Box<[u16; PAGE_WORDS]>,
    /// Steps that the model computes. Generated code has their addresses: those of entries of a tree that is not changed.
    #[allow(dead_code, reason = "generated code reads them")]
    steps: BTreeMap<usize, Step>,
    /// The words that it was made of, by their place.
    words: Vec<(usize, u64)>,
    of: (Arch, FloatPolicy, usize),
    /// What owns the memory of the function. Nothing is asked of it any more.
    memory: ManuallyDrop<JITModule>,
}

// SAFETY: the function's memory is written before the value exists and never after; the module, which owns it, is not used but to
// free it, by whoever has the last value. All else is plain data.
unsafe impl Send for Code {}
// SAFETY: as above; shared use reads plain data and calls the function, which has no state of its own.
unsafe impl Sync for Code {}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code of {} instructions", self.words.len())
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: `memory` is not used after this.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        // SAFETY: the only pointer to the function is `entry`, which goes with this value; nobody executes it, since a call borrows the
        // value.
        unsafe { memory.free_memory() };
    }
}

/// The instruction set of the host, if code can be made for it.
fn module() -> Option<JITModule> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").ok()?;
    flags.set("is_pic", "false").ok()?;
    flags.set("use_colocated_libcalls", "false").ok()?;
    flags.set("enable_verifier", "false").ok()?;
    let isa = cranelift_native::builder().ok()?;
    let isa = isa.finish(settings::Flags::new(flags)).ok()?;
    Some(JITModule::new(JITBuilder::with_isa(
        isa,
        default_libcall_names(),
    )))
}

/// Whether code can be made for this processor: it has 64 bits and vector instructions for words in all their forms.
pub(crate) fn can_translate() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has_vectors = std::is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    let has_vectors = cfg!(target_arch = "aarch64");
    has_vectors && module().is_some()
}

fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma") && std::is_x86_feature_detected!("avx");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

impl Code {
    /// Translates a section; `None` if nothing of it can be.
    pub(crate) fn of(section: &Section<'_>) -> Option<Code> {
        let all = section.steps();
        let blocks = blocks(&all, section.start);
        if blocks.is_empty() {
            return None;
        }
        let mut entries = Box::new([0u16; PAGE_WORDS]);
        for (number, block) in (1..).zip(&blocks) {
            if let Some(entry) = entries.get_mut(block.place) {
                *entry = number;
            }
        }
        let words = all
            .keys()
            .filter_map(|place| Some((*place, *section.words.get(*place)?)))
            .collect();
        let steps: BTreeMap<usize, Step> = all
            .iter()
            .filter_map(|(place, step)| Some((*place, (*step)?)))
            .collect();
        let mut module = module()?;
        let pointer = module.target_config().pointer_type();
        let mut function = Function::new();
        function.func.signature = signature(module.target_config().default_call_conv, pointer);
        let mut context = FunctionBuilderContext::new();
        let host = Host {
            policy: section.policy,
            has_fma: has_fma(),
        };
        translate(
            FunctionBuilder::new(&mut function.func, &mut context),
            host,
            module.target_config(),
            &blocks,
            &raw const *entries,
            &steps,
        );
        let id = module
            .declare_anonymous_function(&function.func.signature)
            .ok()?;
        if let Err(error) = module.define_function(id, &mut function) {
            debug_assert!(false, "{error:?}");
            return None;
        }
        module.finalize_definitions().ok()?;
        let address = module.get_finalized_function(id);
        // SAFETY: the address is that of a function with this signature (`translate::signature`), whose memory `memory` keeps.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Some(Code {
            entry,
            entries,
            steps,
            words,
            of: (section.arch, section.policy, section.start),
            memory: ManuallyDrop::new(module),
        })
    }

    /// Whether it is what `section` would be translated to.
    pub(crate) fn is_of(&self, section: &Section<'_>) -> bool {
        self.of == (section.arch, section.policy, section.start)
            && self
                .words
                .iter()
                .all(|(place, word)| section.words.get(*place) == Some(word))
    }
}

impl HostCode for Code {
    fn begins_at(&self, place: usize) -> bool {
        self.entries.get(place).is_some_and(|entry| *entry != 0)
    }

    fn run(&self, running: &mut Running<'_>) -> bool {
        let mut context = Context::of(running);
        // SAFETY: the function reads and writes the context, and through it the warp's fields, its 64 registers and their lanes, all by
        // constant offsets, and as many uniforms as it has found to be there; `running`, borrowed for the call, keeps them alive. It
        // calls the functions of `context` alone.
        let may_end = unsafe { (self.entry)(&raw mut context) };
        running.executed = context.executed;
        running.diverged = context.diverged;
        running.issued = context.issued;
        may_end != 0
    }
}
