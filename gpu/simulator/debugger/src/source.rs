//! The level of the source: the IR as it was translated, in the interpreter that the checkers use.
//!
//! Here operations are still what the author wrote, each has its line, and variables are where the source has them: no pass has
//! merged, moved or removed one. Needs: a function translated with `Options::notes`.
use std::collections::HashMap;
use std::sync::Arc;

use eitri_shaderc::interp::{self, CodePlace, Dispatch, End, LanePlace, Resources, Stepper, Trap};
use eitri_shaderc::ir::source_names::{Home, SourceType, SourceVariable, Visible};
use eitri_shaderc::ir::{BindingKind, Function, PositionId, Type, Value, ValueDef};

use crate::execution::{Ahead, Execution, LaneState, Object, ScalarPlace, Touch};
use crate::program::{Instruction, Line, Path, Program};
use crate::value::{Node, Place};

/// What does not change while a dispatch runs.
struct Code<'f> {
    function: &'f Function,
    dispatch: &'f Dispatch,
    /// By instruction, and by block: where it stands, or its end.
    inst_address: Vec<u64>,
    end_address: Vec<u64>,
    /// By call path: the place of the call.
    calls: Vec<Option<PositionId>>,
}

/// A dispatch at the level of the source.
#[derive(Clone)]
pub struct SourceLevel<'f> {
    stepper: Stepper<'f>,
    code: Arc<Code<'f>>,
}

/// Makes the program of a function while its call paths are found.
struct Paths<'f> {
    function: &'f Function,
    program: Program,
    calls: Vec<Option<PositionId>>,
    known: HashMap<PositionId, usize>,
}

impl Paths<'_> {
    fn line(&mut self, position: PositionId) -> Option<Line> {
        let source = self.function.position(position).source.as_ref()?;
        Some(Line {
            file: self.program.file(&source.file),
            line: source.line,
            column: source.column,
        })
    }

    /// The number of the path of what was called there.
    fn path(&mut self, call: Option<PositionId>) -> usize {
        let Some(call) = call else { return 0 };
        if let Some(path) = self.known.get(&call) {
            return *path;
        }
        let caller = self.path(self.function.position(call).call);
        let line = self.line(call);
        let callees = &self.function.source_names.callees;
        let function = callees.get(&call).cloned();
        self.program.paths.push(Path {
            function: function.unwrap_or_else(|| "?".to_owned()),
            caller: Some((caller, line)),
        });
        self.calls.push(Some(call));
        let path = self.program.paths.len() - 1;
        self.known.insert(call, path);
        path
    }

    fn add(&mut self, text: String, position: PositionId) -> u64 {
        let address = self.program.instructions.len() as u64;
        let path = self.path(self.function.position(position).call);
        let line = self.line(position);
        self.program.instructions.push(Instruction {
            address,
            text,
            word: None,
            line,
            path,
        });
        address
    }
}

