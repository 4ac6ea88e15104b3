//! Code: which functions of the driver are at work, for a diagnosis that names who wrote.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::rc::Rc;

/// Functions that are named at most.
const MOST: usize = 5;

/// What calls the platform; nothing where it is not asked for, since finding out takes longer than what is done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code(Option<Rc<Backtrace>>);

impl Code {
    /// Whoever calls.
    pub(crate) fn here(is_named: bool) -> Code {
        Code(is_named.then(|| Rc::new(Backtrace::force_capture())))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trace = match &self.0 {
            Some(trace) if trace.status() == BacktraceStatus::Captured => trace.to_string(),
            _ => return f.write_str("the driver"),
        };
        let functions: Vec<&str> = functions(&trace).take(MOST).collect();
        f.write_str(&functions.join(" < "))
    }
}

/// The driver's functions in a backtrace as text, innermost first: those that are behind its platforms.
fn functions(trace: &str) -> impl Iterator<Item = &str> {
    let lines = trace.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.parse::<u32>().ok().map(|_| name.trim())
    });
    lines.filter(|name| {
        let own = name.trim_start_matches(['<', '&']);
        own.starts_with("eitri_runtime::") && !name.contains("::platform::Platform")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_functions_are_found_in_a_backtrace() {
        let trace = "   0: std::backtrace::Backtrace::create\n   1: eitri_on_model::code::Code::here\n   \
                     2: <eitri_on_model::non_coherent::NonCoherent as eitri_runtime::platform::Platform>::store32\n             \
                     at ./gpu/simulator/on-model/src/non_coherent.rs:9:8\n   3: eitri_runtime::platform::Platform::write_bytes\n   \
                     4: eitri_runtime::device::buffers::<impl eitri_runtime::device::Device<P>>::write_buffer\n   \
                     5: eitri_driver_tests::seeded::run\n";
        let all: Vec<&str> = functions(trace).collect();
        let wanted =
            "eitri_runtime::device::buffers::<impl eitri_runtime::device::Device<P>>::write_buffer";
        assert_eq!(all, [wanted]);
    }

    #[test]
    fn nobody_is_named_where_it_was_not_asked_for() {
        assert_eq!(Code::here(false).to_string(), "the driver");
    }
}
