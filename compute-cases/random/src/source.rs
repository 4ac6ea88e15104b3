//! The shader as a whole: declarations, functions and `main`, and its case file.

use crate::generator::{Generator, Place};
use crate::resources::Resources;
use crate::types::{Kind, Type};
use crate::variables::Variable;
use crate::{Kernel, subgroups, types};
use serde_json::json;

/// Sizes of workgroups, and their number.
const SIZES: [[u32; 3]; 8] = [
    [16, 1, 1],
    [32, 1, 1],
    [8, 4, 1],
    [4, 4, 2],
    [5, 3, 1],
    [1, 1, 1],
    [64, 1, 1],
    [7, 1, 3],
];
const GROUPS: [[u32; 3]; 4] = [[1, 1, 1], [2, 1, 1], [3, 2, 1], [1, 1, 2]];

/// Both halves of products, and sums with what is carried, as functions of one result.
const FUNCTIONS: &str = "\
uint high_product(uint a, uint b) { uint high, low; umulExtended(a, b, high, low); return high; }
uint low_product(uint a, uint b) { uint high, low; umulExtended(a, b, high, low); return low; }
int high_product(int a, int b) { int high, low; imulExtended(a, b, high, low); return high; }
int low_product(int a, int b) { int high, low; imulExtended(a, b, high, low); return low; }
uint sum_with_carry(uint a, uint b) { uint carry; uint sum = uaddCarry(a, b, carry); return sum ^ carry; }
uint difference_with_borrow(uint a, uint b) { uint borrow; uint rest = usubBorrow(a, b, borrow); return rest ^ borrow; }";

impl Generator {
    /// The kernel of this seed.
    pub(crate) fn kernel(mut self, name: &str) -> Kernel {
        let (size, groups) = (self.of(&SIZES), self.of(&GROUPS));
        let in_group: u32 = size.iter().product();
        let invocations = in_group * groups.iter().product::<u32>();
        for _ in 0..self.between(1, 3) {
            self.declare_any();
        }
        let mut resources = self.resources(invocations);
        self.globals = resources.read.clone();
        let globals = self.global_variables();
        let shared = self.shared_array(in_group);
        let global_lines = self.take_lines();
        for _ in 0..self.between(0, 4) {
            self.function();
        }
        let functions = self.take_lines();
        self.main((size, groups), &globals, shared.as_ref(), &resources);
        let main = self.take_lines();

        let mut lines = vec!["#version 450".to_owned()];
        if self.halves || self.integers.iter().any(|kind| !kind.is_word()) {
            let types = "#extension GL_EXT_shader_explicit_arithmetic_types : enable";
            lines.push(types.to_owned());
        }
        if self.subgroups {
            lines.extend(subgroups::EXTENSIONS.iter().map(|it| it.to_string()));
        }
        let [x, y, z] = size;
        lines.push(format!(
            "layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;"
        ));
        lines.extend(self.structs.iter().map(declared));
        lines.append(&mut resources.declarations);
        lines.push(FUNCTIONS.to_owned());
        if self.subgroups {
            lines.extend(subgroups::functions());
        }
        lines.extend(self.rounding());
        lines.extend(global_lines);
        lines.extend(functions);
        lines.extend(main);
        // Mesa 22.3 takes the whole of a constant vector that one constant condition chooses for its first component; before
        // SPIR-V 1.4 a condition has as many components.
        let target = match self.chooses_wholes {
            true => "vulkan1.2",
            false => "vulkan1.1",
        };
        let bytes = resources.push_constants.iter();
        let push_constants: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        let case = json!({
            "format": 1,
            "name": name,
            "kind": "random",
            "description": "a random shader",
            "shader": {
                "source": format!("{name}.comp"), "spirv": format!("{name}.spv"), "spirv_opt": format!("{name}.opt.spv"),
                "entry": "main", "stage": "compute", "target_env": target,
            },
            "local_size": size,
            "groups": groups,
            "push_constants": push_constants,
            "spec_constants": resources.specialised,
            "bindings": resources.into_bindings(),
        });
        Kernel {
            source: lines.join("\n") + "\n",
            target,
            case,
        }
    }

    /// Declares variables of all functions; `main` gives them their first values.
    fn global_variables(&mut self) -> Vec<Variable> {
        // The number of the invocation.
        self.line("uint own;");
        let mut declared = vec![];
        for _ in 0..self.between(0, 3) {
            let (ty, name) = (self.any_type(), self.fresh("g"));
            self.line(&format!("{} {name};", ty.name()));
            declared.push(Variable::new(&name, ty, true));
        }
        self.globals.extend(declared.iter().cloned());
        if self.chance(30) {
            let element = Type::Vector(self.number(), self.between(1, 4));
            let (ty, name) = (
                Type::Array(Box::new(element), self.of(&[3, 4, 8])),
                self.fresh("table"),
            );
            let value = self.constructed(&ty, &[], 0);
            self.line(&format!("const {} {name} = {value};", ty.name()));
            self.globals.push(Variable::new(&name, ty, false));
        }
        declared
    }

    /// An array in shared memory, an element for each invocation of a workgroup.
    fn shared_array(&mut self, length: u32) -> Option<Variable> {
        if length == 1 || self.chance(60) {
            return None;
        }
        let element = Type::Vector(
            self.of(&[Kind::Uint, Kind::Int, Kind::Float]),
            self.between(1, 4),
        );
        let name = self.fresh("shared_");
        self.line(&format!("shared {} {name}[{length}];", element.name()));
        Some(Variable::new(
            &name,
            Type::Array(Box::new(element), length),
            false,
        ))
    }