impl<'f> SourceLevel<'f> {
    /// A dispatch before its first step, and its program. A buffer that is not given is empty.
    ///
    /// # Errors
    /// What is not bound, or can't be run.
    pub fn new(
        function: &'f Function,
        dispatch: &'f Dispatch,
        resources: &mut Resources,
    ) -> Result<(SourceLevel<'f>, Program), Trap> {
        for binding in &function.bindings {
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                if matches!(binding.kind, BindingKind::Storage | BindingKind::Uniform) {
                    resources.buffers.entry(key).or_default();
                }
            }
        }
        let stepper = Stepper::new(function, dispatch, resources)?;
        let mut paths = Paths {
            function,
            program: Program::default(),
            calls: vec![None],
            known: HashMap::new(),
        };
        paths.program.paths.push(Path {
            function: function.name.clone(),
            caller: None,
        });
        let mut inst_address = vec![0; function.inst_count()];
        let mut end_address = vec![0; function.block_count()];
        for block in &function.layout {
            let data = function.block(*block);
            for inst in &data.insts {
                let position = function.inst(*inst).position;
                inst_address[inst.index()] = paths.add(function.show_inst(*inst), position);
            }
            let text = format!("{block}: {}", function.show_terminator(&data.terminator));
            end_address[block.index()] = paths.add(text, data.position);
        }
        let code = Arc::new(Code {
            function,
            dispatch,
            inst_address,
            end_address,
            calls: paths.calls,
        });
        Ok((SourceLevel { stepper, code }, paths.program))
    }

    /// Copies the contents of buffers and images back.
    pub fn save(self, resources: &mut Resources) {
        self.stepper.save(resources);
    }

    fn address(&self, place: CodePlace) -> u64 {
        match place {
            CodePlace::Inst(inst) => self.code.inst_address[inst.index()],
            CodePlace::End(block) => self.code.end_address[block.index()],
        }
    }

    fn node(variable: &SourceVariable) -> Node {
        let scalars = |places: Vec<ScalarPlace>| Place::Scalars(places);
        let place = match &variable.home {
            Home::Vars(vars) => scalars(
                vars.iter()
                    .map(|(var, element)| ScalarPlace::Var(*var, *element))
                    .collect(),
            ),
            Home::Values(values) => {
                scalars(values.iter().copied().map(ScalarPlace::Value).collect())
            }
            Home::Shared(at) => Place::Bytes(Object::Shared, (*at).into()),
            Home::Buffer(binding, at) => Place::Bytes(Object::Buffer(*binding, 0), (*at).into()),
            Home::Push(at) => Place::Bytes(Object::Push, (*at).into()),
        };
        let mut node = Node {
            name: variable.name.clone(),
            ty: variable.ty.clone(),
            place,
        };
        // naga wraps what is no struct into one, whose member has no name.
        while let SourceType::Struct(members) = &node.ty {
            let [only] = members.as_slice() else { break };
            if only.name != "_0" {
                break;
            }
            if let Place::Bytes(_, at) = &mut node.place {
                *at += u64::from(only.offset);
            }
            node.ty = only.ty.clone();
        }
        node
    }

    /// All values that instructions have given.
    fn ir_values(&self, thread: usize) -> Vec<Node> {
        let function = self.code.function;
        let lanes = self.stepper.lanes(thread);
        let has_value =
            |value: Value| (0..lanes).any(|lane| self.stepper.value(thread, lane, value).is_some());
        let results = function
            .placed_insts()
            .flat_map(|(_, inst)| function.inst(inst).results.iter().copied());
        results
            .filter(|value| has_value(*value))
            .map(|value| self.value_node(value))
            .collect()
    }

    fn value_node(&self, value: Value) -> Node {
        let ty = match self.code.function.ty(value) {
            Type::Bool => SourceType::Bool,
            Type::Resource => SourceType::Opaque,
            word => SourceType::Int {
                bits: word.bits(),
                signed: false,
            },
        };
        Node {
            name: value.to_string(),
            ty,
            place: Place::Scalars(vec![ScalarPlace::Value(value)]),
        }
    }
}

