//! A dispatch, checked.
use eitri_shaderc::interp::{Dispatch, Key, Resources, Trap, address, interpret_observed};
use eitri_shaderc::ir::{BindingKind, Function};
use eitri_shaderc::spirv::{self, error::Error as SpirvError};
use eitri_shaderc::{Options, Robust};
use std::fmt;
use std::ops::Range;

use crate::finding::Finding;
use crate::watch::Watch;

/// What nobody has written before the dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Which element of which binding.
    pub key: Key,
    /// Bytes of a buffer; of an image texels, by number times four.
    pub bytes: Range<u64>,
}

/// A dispatch to check.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The module.
    pub spirv: &'r [u8],
    /// As it is compiled.
    pub options: &'r Options,
    /// What it is given besides resources.
    pub dispatch: &'r Dispatch,
    /// What the host has not written.
    pub unwritten: &'r [Unwritten],
    /// Addresses of buffers in the push constants.
    pub addresses: &'r [PushAddress],
}

/// Eight bytes of the push constants that are an address in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PushAddress {
    /// Where they lie among the push constants.
    pub at: usize,
    /// The buffer.
    pub key: Key,
    /// Bytes beyond its start.
    pub plus: u64,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// What was found, in the order in which it was.
    pub findings: Vec<Finding>,
    /// Why the dispatch was not run to its end, if it was not.
    pub stopped: Option<Trap>,
    /// Instructions of all invocations.
    pub steps: u64,
}

/// Why a dispatch can't be checked.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// The module is wrong or has what isn't supported.
    Spirv(Vec<SpirvError>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Spirv(errors) => {
                for (number, error) in errors.iter().enumerate() {
                    if number != 0 {
                        writeln!(f)?;
                    }
                    error.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Error {}

/// The address that the interpreter gives a buffer.
fn address_of(function: &Function, (set, binding, element): Key) -> u64 {
    let elements = function
        .bindings
        .iter()
        .flat_map(|own| (0..own.count).map(move |number| (own.set, own.binding, number)));
    let mut numbers = elements.enumerate();
    let found = numbers.find(|(_, key)| *key == (set, binding, element));
    found.map_or(0, |(number, _)| address(number as u64))
}

/// Puts addresses of buffers into the push constants, as the interpreter gives them.
pub fn push_addresses(function: &Function, addresses: &[PushAddress], dispatch: &mut Dispatch) {
    for push in addresses {
        let bytes = (address_of(function, push.key) + push.plus).to_le_bytes();
        let constants = &mut dispatch.push_constants;
        constants.resize(constants.len().max(push.at + bytes.len()), 0);
        constants[push.at..push.at + bytes.len()].copy_from_slice(&bytes);
    }
}

/// Runs a dispatch of a compute shader in the interpreter of the IR, as it was translated, and tells what was found. The resources are
/// changed as the dispatch does.
///
/// # Errors
/// If the module can't be translated.
pub fn check(request: &Request<'_>, resources: &mut Resources) -> Result<Checked, Error> {
    let options = Options {
        notes: true,
        robust: Robust::Off,
        printf: None,
        ..request.options.clone()
    };
    let translated = spirv::translate(request.spirv, &options).map_err(Error::Spirv)?;
    let mut dispatch = request.dispatch.clone();
    push_addresses(&translated.function, request.addresses, &mut dispatch);
    // What only dead code uses need not be bound: an empty buffer stands for it.
    for binding in &translated.function.bindings {
        for element in 0..binding.count {
            let key = (binding.set, binding.binding, element);
            if matches!(binding.kind, BindingKind::Storage | BindingKind::Uniform) {
                resources.buffers.entry(key).or_default();
            }
        }
    }
    let mut watch = Watch::new(&translated.function, resources, request.unwritten);
    let done = interpret_observed(&translated.function, &dispatch, resources, &mut watch);
    watch.finish();
    let mut findings = watch.findings;
    let found = watch.order.iter().filter_map(|key| findings.remove(key));
    let (steps, stopped) = match done {
        Ok(steps) => (steps, None),
        Err(trap) => (0, Some(trap)),
    };
    Ok(Checked {
        findings: found.collect(),
        stopped,
        steps,
    })
}
