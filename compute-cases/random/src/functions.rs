//! Functions and their calls. A function calls those before it, so none calls itself.

use crate::generator::{Generator, Place, Returns};
use crate::types::Type;
use crate::variables::Variable;

#[derive(Clone, Debug)]
pub(crate) struct Function {
    name: String,
    returns: Option<Type>,
    parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
struct Parameter {
    qualifier: &'static str,
    name: String,
    ty: Type,
}

impl Parameter {
    fn is_written(&self) -> bool {
        matches!(self.qualifier, "out" | "inout")
    }
}

impl Generator {
    /// Writes a function.
    pub(crate) fn function(&mut self) {
        let returns = self.chance(85).then(|| self.any_type());
        let count = self.between(0, 4);
        let parameters = (0..count).map(|_| Parameter {
            qualifier: self.of(&["in", "in", "", "const in", "out", "inout", "inout"]),
            name: self.fresh("p"),
            ty: self.any_type(),
        });
        let function = Function {
            parameters: parameters.collect(),
            name: self.fresh("f"),
            returns,
        };
        let listed = function.parameters.iter().map(|parameter| {
            let Parameter {
                qualifier,
                name,
                ty,
            } = parameter;
            format!("{qualifier} {} {name}", ty.name())
                .trim()
                .to_owned()
        });
        let listed = listed.collect::<Vec<_>>().join(", ");
        let returned = function.returns.as_ref().map_or("void".into(), Type::name);
        self.open(&format!("{returned} {}({listed})", function.name));
        let mut scope = self.globals.clone();
        for parameter in &function.parameters {
            if parameter.qualifier == "out" {
                let value = self.expression(&parameter.ty, &scope, 1);
                self.line(&format!("{} = {value};", parameter.name));
            }
            let writable = parameter.qualifier != "const in";
            scope.push(Variable::new(
                &parameter.name,
                parameter.ty.clone(),
                writable,
            ));
        }
        // A caller may be in a loop.
        self.place = Place {
            loops: 1,
            jumps: false,
            calls: 3,
            returns: Some(Returns {
                ty: function.returns.clone(),
                scope: scope.clone(),
            }),
        };
        for _ in 0..self.between(1, 5) {
            self.statement(&mut scope, 2);
        }
        if let Some(ty) = &function.returns {
            let value = self.expression(ty, &scope, 2);
            self.line(&format!("return {value};"));
        }
        self.close("}");
        self.functions.push(function);
    }

    /// A call of a function that returns a type, if there is one.
    pub(crate) fn call_of(&mut self, ty: &Type, scope: &[Variable], depth: u32) -> Option<String> {
        let functions = self.functions.iter();
        let fitting = functions.filter(|function| function.returns.as_ref() == Some(ty));
        let fitting: Vec<Function> = fitting.cloned().collect();
        self.call_one(&fitting, scope, depth)
    }

    /// A call, and what it returns. Rather of a function that writes to its parameters.
    pub(crate) fn any_call(&mut self, scope: &[Variable]) -> Option<(String, Option<Type>)> {
        let writes = |function: &&Function| function.parameters.iter().any(Parameter::is_written);
        let mut functions: Vec<Function> = self.functions.iter().filter(writes).cloned().collect();
        if functions.is_empty() {
            functions = self.functions.clone();
        }
        self.rng.shuffle(&mut functions);
        functions.truncate(1);
        let call = self.call_one(&functions, scope, 2)?;
        Some((call, functions.first()?.returns.clone()))
    }

    /// A call of one of some functions. What it writes to are different variables, which no other argument reads: no order of
    /// arguments is promised.
    fn call_one(
        &mut self,
        functions: &[Function],
        scope: &[Variable],
        depth: u32,
    ) -> Option<String> {
        if functions.is_empty() || self.place.is_deep() || self.place.calls == 0 {
            return None;
        }
        let function = self.of(functions);
        // A function may read what is global.
        let mut written: Vec<String> = self.globals.iter().map(|v| v.text.clone()).collect();
        let mut arguments = vec![];
        for parameter in &function.parameters {
            arguments.push(match parameter.is_written() {
                true => {
                    let place = self.place_of(&parameter.ty, scope, &written)?;
                    written.push(place.root);
                    Some(place.text)
                }
                false => None,
            });
        }
        self.place.calls -= 1;
        let others = scope.iter().filter(|variable| {
            let globals = self.globals.iter();
            let mut kept = globals.filter(|global| global.text == variable.text);
            kept.next().is_some() || !written.contains(&variable.text)
        });
        let others: Vec<Variable> = others.cloned().collect();
        let arguments = arguments.into_iter().zip(&function.parameters);
        let arguments = arguments.map(|(place, parameter)| match place {
            Some(place) => place,
            None => self.expression(&parameter.ty, &others, depth.saturating_sub(1)),
        });
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        Some(format!("{}({arguments})", function.name))
    }
}
