//! What a shader gets from outside: buffers, images, push constants and specialisation constants, with their first contents.
//!
//! A block holds fractions or integers, not both, so that one rule fills it. Blocks are larger than their members, whose offsets glslang
//! works out.

use crate::generator::Generator;
use crate::texels::{TexelKind, Texels};
use crate::types::{Kind, Member, Type};
use crate::variables::Variable;
use serde_json::{Value, json};

/// Bytes of a block that is read.
const BLOCK: u32 = 16 << 10;
/// Bytes of an invocation's own element; the largest has fewer.
const ELEMENT: u32 = 512;

/// An atomic whose order does not matter: nothing else is done at its place.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) place: String,
    pub(crate) function: &'static str,
    pub(crate) kind: Kind,
}

/// What is declared before the functions, and the rows of the case file.
#[derive(Default)]
pub(crate) struct Resources {
    pub(crate) declarations: Vec<String>,
    bindings: Vec<Value>,
    pub(crate) push_constants: Vec<u8>,
    pub(crate) specialised: Vec<Value>,
    /// What all functions may read.
    pub(crate) read: Vec<Variable>,
    /// What each invocation has to itself.
    pub(crate) own: Vec<Variable>,
}

fn exactly() -> Value {
    json!({"rule": "exact", "why": "integers"})
}

fn fractions() -> Value {
    json!({"rule": "float", "type": "f32", "abs": 0.0, "rel": 0.0, "why": "fractions that nothing rounds; the sign of a zero is free"})
}

impl Resources {
    /// The rows of the descriptors, in the order of their bindings.
    pub(crate) fn into_bindings(self) -> Vec<Value> {
        self.bindings
    }

    /// Adds a row for the next binding of set 0, and gives the binding.
    fn bind(&mut self, mut row: Value, compare: Option<Value>) -> usize {
        let number = self.bindings.len();
        row["set"] = json!(0);
        row["binding"] = json!(number);
        row["output"] = json!(compare.is_some());
        if let Some(compare) = compare {
            row["compare"] = compare;
        }
        self.bindings.push(row);
        number
    }
}

impl Generator {
    /// Declares what the shader gets; so many invocations run.
    pub(crate) fn resources(&mut self, invocations: u32) -> Resources {
        let mut all = Resources::default();
        let row =
            json!({"name": "hashes", "kind": "ssbo", "bytes": 4 * invocations, "init": "zero"});
        all.bind(row, Some(exactly()));
        let hashes = "layout(set = 0, binding = 0, std430) buffer Hashes { uint hashes[]; };";
        all.declarations.push(hashes.to_owned());
        self.specialisation(&mut all);
        for _ in 0..self.between(1, 3) {
            self.block_to_read(&mut all);
        }
        for _ in 0..self.between(0, 2) {
            self.own_elements(&mut all, invocations);
        }
        for _ in 0..self.of(&[0, 0, 1, 2, 3]) {
            self.texels_of(&mut all, invocations);
        }
        if self.chance(40) {
            self.atomics_of(&mut all);
        }
        if self.chance(60) {
            self.push_constants(&mut all);
        }
        // Last: they are in another set, and bindings are counted.
        if self.chance(30) {
            self.blocks_by_index(&mut all);
        }
        all
    }

    fn specialisation(&mut self, all: &mut Resources) {
        // Before SPIR-V 1.4 (see `chooses_wholes`) constants of these can't be converted.
        if self.halves || self.integers.iter().any(|kind| !kind.is_word()) {
            return;
        }
        for id in 10..10 + self.of(&[0, 0, 0, 1, 2, 3]) {
            let kind = self.of(&[Kind::Int, Kind::Uint, Kind::Float, Kind::Bool]);
            let value = match kind {
                Kind::Float => self.fraction().to_bits(),
                Kind::Bool => self.between(0, 1),
                Kind::Int => self.between(0, 9),
                _ => self.rng.u32(..),
            };
            let (name, default) = (self.fresh("k"), self.constant(kind));
            let ty = kind.one().name();
            let text = format!("layout(constant_id = {id}) const {ty} {name} = {default};");
            all.declarations.push(text);
            self.chooses_wholes = false;
            all.specialised.push(json!({"id": id, "value": value}));
            all.read.push(Variable::new(&name, kind.one(), false));
        }
    }

    /// The first contents of a block.
    fn contents(&mut self, fractions: bool) -> Value {
        let seed = self.between(1, 99_999);
        match (fractions, self.of(&[0, 0, 2, 5, 100])) {
            (true, _) => {
                json!({"pcg32": {"seed": seed, "as": "f32", "mod": 4097, "add": -2048, "scale": 0.125}})
            }
            (false, 0) => json!({"pcg32": {"seed": seed, "as": "u32"}}),
            (false, limit) => json!({"pcg32": {"seed": seed, "as": "u32", "mod": limit}}),
        }
    }

