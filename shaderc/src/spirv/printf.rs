//! `debugPrintfEXT`: appends a record to the buffer that the options name.
//!
//! Facts: none of the hardware's; the buffer's form is that of `crate::printf`.

use super::error::{Feature, Invalid};
use super::reader::{Instr, Result};
use super::translate::Translator;
use super::types::Type;
use crate::ir::{
    self, Access, Alu, AtomicOp, Binding, BindingId, BindingKind, Memory, Space, Terminator, Value,
};
use crate::printf::{PrintfBuffer, PrintfCall, PrintfType};

/// The instruction's number in its set.
const DEBUG_PRINTF: u32 = 1;

/// What is printed, and where.
pub(super) struct Printf {
    buffer: Option<PrintfBuffer>,
    binding: Option<BindingId>,
    pub(super) calls: Vec<PrintfCall>,
}

impl Printf {
    pub(super) fn new(buffer: Option<PrintfBuffer>) -> Printf {
        Printf {
            buffer,
            binding: None,
            calls: vec![],
        }
    }
}

/// What a scalar is printed as.
fn printed(ty: &Type) -> Option<PrintfType> {
    match *ty {
        Type::Bool => Some(PrintfType::Bool),
        Type::Int { bits, signed: true } => Some(PrintfType::Signed(bits)),
        Type::Int { bits, .. } => Some(PrintfType::Unsigned(bits)),
        Type::Float { bits } => Some(PrintfType::Float(bits)),
        _ => None,
    }
}

impl Translator<'_> {
    /// Whether there is a buffer for what is printed.
    pub(super) fn prints(&self) -> bool {
        self.printf.buffer.is_some()
    }

    /// Translates a call.
    pub(super) fn print(&mut self, instr: &Instr) -> Result<()> {
        let Some(buffer) = self.printf.buffer else {
            return Ok(());
        };
        if instr.word(1)? != DEBUG_PRINTF {
            let what = format!("instruction {} of debugPrintf's", instr.word(1)?);
            return Err(instr.unsupported(Feature::Use, what));
        }
        let format = instr.word(2)?;
        let text = self.module.string(format);
        let text = text.ok_or_else(|| instr.invalid(Invalid::Wanted(format, "a string")))?;
        let mut call = PrintfCall {
            format: text.to_owned(),
            arguments: vec![],
        };
        let mut words = vec![];
        for index in 3..3 + instr.rest(3).len() {
            let argument = self.operand(instr, index)?;
            let ty = printed(argument.ty.component());
            let ty = ty.ok_or_else(|| instr.invalid(Invalid::TypeMismatch))?;
            call.arguments.push((ty, argument.scalars.len() as u32));
            for scalar in argument.scalars.iter() {
                self.words_of(*scalar, &mut words);
            }
        }
        let number = self.number_of(call);
        let first = self.builder.word(number);
        words.insert(0, first);
        let binding = self.printf_binding(instr, buffer)?;
        self.append(buffer, binding, &words);
        Ok(())
    }

    /// The number of a call, from 1. A function that is called several times has the same calls each time.
    fn number_of(&mut self, call: PrintfCall) -> u32 {
        let calls = &mut self.printf.calls;
        let known = calls.iter().position(|known| *known == call);
        let index = known.unwrap_or_else(|| {
            calls.push(call);
            calls.len() - 1
        });
        index as u32 + 1
    }

    /// A scalar as words.
    fn words_of(&mut self, scalar: Value, words: &mut Vec<Value>) {
        let builder = &mut self.builder;
        match builder.function.ty(scalar) {
            ir::Type::Bool => words.push(builder.alu(Alu::B2I, &[scalar])),
            ir::Type::W64 => {
                words.push(builder.alu(Alu::Low64, &[scalar]));
                words.push(builder.alu(Alu::High64, &[scalar]));
            }
            _ => words.push(super::ops::convert::to_word(builder, scalar, false)),
        }
    }

    fn printf_binding(&mut self, instr: &Instr, buffer: PrintfBuffer) -> Result<BindingId> {
        if let Some(binding) = self.printf.binding {
            return Ok(binding);
        }
        let place = (buffer.set, buffer.binding);
        let bindings = &self.builder.function.bindings;
        if bindings.iter().any(|it| (it.set, it.binding) >= place) {
            let what = format!("a binding from set {}, binding {} on", place.0, place.1);
            return Err(instr.unsupported(Feature::Limit, what));
        }
        let binding = self.add_binding(
            instr,
            Binding {
                set: buffer.set,
                binding: buffer.binding,
                count: 1,
                kind: BindingKind::Storage,
                written: true,
                restrict: true,
                non_uniform: false,
                image: None,
                min_bytes: buffer.bytes,
                name: "debugPrintf".to_owned(),
            },
        )?;
        self.printf.binding = Some(binding);
        Ok(binding)
    }

    /// Takes room for these words, and stores them if there is some.
    fn append(&mut self, buffer: PrintfBuffer, binding: BindingId, words: &[Value]) {
        let room = (buffer.bytes / 4).saturating_sub(1);
        let count = words.len() as u32;
        let resource = self.builder.function.resource(binding, 0);
        let start = self.builder.word(0);
        let wanted = self.builder.word(count);
        let counter = Access {
            memory: Memory::Volatile,
            ..Access::words(Space::Buffer, 1)
        };
        let address = [resource, start];
        let taken = self
            .builder
            .atomic(AtomicOp::Add, counter, &address, &[wanted]);
        // So many words may be taken that there is room for these.
        let most = room.saturating_add(1).saturating_sub(count);
        let fits = self.builder.alu_word(Alu::ULt, taken, most);
        let [body, exit] = [(); 2].map(|()| self.builder.function.new_block());
        self.builder.terminate(Terminator::Branch {
            condition: fits,
            then: body,
            otherwise: exit,
        });
        self.builder.block = body;
        let bytes = self.builder.alu_word(Alu::IShl, taken, 2);
        for (word, at) in words.iter().zip((4..).step_by(4)) {
            let offset = self.builder.alu_word(Alu::IAdd, bytes, at);
            let access = Access::words(Space::Buffer, 1);
            self.builder.store(access, &[resource, offset], &[*word]);
        }
        self.builder.terminate(Terminator::Jump(exit));
        self.builder.block = exit;
    }
}
