//! The kernels of `shared/kernels`, for the interpreter.

use eitri_compute_cases::{Case, Place, find};
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};

/// All kernels, by name; none if the folder isn't there.
pub fn kernels() -> Vec<Case> {
    let Some(folder) = eitri_testdata::shared("kernels") else {
        return vec![];
    };
    let files = find(&folder).unwrap();
    let read =
        |file: std::path::PathBuf| Case::read(&file).unwrap_or_else(|error| panic!("{error}"));
    files.into_iter().map(read).collect()
}

/// The dispatch of a kernel.
pub fn dispatch(case: &Case) -> Dispatch {
    Dispatch {
        groups: case.groups,
        push_constants: case.push_constants.clone(),
        step_limit: 1 << 32,
    }
}

/// Contents before the dispatch.
pub fn buffers(case: &Case) -> Buffers {
    let resources = case.resources.iter();
    resources
        .map(|resource| {
            let Place {
                set,
                binding,
                element,
            } = resource.place;
            let bytes = resource.before.clone();
            ((set, binding, element), Buffer { bytes })
        })
        .collect()
}

/// Compares all bindings; the first difference is the error.
pub fn compare(case: &Case, buffers: &Buffers) -> Result<(), String> {
    let after = |place: Place| {
        let buffer = buffers.get(&(place.set, place.binding, place.element));
        buffer.map(|buffer| buffer.bytes.as_slice())
    };
    case.check(after)
        .map_err(|difference| difference.to_string())
}
