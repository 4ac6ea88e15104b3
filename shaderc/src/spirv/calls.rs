//! Calls: functions are translated in the place of their call, and their returns meet behind it.
//!
//! Needs: a module.  Guarantees: calls that are nested too deep, or that come back to a function under way, are refused.
//! Facts: hardware/compiler-isel.md 15.

use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

use super::control::reverse_postorder;
use super::error::{Feature, Invalid};
use super::functions::SpvFunction;
use super::reader::{Instr, Result};
use super::translate::{Frame, Item, Translator};
use super::types::Type;
use crate::ir::{BlockId, Terminator, Value};

/// Deepest nesting of calls: they are inlined, so the translator recurses.
const MAX_CALLS: usize = 48;

impl Translator<'_> {
    /// Translates a function at the builder's place. Afterwards the builder stands behind it.
    pub(super) fn function(
        &mut self,
        id: u32,
        function: &SpvFunction,
        arguments: Vec<Item>,
        continuation: Option<BlockId>,
    ) -> Result<Rc<[Value]>> {
        let Some(first) = function.blocks.first() else {
            return Err(function
                .instr
                .unsupported(Feature::Use, "an imported function"));
        };
        if self.frames.iter().any(|frame| frame.function == id) {
            return Err(function.instr.invalid(Invalid::Recursion));
        }
        if self.frames.len() >= MAX_CALLS {
            let limit = format!("calls nested more than {MAX_CALLS} deep");
            return Err(function.instr.unsupported(Feature::Limit, limit));
        }
        let ids = function.parameters.iter().map(|(id, _)| *id);
        let named = match self.notes {
            true => ids.clone().zip(arguments.iter().cloned()).collect(),
            false => vec![],
        };
        let instrs = function.blocks.iter().map(|block| block.instrs.len());
        let most = function.parameters.len() + instrs.sum::<usize>();
        let mut items = HashMap::with_capacity_and_hasher(most, Default::default());
        items.extend(ids.zip(arguments));
        let mut frame = Frame {
            function: id,
            items,
            starts: HashMap::default(),
            ends: HashMap::default(),
            phis: vec![],
            continuation,
            returns: vec![],
            kills: false,
            result: function.result.clone(),
            roots: std::mem::take(&mut self.argument_roots),
            call: continuation
                .filter(|_| !self.frames.is_empty())
                .map(|_| self.builder.position),
        };
        for block in &function.blocks {
            let start = self.builder.function.new_block();
            frame.starts.insert(block.label, start);
        }
        let start = frame.starts[&first.label];
        self.frames.push(frame);
        if self.notes {
            self.name_call(&function.instr, id, &named);
        }
        self.builder.terminate(Terminator::Jump(start));
        let blocks = reverse_postorder(self.module, function)?;
        for block in &blocks {
            self.block(block)?;
        }
        self.merges(&blocks)?;
        self.fill_phis()?;
        self.finish_call(function)
    }

    pub(super) fn call(&mut self, instr: &Instr) -> Result<()> {
        let id = instr.word(0)?;
        let module = self.module;
        let Some(function) = module.functions.get(&id) else {
            return Err(instr.invalid(module.wanted(id, "a function")));
        };
        let mut arguments = vec![];
        for (argument, (_, wanted)) in instr.rest(1).iter().zip(&function.parameters) {
            arguments.push(match &**wanted {
                Type::Address { .. } => Item::Value(self.composite(instr, *argument)?),
                _ => self.item(instr, *argument)?,
            });
        }
        if instr.rest(1).len() != function.parameters.len() {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        for (argument, (_, wanted)) in arguments.iter().zip(&function.parameters) {
            let fits = match (argument, &**wanted) {
                (Item::Value(composite), ty) => *composite.ty == *ty,
                (Item::Pointer(pointer), Type::Pointer { pointee, .. }) => pointer.ty == *pointee,
                (Item::Pointer(_), _) => false,
                (Item::Image(image, None), ty) => *ty == Type::Image(image.ty.clone()),
                (Item::Image(image, Some(_)), ty) => *ty == Type::SampledImage(image.ty.clone()),
                (Item::Sampler(_), ty) => *ty == Type::Sampler,
            };
            if !fits {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
        }
        if self.notes {
            let given = instr.rest(1).iter().zip(&function.parameters);
            let roots =
                given.filter_map(|(id, (parameter, _))| Some((*parameter, self.root(*id)?)));
            self.argument_roots = roots.collect();
        }
        let continuation = self.builder.function.new_block();
        let scalars = self.function(id, function, arguments, Some(continuation))?;
        self.builder.position = self.position(instr);
        self.leave_if_killed(instr)?;
        let ty = self.result_type(instr)?;
        if *ty == Type::Void {
            return Ok(());
        }
        self.define(instr, scalars)
    }

    /// Joins the returns of the function that was translated last.
    fn finish_call(&mut self, function: &SpvFunction) -> Result<Rc<[Value]>> {
        let Some(frame) = self.frames.pop() else {
            return Err(function.instr.invalid(Invalid::Misplaced));
        };
        self.stage.callee_kills = frame.kills;
        let Some(continuation) = frame.continuation else {
            return Ok(Rc::from([]));
        };
        self.builder.block = continuation;
        let types = frame.result.flatten();
        let mut results = vec![];
        for (index, ty) in types.into_iter().enumerate() {
            // A single return needs no phi; none at all means that this place is never reached.
            let value = match frame.returns.as_slice() {
                [] => self.builder.function.constant_of(ty, 0),
                [(_, values)] => values[index],
                _ => {
                    let value = self.builder.function.new_phi(continuation, ty);
                    let phis = &mut self.builder.function.block_mut(continuation).phis;
                    if let Some(phi) = phis.last_mut() {
                        let sources = frame.returns.iter();
                        phi.sources = sources
                            .map(|(from, values)| (*from, values[index]))
                            .collect();
                    }
                    value
                }
            };
            results.push(value);
        }
        Ok(results.into())
    }
}
