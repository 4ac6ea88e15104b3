//! Translation: blocks of instructions to one function of the host, whose control flow is theirs.
//!
//! A block asks at its beginning what single steps would ask of each instruction: room in the turn, registers that hold values and
//! that no message of the running lanes is to write, uniforms that are there. If not, it leaves, and single steps find out more.
//! Then it counts, computes 4 lanes at a time, and notes what it left of registers. Where lanes part or are to meet the model decides who runs; the code goes on there.

use crate::blocks::{Block, End};
use crate::context::{self, Context};
use crate::operation::{Host, Tested, operation, tested};
use crate::pairs;
use crate::registers::Held;
use crate::vectors::Vectors;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, BlockArg, InstBuilder, JumpTableData, MemFlagsData, SigRef, Signature, Type,
    Value,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::FunctionBuilder;
use eitri_model::host_code::{Does, PAGE_WORDS, Step, Test, Warp};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Bits of all lanes.
const ALL_LANES: i64 = 0xffff;

/// What calls of the model look like.
struct Calls {
    convention: CallConv,
    pointer: Type,
}

/// Where the code that is written stands.
pub(crate) struct Translation<'f> {
    code: FunctionBuilder<'f>,
    host: Host,
    context: Value,
    warp: Value,
    calls: Calls,
    /// Blocks of the function by the place of their first instruction.
    labels: BTreeMap<usize, ir::Block>,
    /// Finds the block at the warp's place.
    dispatch: ir::Block,
    /// Ends: its parameter is whether the turn may end here.
    leave: ir::Block,
}

/// The signature of translated code: of a context, whether the turn may end where it stopped.
pub(crate) fn signature(convention: CallConv, pointer: Type) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.push(AbiParam::new(pointer));
    signature.returns.push(AbiParam::new(I32));
    signature
}

/// Writes the function of some blocks. `entries` will hold, for each place, the number of its block and 1; `steps` are the steps that
/// it may have the model compute.
pub(crate) fn translate(
    mut code: FunctionBuilder<'_>,
    host: Host,
    target: TargetFrontendConfig,
    blocks: &[Block],
    entries: *const [u16; PAGE_WORDS],
    steps: &BTreeMap<usize, Step>,
) {
    let pointer = target.pointer_type();
    let entry = code.create_block();
    code.append_block_params_for_function_params(entry);
    code.switch_to_block(entry);
    let context = code.block_params(entry)[0];
    let offset = offset_of!(Context, warp) as i32;
    let warp = code
        .ins()
        .load(pointer, MemFlagsData::trusted(), context, offset);
    let (dispatch, leave) = (code.create_block(), code.create_block());
    code.append_block_param(leave, I32);
    let labels = blocks
        .iter()
        .map(|block| (block.place, code.create_block()))
        .collect();
    code.ins().jump(dispatch, &[]);
    let convention = code.func.signature.call_conv;
    let mut translation = Translation {
        code,
        host,
        context,
        warp,
        calls: Calls {
            convention,
            pointer,
        },
        labels,
        dispatch,
        leave,
    };
    translation.write_dispatch(blocks, entries);
    for block in blocks {
        translation.write_block(block, steps);
    }
    translation.code.switch_to_block(leave);
    let may_end = translation.code.block_params(leave)[0];
    translation.code.ins().return_(&[may_end]);
    translation.code.seal_all_blocks();
    translation.code.finalize(target);
}

macro_rules! field {
    ($self:ident, $field:ident) => {
        $self.code.ins().load(
            I64,
            MemFlagsData::trusted(),
            $self.context,
            offset_of!(Context, $field) as i32,
        )
    };
    ($self:ident, $field:ident = $value:expr) => {{
        let value = $value;
        $self.code.ins().store(
            MemFlagsData::trusted(),
            value,
            $self.context,
            offset_of!(Context, $field) as i32,
        );
    }};
}

macro_rules! of_warp {
    ($self:ident, $ty:ident, $field:ident) => {
        $self.code.ins().load(
            $ty,
            MemFlagsData::trusted(),
            $self.warp,
            offset_of!(Warp, $field) as i32,
        )
    };
    ($self:ident, $field:ident = $value:expr) => {{
        let value = $value;
        $self.code.ins().store(
            MemFlagsData::trusted(),
            value,
            $self.warp,
            offset_of!(Warp, $field) as i32,
        );
    }};
}

// Behind the macros, which they use.
mod flow;
mod message;

