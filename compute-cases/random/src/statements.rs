//! Statements.

use crate::generator::Generator;
use crate::types::{Kind, Type};
use crate::variables::Variable;

impl Generator {
    /// Writes so many statements with variables of their own.
    pub(crate) fn block(&mut self, scope: &[Variable], most: u32, depth: u32) {
        let mut scope = scope.to_vec();
        for _ in 0..self.between(1, most) {
            self.statement(&mut scope, depth);
        }
    }

    /// Writes a statement; what it declares can be seen behind it. At depth 0 it has none within.
    pub(crate) fn statement(&mut self, scope: &mut Vec<Variable>, depth: u32) {
        let most = if depth == 0 { 54 } else { 99 };
        match self.between(0, most) {
            0..18 => self.declaration(scope),
            18..21 => self.copy_of_block(scope),
            21..43 => self.assignment(scope),
            43..47 => self.call_statement(scope),
            47..51 => self.store_texel(scope),
            51..55 => self.atomic(scope),
            55..66 => self.walk(scope),
            66..80 => self.branch(scope, depth - 1),
            80..92 => self.loop_around(scope, depth - 1),
            _ => self.switch(scope, depth - 1),
        }
    }

    /// How deep an expression of a type goes: aggregates have many parts.
    fn depth_of(ty: &Type) -> u32 {
        if ty.is_aggregate() { 2 } else { 3 }
    }

    /// Declares a variable of some type that holds a value.
    fn declaration(&mut self, scope: &mut Vec<Variable>) {
        let ty = self.any_type();
        let name = self.fresh("v");
        let value = self.expression(&ty, scope, Self::depth_of(&ty));
        let constant = self.chance(5);
        let qualifier = if constant { "const " } else { "" };
        let declared = match &ty {
            // Dimensions may stand behind the name, too.
            Type::Array(element, length) if !matches!(**element, Type::Array(..)) => {
                format!("{} {name}[{length}]", element.name())
            }
            _ => format!("{} {name}", ty.name()),
        };
        self.line(&format!("{qualifier}{declared} = {value};"));
        scope.push(Variable::new(&name, ty, !constant));
    }

    /// A variable that is a whole member of a block. There a `bool` is a word, which glslang 12 forgets of arrays.
    fn copy_of_block(&mut self, scope: &mut Vec<Variable>) {
        let small = |ty: &Type| match ty {
            Type::Array(_, length) => *length < 8,
            _ => true,
        };
        let copied =
            |member: &&Variable| member.in_block && small(&member.ty) && !member.ty.has_bool();
        let members = scope.iter().filter(copied);
        let members: Vec<Variable> = members.cloned().collect();
        if members.is_empty() {
            return self.declaration(scope);
        }
        let member = self.of(&members);
        let name = self.fresh("v");
        self.line(&format!("{} {name} = {};", member.ty.name(), member.text));
        scope.push(Variable::new(&name, member.ty, true));
    }

    fn assignment(&mut self, scope: &mut Vec<Variable>) {
        let Some(place) = self.any_place(scope) else {
            return self.declaration(scope);
        };
        let (text, ty) = (&place.text, &place.ty);
        // What no expression can be: see `Variable::in_block`.
        let from_block = scope.iter().any(|v| v.in_block && v.text == place.root);
        if from_block && matches!(ty, Type::Array(..) | Type::Struct(..)) {
            return;
        }
        let one = matches!(ty, Type::Vector(kind, _) if kind.bits() >= 32 && !kind.is_fraction());
        if one && self.chance(30) {
            let operator = self.of(&["+", "-", "*", "&", "|", "^"]);
            let value = self.expression(ty, scope, 3);
            return self.line(&format!("{text} {operator}= {value};"));
        }
        if one && self.chance(15) {
            let step = self.of(&["++", "--"]);
            return self.line(&format!("{text}{step};"));
        }
        let value = self.expression(ty, scope, Self::depth_of(ty));
        self.line(&format!("{text} = {value};"));
    }

    fn call_statement(&mut self, scope: &mut Vec<Variable>) {
        match self.any_call(scope) {
            Some((call, Some(ty))) if self.chance(50) => {
                let name = self.fresh("v");
                self.line(&format!("{} {name} = {call};", ty.name()));
                scope.push(Variable::new(&name, ty, true));
            }
            Some((call, _)) => self.line(&format!("{call};")),
            None => self.assignment(scope),
        }
    }

    fn atomic(&mut self, scope: &mut Vec<Variable>) {
        let atomics = self.atomics.clone();
        if atomics.is_empty() {
            return self.assignment(scope);
        }
        let atomic = self.of(&atomics);
        if self.subgroups
            && (atomic.function, atomic.kind) == ("atomicAdd", Kind::Uint)
            && self.chance(30)
        {
            let condition = self.condition(scope);
            return self.count_of_subgroup(&atomic.place, &condition);
        }
        let value = self.expression(&atomic.kind.one(), scope, 2);
        if self.subgroups && self.chance(60) {
            return self.atomic_of_subgroup(&atomic, &value);
        }
        self.line(&format!("{}({}, {value});", atomic.function, atomic.place));
    }

    /// Leaves a loop or the function, if there is one.
    pub(crate) fn jump(&mut self, in_loop: bool) {
        if !self.chance(20) {
            return;
        }
        let returns = self.place.returns.clone();
        match (self.between(0, 2), returns) {
            (0, _) if in_loop => self.line("continue;"),
            (1, _) if in_loop => self.line("break;"),
            (2, Some(returns)) => match returns.ty {
                Some(ty) => {
                    let value = self.expression(&ty, &returns.scope, 1);
                    self.line(&format!("return {value};"));
                }
                None => self.line("return;"),
            },
            _ => {}
        }
    }

    /// A condition.
    pub(crate) fn condition(&mut self, scope: &[Variable]) -> String {
        self.expression(&Kind::Bool.one(), scope, 2)
    }
}