impl Execution for SourceLevel<'_> {
    fn ahead(&self) -> Option<Ahead> {
        let ahead = self.stepper.ahead()?;
        Some(Ahead {
            thread: ahead.warp,
            lanes: ahead.lanes.0,
            address: self.address(ahead.place),
        })
    }

    fn step(&mut self) {
        self.stepper.step();
    }

    fn ending(&self) -> Option<String> {
        Some(match self.stepper.end()? {
            End::Done => "the dispatch has ended".to_owned(),
            End::Diverged => {
                let [x, y, z] = self.stepper.workgroup();
                format!("workgroup {x},{y},{z}: not all invocations reach the same barrier")
            }
            End::Trapped(trap) => trap.to_string(),
        })
    }

    fn ended_well(&self) -> bool {
        self.stepper.end() == Some(&End::Done)
    }

    fn threads(&self) -> usize {
        self.stepper.warps()
    }

    fn thread_name(&self, thread: usize) -> String {
        let [x, y, z] = self.stepper.workgroup();
        format!("warp {thread} of workgroup {x},{y},{z}")
    }

    fn lanes(&self, thread: usize) -> usize {
        self.stepper.lanes(thread)
    }

    fn lane_name(&self, thread: usize, lane: usize) -> String {
        match self.stepper.invocation(thread, lane) {
            Some(([x, y, z], [gx, gy, gz])) => {
                format!("lane {lane}: local {x},{y},{z} global {gx},{gy},{gz}")
            }
            None => format!("lane {lane}"),
        }
    }

    fn lane_state(&self, thread: usize, lane: usize) -> Option<LaneState> {
        Some(match self.stepper.lane_place(thread, lane)? {
            LanePlace::At(place) => LaneState::At(self.address(place)),
            LanePlace::Barrier(inst) => LaneState::Barrier(self.code.inst_address[inst.index()]),
            LanePlace::Ended => LaneState::Ended,
        })
    }

    fn workgroup(&self) -> [u32; 3] {
        self.stepper.workgroup()
    }

    fn touches(&self) -> Vec<Touch> {
        let touches = self.stepper.touches().into_iter();
        let touch = |touch: interp::Touch| Touch {
            lane: touch.lane,
            object: match touch.object {
                interp::Object::Buffer(binding, element) => Object::Buffer(binding, element),
                interp::Object::Shared => Object::Shared,
                interp::Object::Var(var) => Object::Var(var),
            },
            start: touch.start,
            len: touch.len,
            writes: touch.writes,
        };
        touches.map(touch).collect()
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["Locals", "Globals", "IR values"]
    }

    fn nodes(&self, scope: usize, thread: usize, path: usize) -> Vec<Node> {
        let visible = match scope {
            0 => match self.code.calls.get(path) {
                Some(call) => Visible::InCall(*call),
                None => return vec![],
            },
            1 => Visible::Everywhere,
            _ => return self.ir_values(thread),
        };
        let variables = self.code.function.source_names.variables.iter();
        variables
            .filter(|variable| variable.visible == visible)
            .map(Self::node)
            .collect()
    }

    fn special(&self, name: &str) -> Option<Node> {
        let number: u32 = name.strip_prefix('%')?.parse().ok()?;
        let function = self.code.function;
        let mut results = function
            .placed_insts()
            .flat_map(|(_, inst)| function.inst(inst).results.iter().copied());
        let value = results.find(|value| value.index() == number as usize)?;
        Some(self.value_node(value))
    }

    fn scalar(&self, thread: usize, lane: usize, place: ScalarPlace) -> Option<u64> {
        match place {
            ScalarPlace::Var(var, element) => self.stepper.var(thread, lane, var, element),
            ScalarPlace::Value(value) => match self.code.function.def(value) {
                ValueDef::Word(bits) => Some(bits),
                ValueDef::Bool(value) => Some(value.into()),
                ValueDef::Result(..) | ValueDef::Phi(_) => self.stepper.value(thread, lane, value),
            },
            ScalarPlace::Known(bits) => Some(bits),
            ScalarPlace::Register(_) | ScalarPlace::Uniform(_) | ScalarPlace::Lane(_) => None,
        }
    }

    fn read(&self, object: Object, start: u64, len: u64) -> Option<Vec<u8>> {
        let bytes = self.contents(object)?;
        let start = usize::try_from(start).ok()?.min(bytes.len());
        let len = usize::try_from(len).ok()?;
        let end = start.saturating_add(len).min(bytes.len());
        Some(bytes[start..end].to_vec())
    }

    fn size(&self, object: Object) -> u64 {
        self.contents(object).map_or(0, |bytes| bytes.len() as u64)
    }

    fn objects(&self) -> Vec<(String, Object)> {
        let mut objects = vec![("shared".to_owned(), Object::Shared)];
        objects.push(("push".to_owned(), Object::Push));
        for binding in &self.code.function.bindings {
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                let (set, number) = (binding.set, binding.binding);
                if let Some((id, element)) = self.stepper.element(key) {
                    let name = match element {
                        0 => format!("{set}:{number}"),
                        _ => format!("{set}:{number}:{element}"),
                    };
                    objects.push((name, Object::Buffer(id, element)));
                }
            }
        }
        objects.retain(|(_, object)| self.contents(*object).is_some());
        objects
    }

    fn bytes(&self) -> usize {
        self.stepper.bytes()
    }
}

impl SourceLevel<'_> {
    fn contents(&self, object: Object) -> Option<&[u8]> {
        match object {
            Object::Buffer(binding, element) => self.stepper.buffer(binding, element),
            Object::Shared => Some(self.stepper.shared()),
            Object::Push => Some(&self.code.dispatch.push_constants),
            Object::Var(_) | Object::Memory => None,
        }
    }
}