impl Translation<'_> {
    fn pointer(&self) -> Type {
        self.calls.pointer
    }

    /// A call of the model; its result, if it has one.
    fn call(&mut self, address: *const (), arguments: &[Value], returns: bool) -> Option<Value> {
        let signature = self.signature_of(arguments, returns);
        let pointer = self.pointer();
        let callee = self.code.ins().iconst(pointer, address as i64);
        let mut all = vec![self.context];
        all.extend(arguments);
        let call = self.code.ins().call_indirect(signature, callee, &all);
        self.code.inst_results(call).first().copied()
    }

    fn signature_of(&mut self, arguments: &[Value], returns: bool) -> SigRef {
        let mut signature = Signature::new(self.calls.convention);
        signature.params.push(AbiParam::new(self.calls.pointer));
        for argument in arguments {
            let ty = self.code.func.dfg.value_type(*argument);
            signature.params.push(AbiParam::new(ty));
        }
        if returns {
            signature.returns.push(AbiParam::new(I32));
        }
        self.code.import_signature(signature)
    }

    fn word(&mut self, value: u64) -> Value {
        self.code.ins().iconst(I64, value.cast_signed())
    }

    /// Address of a place of the page.
    fn address(&mut self, place: usize) -> Value {
        let page = field!(self, page);
        self.code.ins().iadd_imm_s(page, 8 * place as i64)
    }

    fn set_pc(&mut self, place: usize) {
        let pc = self.address(place);
        of_warp!(self, pc = pc);
    }

    fn leave_with(&mut self, may_end: bool) {
        let may_end = self.code.ins().iconst(I32, i64::from(may_end));
        let leave = self.leave;
        self.code.ins().jump(leave, &[BlockArg::Value(may_end)]);
    }

    /// Goes to the block at the warp's place, or leaves if there is none.
    fn write_dispatch(&mut self, blocks: &[Block], entries: *const [u16; PAGE_WORDS]) {
        let dispatch = self.dispatch;
        self.code.switch_to_block(dispatch);
        let pc = of_warp!(self, I64, pc);
        let page = field!(self, page);
        let within = self.code.ins().isub(pc, page);
        let (inside, outside) = (self.code.create_block(), self.code.create_block());
        let limit = 8 * PAGE_WORDS as i64;
        let is_inside = self
            .code
            .ins()
            .icmp_imm_s(IntCC::UnsignedLessThan, within, limit);
        self.code.ins().brif(is_inside, inside, &[], outside, &[]);
        self.code.switch_to_block(inside);
        let pointer = self.pointer();
        let table = self.code.ins().iconst(pointer, entries as i64);
        // An instruction has 8 bytes, an entry 2.
        let place = self.code.ins().ushr_imm_u(within, 2);
        let place = self.code.ins().band_imm_s(place, !1);
        let at = self.code.ins().iadd(table, place);
        let number = self.code.ins().uload16(I32, MemFlagsData::trusted(), at, 0);
        let leave = self.code.func.dfg.block_call(outside, &[]);
        let mut targets = vec![leave];
        for block in blocks {
            let label = self.labels[&block.place];
            targets.push(self.code.func.dfg.block_call(label, &[]));
        }
        let table = self
            .code
            .create_jump_table(JumpTableData::new(leave, &targets));
        self.code.ins().br_table(number, table);
        self.code.switch_to_block(outside);
        self.leave_with(true);
    }

    fn write_block(&mut self, block: &Block, steps: &BTreeMap<usize, Step>) {
        let label = self.labels[&block.place];
        self.code.switch_to_block(label);
        self.write_checks(block);
        self.write_counts(block);
        let lanes = of_warp!(self, I16, lanes);
        let lanes = self.code.ins().uextend(I32, lanes);
        let taken = self.write_steps(block, steps, lanes);
        if block.end == End::Message {
            self.write_message(block, steps);
        }
        self.write_notes(&block.steps);
        match block.end {
            End::Joined => {
                if block.goes_on {
                    self.jump_to(block.following());
                } else {
                    self.set_pc(block.following());
                    self.leave_with(block.may_end());
                }
            }
            End::Stride => self.go_on(block.following()),
            End::Wait(slots) => {
                self.write_wait(slots);
                self.go_on(block.following());
            }
            End::Reconverge => self.write_reconverge(block),
            End::Branch => self.write_branch(block, taken),
            End::Message => self.write_message_end(block),
        }
    }

    /// Leaves before the block unless all of it can run.
    fn write_checks(&mut self, block: &Block) {
        let (mut used, mut read_first, mut written, mut uniforms) = (0, 0, 0, 0);
        for step in &block.steps {
            used |= step.reads() | step.writes();
            read_first |= step.reads() & !written;
            written |= step.writes();
            uniforms = uniforms.max(step.uniforms());
        }
        let executed = field!(self, executed);
        let after = self
            .code
            .ins()
            .iadd_imm_s(executed, block.steps.len() as i64);
        let most = field!(self, most);
        let mut refused = self
            .code
            .ins()
            .icmp(IntCC::UnsignedGreaterThan, after, most);
        if used != 0 {
            let absent = field!(self, absent);
            let used = self.word(used);
            let absent = self.code.ins().band(absent, used);
            let any = self.code.ins().icmp_imm_s(IntCC::NotEqual, absent, 0);
            refused = self.code.ins().bor(refused, any);
        }
        if uniforms != 0 {
            let count = field!(self, uniform_count);
            let few = self
                .code
                .ins()
                .icmp_imm_s(IntCC::UnsignedLessThan, count, uniforms as i64);
            refused = self.code.ins().bor(refused, few);
        }
        let (refuse, on) = (self.code.create_block(), self.code.create_block());
        self.code.set_cold_block(refuse);
        self.code.ins().brif(refused, refuse, &[], on, &[]);
        self.code.switch_to_block(on);
        if used != 0 {
            let (everywhere, pending) = (
                of_warp!(self, I64, valid_everywhere),
                of_warp!(self, I64, pending),
            );
            let (used, read) = (self.word(used), self.word(read_first));
            let doubtful = self.code.ins().band_not(read, everywhere);
            let awaited = self.code.ins().band(pending, used);
            let doubtful = self.code.ins().bor(doubtful, awaited);
            let (ask, sure) = (self.code.create_block(), self.code.create_block());
            self.code.set_cold_block(ask);
            self.code.ins().brif(doubtful, ask, &[], sure, &[]);
            self.code.switch_to_block(ask);
            let may_use = self.call(context::may_use as *const (), &[used, read], true);
            if let Some(may_use) = may_use {
                self.code.ins().brif(may_use, sure, &[], refuse, &[]);
            }
            self.code.switch_to_block(sure);
        }
        let on = self.code.create_block();
        self.code.ins().jump(on, &[]);
        self.code.switch_to_block(refuse);
        self.set_pc(block.place);
        self.leave_with(false);
        self.code.switch_to_block(on);
    }

    fn write_counts(&mut self, block: &Block) {
        let count = block.steps.len() as i64;
        let executed = field!(self, executed);
        field!(self, executed = self.code.ins().iadd_imm_s(executed, count));
        let issued: u64 = block.steps.iter().map(Step::issued).sum();
        if issued != 0 {
            let before = field!(self, issued);
            let issued = self.word(issued);
            field!(self, issued = self.code.ins().iadd(before, issued));
        }
        let lanes = of_warp!(self, I16, lanes);
        let live = of_warp!(self, I16, live);
        let apart = self.code.ins().icmp(IntCC::NotEqual, lanes, live);
        let apart = self.code.ins().uextend(I64, apart);
        let apart = self.code.ins().imul_imm_s(apart, count);
        let diverged = field!(self, diverged);
        field!(self, diverged = self.code.ins().iadd(diverged, apart));
    }

    /// Computes all steps; the lanes for which a branch's test holds, if there is one.
    fn write_steps(
        &mut self,
        block: &Block,
        steps: &BTreeMap<usize, Step>,
        lanes: Value,
    ) -> Option<Value> {
        let mut stretch: Option<Stretch> = None;
        let mut taken = None;
        for (index, step) in block.steps.iter().enumerate() {
            if matches!(step.does(), Does::Nothing | Does::Message) {
                continue;
            }
            let mut open = match stretch.take() {
                Some(open) => open,
                None => self.open_stretch(),
            };
            match self.write_step(&mut open, step) {
                Some(bits) => {
                    taken = bits.or(taken);
                    stretch = Some(open);
                }
                None => {
                    self.close_stretch(&open, lanes, None);
                    if let Some(address) = self.address_of(steps, block.place + index) {
                        self.call(context::compute as *const (), &[address], false);
                    }
                }
            }
        }
        let open = stretch.take()?;
        self.close_stretch(&open, lanes, taken)
    }

    /// The address of the step at a place, which the code owns.
    fn address_of(&mut self, steps: &BTreeMap<usize, Step>, place: usize) -> Option<Value> {
        let address = std::ptr::from_ref(steps.get(&place)?) as i64;
        let pointer = self.pointer();
        Some(self.code.ins().iconst(pointer, address))
    }

    /// Begins a loop over the quarters of the lanes.
    fn open_stretch(&mut self) -> Stretch {
        let pointer = self.pointer();
        let head = self.code.create_block();
        self.code.append_block_param(head, pointer);
        self.code.append_block_param(head, I32);
        let start = self.code.ins().iconst(pointer, 0);
        let none = self.code.ins().iconst(I32, 0);
        let arguments = [BlockArg::Value(start), BlockArg::Value(none)];
        self.code.ins().jump(head, &arguments);
        self.code.switch_to_block(head);
        let [offset, taken] = [0, 1].map(|index| self.code.block_params(head)[index]);
        let registers = self.code.ins().load(
            pointer,
            MemFlagsData::trusted(),
            self.context,
            offset_of!(Context, registers) as i32,
        );
        let base = self.code.ins().iadd(registers, offset);
        Stretch {
            head,
            taken,
            held: Held::new(self.context, base, offset),
        }
    }

    /// Writes a step into a stretch; `None` if the model is to compute it, else the bits of the lanes for which a branch's test holds.
    fn write_step(&mut self, stretch: &mut Stretch, step: &Step) -> Option<Option<Value>> {
        let mut v = Vectors {
            code: &mut self.code,
        };
        let held = &mut stretch.held;
        let (register, mask) = step.destination();
        match step.does() {
            Does::Nothing | Does::Message => {}
            Does::OfLanes => return None,
            Does::Alu(alu) => {
                let value = operation(&mut v, held, step, alu, self.host)?;
                held.set(&mut v, register, mask, value);
            }
            Does::Wide(wide) => {
                let [low, high] = pairs::operation(&mut v, held, step, wide)?;
                held.set(&mut v, register, u32::MAX, low);
                held.set(&mut v, register.wrapping_add(1), u32::MAX, high);
            }
            Does::Branch { test, .. } => {
                let holds_if = match test {
                    Test::Word => Tested::NotZero(u32::MAX),
                    Test::Half(0) => Tested::NotZero(0x0000_ffff),
                    Test::Half(_) => Tested::NotZero(0xffff_0000),
                    Test::AllOnes => Tested::AllOnes,
                    // Blocks have none of these: such tests are reported.
                    Test::LowBits => Tested::NotZero(u32::MAX),
                };
                let value = held.source(&mut v, &step.sources()[0])?;
                return Some(Some(tested(&mut v, value, holds_if)));
            }
        }
        Some(None)
    }

    /// Stores what a stretch wrote and goes round; the tested lanes of all quarters.
    fn close_stretch(
        &mut self,
        stretch: &Stretch,
        lanes: Value,
        bits: Option<Value>,
    ) -> Option<Value> {
        let held = &stretch.held;
        let quarter = self.code.ins().ushr_imm_u(held.offset, 2);
        let quarter = self.code.ins().ireduce(I32, quarter);
        if held.has_written() {
            let (whole, partly) = (self.code.create_block(), self.code.create_block());
            let stored = self.code.create_block();
            let all = self.code.ins().icmp_imm_s(IntCC::Equal, lanes, ALL_LANES);
            self.code.ins().brif(all, whole, &[], partly, &[]);
            self.code.switch_to_block(whole);
            let mut v = Vectors {
                code: &mut self.code,
            };
            held.store(&mut v, None);
            self.code.ins().jump(stored, &[]);
            self.code.switch_to_block(partly);
            let of_quarter = self.code.ins().ushr(lanes, quarter);
            let mut v = Vectors {
                code: &mut self.code,
            };
            let of_quarter = v.splat(of_quarter);
            let places = v.words([1, 2, 4, 8]);
            let own = v.and(of_quarter, places);
            let mask = v.compares(IntCC::Equal, own, places);
            held.store(&mut v, Some(mask));
            self.code.ins().jump(stored, &[]);
            self.code.switch_to_block(stored);
        }
        let taken = match bits {
            Some(bits) => {
                let bits = self.code.ins().ishl(bits, quarter);
                self.code.ins().bor(stretch.taken, bits)
            }
            None => stretch.taken,
        };
        let next = self.code.ins().iadd_imm_s(held.offset, 16);
        let more = self
            .code
            .ins()
            .icmp_imm_s(IntCC::UnsignedLessThan, next, 64);
        let done = self.code.create_block();
        let arguments = [BlockArg::Value(next), BlockArg::Value(taken)];
        self.code
            .ins()
            .brif(more, stretch.head, &arguments, done, &[]);
        self.code.switch_to_block(done);
        bits.map(|_| taken)
    }
}

/// A loop over the quarters of the lanes, as it is written.
struct Stretch {
    head: ir::Block,
    /// The tested lanes of the quarters before.
    taken: Value,
    held: Held,
}