    fn main(
        &mut self,
        ([x, y, _], [across, down, _]): ([u32; 3], [u32; 3]),
        globals: &[Variable],
        shared: Option<&Variable>,
        resources: &Resources,
    ) {
        self.place = Place::default();
        self.open("void main()");
        let (width, height) = (x * across, y * down);
        self.line(&format!(
            "own = (gl_GlobalInvocationID.z * {height}u + gl_GlobalInvocationID.y) * {width}u + gl_GlobalInvocationID.x;"
        ));
        self.line("int local = int(gl_LocalInvocationIndex);");
        // What has no value yet isn't read.
        let mut scope = resources.read.clone();
        let builtins = [
            ("own", Type::Vector(Kind::Uint, 1)),
            ("local", Type::Vector(Kind::Int, 1)),
            ("gl_GlobalInvocationID", Type::Vector(Kind::Uint, 3)),
            ("gl_WorkGroupID", Type::Vector(Kind::Uint, 3)),
            ("gl_LocalInvocationID", Type::Vector(Kind::Uint, 3)),
        ];
        scope.extend(builtins.map(|(name, ty)| Variable::new(name, ty, false)));
        for global in globals {
            let value = self.expression(&global.ty, &scope, 2);
            self.line(&format!("{} = {value};", global.text));
            scope.push(global.clone());
        }
        let known = self.globals.iter();
        let tables = known.filter(|global| global.text.starts_with("table"));
        scope.extend(tables.cloned());
        scope.extend(resources.own.iter().cloned());
        self.place.calls = 10;
        for _ in 0..self.between(3, 9) {
            self.statement(&mut scope, 3);
            if let Some(array) = shared
                && self.chance(40)
            {
                self.exchange(array, &mut scope);
            }
        }
        self.line("uint hash = 2166136261u;");
        for variable in scope
            .iter()
            .filter(|variable| variable.writable && !variable.in_block)
        {
            self.hash(&variable.text, &variable.ty);
        }
        self.line("hashes[own] = hash;");
        self.close("}");
    }

    /// Each invocation writes its element of shared memory and reads another's.
    fn exchange(&mut self, array: &Variable, scope: &mut Vec<Variable>) {
        let Type::Array(element, length) = &array.ty else {
            return;
        };
        let (name, read) = (&array.text, self.fresh("v"));
        let value = self.expression(element, scope, 2);
        self.line(&format!("{name}[local] = {value};"));
        self.line("barrier();");
        let at = match self.chance(50) {
            true => format!("(local + {}) % {length}", self.between(0, *length)),
            false => {
                let value = self.expression(&Kind::Uint.one(), scope, 2);
                format!("{value} % {length}u")
            }
        };
        self.line(&format!("{} {read} = {name}[{at}];", element.name()));
        self.line("barrier();");
        scope.push(Variable::new(&read, (**element).clone(), true));
    }

    /// Mixes all scalars of a value into the hash.
    fn hash(&mut self, text: &str, ty: &Type) {
        match ty {
            Type::Array(element, length) => {
                let at = self.fresh("i");
                self.open(&format!("for (int {at} = 0; {at} < {length}; {at}++)"));
                self.hash(&format!("{text}[{at}]"), element);
                self.close("}");
            }
            Type::Struct(_, members) => {
                for member in members {
                    self.hash(&format!("{text}.{}", member.name), &member.ty);
                }
            }
            Type::Matrix(columns, rows) => {
                for column in 0..*columns {
                    let vector = Type::Vector(Kind::Float, *rows);
                    self.hash(&format!("{text}[{column}]"), &vector);
                }
            }
            Type::Vector(kind, count) => {
                for component in ["x", "y", "z", "w"].iter().take(*count as usize) {
                    let scalar = match count {
                        1 => text.to_owned(),
                        _ => format!("{text}.{component}"),
                    };
                    let word = match kind {
                        // All its bits but the sign of a zero.
                        Kind::Float => format!("uint(int({scalar} * 8.0))"),
                        Kind::Half => format!("uint(int(float({scalar}) * 8.0))"),
                        Kind::Int64 | Kind::Uint64 => {
                            format!("(uint({scalar}) ^ uint({scalar} >> 32))")
                        }
                        _ => format!("uint({scalar})"),
                    };
                    self.line(&format!("hash = (hash ^ {word}) * 16777619u + 3u;"));
                }
            }
        }
    }

    /// The functions that bring fractions back to few bits.
    fn rounding(&self) -> Vec<String> {
        let mut types = vec![];
        for ty in &self.rounded {
            if let Type::Matrix(_, rows) = ty {
                types.push(Type::Vector(Kind::Float, *rows));
            }
        }
        types.extend(self.rounded.iter().cloned());
        // Those of matrices call those of vectors.
        types.sort_by_key(Type::is_aggregate);
        let mut lines: Vec<String> = vec![];
        for ty in types {
            let line = types::rounding(&ty);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

/// A structure as it is declared.
fn declared(structure: &Type) -> String {
    let Type::Struct(name, members) = structure else {
        return String::new();
    };
    let members = members
        .iter()
        .map(|member| format!("    {} {};\n", member.ty.name(), member.name));
    format!("struct {name} {{\n{}}};", members.collect::<String>())
}