    /// A vector or a matrix of fractions or integers.
    fn block_element(&mut self, fractions: bool, bools: bool) -> Type {
        let count = self.between(1, 4);
        if fractions && self.chance(33) {
            return Type::Matrix(self.between(2, 4), self.between(2, 4));
        }
        let kind = match fractions {
            true => Kind::Float,
            false if bools && self.chance(15) => Kind::Bool,
            false => self.integer(),
        };
        Type::Vector(kind, count)
    }

    fn block_member(&mut self, fractions: bool) -> Type {
        match self.between(0, 9) {
            0..3 => {
                let length = self.of(&[1, 2, 3, 4, 8, 13, 16, 32]);
                let mut element = self.block_element(fractions, true);
                if length < 5 && self.chance(25) {
                    element = Type::Array(Box::new(element), self.between(1, 4));
                }
                Type::Array(Box::new(element), length)
            }
            3 | 4 => {
                let count = self.between(1, 3);
                let members = (0..count).map(|_| match self.chance(30) {
                    true => {
                        let element = self.block_element(fractions, true);
                        Type::Array(Box::new(element), self.between(1, 4))
                    }
                    false => self.block_element(fractions, true),
                });
                let members = members.collect();
                let structure = self.declare(members);
                match self.of(&[0, 0, 2, 3, 9]) {
                    0 => structure,
                    length => Type::Array(Box::new(structure), length),
                }
            }
            _ => self.block_element(fractions, true),
        }
    }

    /// Members of a block: how they are declared, and what they are.
    fn block_members(&mut self, fractions: bool, most: u32) -> (String, Vec<Member>) {
        let mut text = String::new();
        let mut members = vec![];
        for _ in 0..self.between(1, most) {
            let ty = self.block_member(fractions);
            let name = self.fresh("q");
            let order = match ty.has_matrix() {
                true => self.of(&["layout(row_major) ", "layout(column_major) ", ""]),
                false => "",
            };
            text += &format!("    {order}{} {name};\n", ty.name());
            members.push(Member { name, ty });
        }
        (text, members)
    }

    fn block_to_read(&mut self, all: &mut Resources) {
        let (fractions, uniform) = (self.chance(50), self.chance(50));
        let (text, members) = self.block_members(fractions, 5);
        let name = self.fresh("block");
        let (kind, storage, layouts) = kinds_of_blocks(uniform);
        let row =
            json!({"name": name, "kind": kind, "bytes": BLOCK, "init": self.contents(fractions)});
        let binding = all.bind(row, None);
        let (layout, order) = (self.of(layouts), self.of(&["", ", row_major"]));
        all.declarations.push(format!(
            "layout(set = 0, binding = {binding}, {layout}{order}) {storage} Block{binding} {{\n{text}}} {name};"
        ));
        for member in members {
            let text = format!("{name}.{}", member.name);
            all.read.push(Variable::of_block(&text, member.ty, false));
        }
    }

    /// An array of descriptors.
    fn blocks_by_index(&mut self, all: &mut Resources) {
        let (fractions, uniform) = (self.chance(50), self.chance(40));
        let (text, members) = self.block_members(fractions, 3);
        let (name, count) = (self.fresh("blocks"), self.of(&[2, 3]));
        let (kind, storage, layouts) = kinds_of_blocks(uniform);
        for element in 0..count {
            let init = self.contents(fractions);
            all.bindings.push(json!({
                "set": 1, "binding": 0, "element": element, "name": name, "kind": kind, "bytes": BLOCK,
                "init": init, "output": false,
            }));
        }
        let layout = self.of(layouts);
        all.declarations.push(format!(
            "layout(set = 1, binding = 0, {layout}) {storage} Blocks {{\n{text}}} {name}[{count}];"
        ));
        for element in 0..count {
            for member in &members {
                let text = format!("{name}[{element}].{}", member.name);
                let variable = Variable::of_block(&text, member.ty.clone(), false);
                all.read.push(variable);
            }
        }
    }

    /// A buffer in which each invocation reads and writes an element.
    fn own_elements(&mut self, all: &mut Resources, invocations: u32) {
        let fractional = self.chance(50);
        let mut members: Vec<Type> = (0..self.between(1, 4))
            .map(|_| self.block_element(fractional, false))
            .collect();
        if self.chance(40) {
            let element = self.block_element(fractional, false);
            members.push(Type::Array(Box::new(element), self.between(2, 3)));
        }
        let ty = self.declare(members);
        let name = self.fresh("elements");
        let compare = if fractional { fractions() } else { exactly() };
        let bytes = ELEMENT * invocations;
        let init = self.contents(fractional);
        let row = json!({"name": name, "kind": "ssbo", "bytes": bytes, "init": init});
        let binding = all.bind(row, Some(compare));
        let layout = self.of(&["std430", "std140"]);
        let order = self.of(&["", ", row_major"]);
        all.declarations.push(format!(
            "layout(set = 0, binding = {binding}, {layout}{order}) buffer Block{binding} {{ {} {name}[]; }};",
            ty.name()
        ));
        let own = format!("{name}[own]");
        all.own.push(Variable::of_block(&own, ty, true));
    }

    fn texels_of(&mut self, all: &mut Resources, invocations: u32) {
        let (format, of, bytes, prefix) = self.of(&[
            ("r32f", Kind::Float, 4, ""),
            ("rgba32f", Kind::Float, 16, ""),
            ("r32ui", Kind::Uint, 4, "u"),
        ]);
        let kind = self.of(&[
            TexelKind::Sampled,
            TexelKind::Image,
            TexelKind::SampledBuffer,
            TexelKind::ImageBuffer,
        ]);
        let stored = matches!(kind, TexelKind::Image | TexelKind::ImageBuffer);
        let written = stored && self.chance(50);
        let (width, height) = match kind {
            _ if written => (invocations, 1),
            TexelKind::Sampled | TexelKind::Image => {
                self.of(&[(8, 8), (5, 7), (16, 3), (1, 1), (33, 2)])
            }
            _ => (self.of(&[7, 64, 100]), 1),
        };
        let name = self.fresh("texels");
        let (case_kind, ty, format_of) = match kind {
            TexelKind::Sampled => ("combined_image_sampler", "sampler2D", ""),
            TexelKind::SampledBuffer => ("uniform_texel_buffer", "samplerBuffer", ""),
            TexelKind::Image => ("storage_image", "image2D", format),
            TexelKind::ImageBuffer => ("storage_texel_buffer", "imageBuffer", format),
        };
        let init = self.contents(of == Kind::Float);
        let row = json!({
            "name": name, "kind": case_kind, "bytes": width * height * bytes, "init": init,
            "format": format, "width": width, "height": height,
        });
        let compare = match of {
            Kind::Float => fractions(),
            _ => exactly(),
        };
        let binding = all.bind(row, written.then_some(compare));
        let separator = if format_of.is_empty() { "" } else { ", " };
        let access = if stored && !written { "readonly " } else { "" };
        all.declarations.push(format!(
            "layout(set = 0, binding = {binding}{separator}{format_of}) {access}uniform {prefix}{ty} {name};"
        ));
        self.texels.push(Texels {
            name,
            kind,
            of,
            width,
            height,
            written,
        });
    }

    /// Words that atomics change, each by one function.
    fn atomics_of(&mut self, all: &mut Resources) {
        const EACH: u32 = 4;
        let init = self.contents(false);
        let row = json!({"name": "atomics", "kind": "ssbo", "bytes": 8 * EACH, "init": init});
        let binding = all.bind(row, Some(exactly()));
        all.declarations.push(format!(
            "layout(set = 0, binding = {binding}, std430) buffer Atomics {{ uint words[{EACH}]; int integers[{EACH}]; }};"
        ));
        for number in 0..EACH {
            for (array, kind) in [("words", Kind::Uint), ("integers", Kind::Int)] {
                let function = self.of(&[
                    "atomicAdd",
                    "atomicOr",
                    "atomicXor",
                    "atomicAnd",
                    "atomicMin",
                    "atomicMax",
                ]);
                let place = format!("{array}[{number}]");
                self.atomics.push(Atomic {
                    place,
                    function,
                    kind,
                });
            }
        }
    }

    fn push_constants(&mut self, all: &mut Resources) {
        let mut text = String::new();
        let bytes = &mut all.push_constants;
        for _ in 0..self.between(1, 5) {
            let kind = self.of(&[Kind::Int, Kind::Uint, Kind::Float]);
            // A vector of three would leave a word for the next.
            let count = self.of(&[1, 1, 2, 4]);
            bytes.resize(bytes.len().next_multiple_of(4 * count as usize), 0);
            for _ in 0..count {
                let value = match kind {
                    Kind::Float => self.fraction().to_bits(),
                    _ => {
                        let few = self.between(0, 9);
                        let any = self.rng.u32(..);
                        self.of(&[few, any])
                    }
                };
                bytes.extend(value.to_le_bytes());
            }
            let (ty, name) = (Type::Vector(kind, count), self.fresh("q"));
            text += &format!("    {} {name};\n", ty.name());
            let path = format!("pushed.{name}");
            all.read.push(Variable::of_block(&path, ty, false));
        }
        let block = format!("layout(push_constant) uniform Pushed {{\n{text}}} pushed;");
        all.declarations.push(block);
    }
}

/// Of a uniform or a storage buffer: its kind in a case file, its storage in GLSL, and its layouts.
fn kinds_of_blocks(uniform: bool) -> (&'static str, &'static str, &'static [&'static str]) {
    match uniform {
        true => ("ubo", "uniform", &["std140"]),
        false => ("ssbo", "readonly buffer", &["std430", "std140"]),
    }
}
