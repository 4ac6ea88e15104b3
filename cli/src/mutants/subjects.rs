//! What may have mutants, and the tests that are asked of each.

/// Tests of one package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tests {
    pub(crate) package: &'static str,
    /// The test program as cargo's options name it.
    pub(crate) target: &'static [&'static str],
    /// Modules of it, where the others test something else; empty for all.
    pub(crate) modules: &'static [&'static str],
}

/// A crate that may have mutants.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The name on the command line.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// The folder of the crate, from the root of the workspace.
    pub(crate) folder: &'static str,
    /// Which of its sources count, by what their paths from `src` begin with; empty for all.
    pub(crate) parts: &'static [&'static str],
    pub(crate) tests: &'static [Tests],
}

const fn all(package: &'static str, target: &'static [&'static str]) -> Tests {
    Tests {
        package,
        target,
        modules: &[],
    }
}

const RUNTIME: Tests = all("eitri-runtime", &["--lib"]);
const DRIVER: Tests = all("eitri-runtime", &["--test=on_model"]);
const SHADERC: Tests = all("eitri-shaderc", &["--lib"]);
const PASSES: Tests = all("eitri-shaderc", &["--test=all"]);
const MODEL: Tests = all("eitri-model", &["--tests"]);
/// Programs by each engine of the model.
const ENGINES: Tests = all("eitri-host-code", &["--test=engines"]);
/// Tests of the command that run what the compiler made, on the model or with the checks of the interpreter, and that draw.
const ON_MODEL: Tests = Tests {
    package: "eitri",
    target: &["--test=all"],
    modules: &[
        "code_checks",
        "divergence_on_model",
        "draw",
        "draw_attachments",
        "draw_checks",
        "draw_features",
        "draw_models",
        "draw_multisampled",
        "draw_parts",
        "images_on_model",
        "kernels_on_model",
        "operations_on_model",
        "random_graphics_on_model",
        "random_on_model",
        "random_scenes",
        "readers_on_model",
        "shaders_on_model",
        "spin_locks_on_model",
        "subgroups_on_model",
        "waits_on_model",
    ],
};

const fn subject(
    name: &'static str,
    package: &'static str,
    folder: &'static str,
    tests: &'static [Tests],
) -> Subject {
    Subject {
        name,
        package,
        folder,
        parts: &[],
        tests,
    }
}

/// Every crate that may have mutants, in the order in which they are tried. Those that stand for a part of another come after it.
#[rustfmt::skip]
static ALL: &[Subject] = &[
    subject("runtime",    "eitri-runtime",    "gpu/driver/runtime",  &[RUNTIME, DRIVER]),
    subject("model",      "eitri-model",      "gpu/simulator/model", &[MODEL, ENGINES, DRIVER, ON_MODEL]),
    subject("shaderc",    "eitri-shaderc",    "shaderc",             &[SHADERC, PASSES, ON_MODEL]),
    subject("cs",         "eitri-cs",         "gpu/tables/cs",       &[all("eitri-cs", &["--tests"]), MODEL, DRIVER]),
    subject("csf",        "eitri-csf",        "gpu/tables/csf",      &[all("eitri-csf", &["--tests"]), MODEL, DRIVER]),
    subject("ir3-interp", "eitri-ir3-interp", "gpu/adreno/interp",   &[all("eitri-ir3-interp", &["--tests"]), PASSES]),
    Subject { parts: &["firmware/"], ..subject("firmware", "eitri-model", "gpu/simulator/model", &[MODEL, DRIVER]) },
    Subject { parts: &["stream/"],   ..subject("stream",   "eitri-model", "gpu/simulator/model", &[MODEL, DRIVER]) },
    Subject { parts: MODEL_DRAWS,    ..subject("draws",    "eitri-model", "gpu/simulator/model", &[MODEL, ENGINES, DRIVER, ON_MODEL]) },
];

/// Sources of the model that only draws use: what a path of one begins with.
const MODEL_DRAWS: &[&str] = &[
    "blocks/",
    "fragment/",
    "raster/",
    "shader/cube.rs",
    "shader/footprint.rs",
    "shader/history.rs",
    "shader/messages/atest.rs",
    "shader/messages/attribute.rs",
    "shader/messages/blend.rs",
    "shader/messages/direct_texels.rs",
    "shader/messages/filters.rs",
    "shader/messages/noted_texels.rs",
    "shader/messages/samples.rs",
    "shader/messages/shared_varying.rs",
    "shader/messages/texels.rs",
    "shader/messages/tile.rs",
    "shader/messages/varying.rs",
    "shader/messages/vertices.rs",
    "shader/plane.rs",
    "shader/sampling.rs",
    "shader/texture.rs",
    "shader/texture_request.rs",
    "shader/yuv.rs",
    "stream/draw.rs",
    "stream/heap.rs",
    "tile/",
    "tiler/",
    "work/draw.rs",
    "work/forward_kill.rs",
    "work/fragment",
    "work/quads",
    "work/tiling",
];

impl Subject {
    /// Whether the subject is a part of another one's sources.
    pub(crate) fn is_part(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether a file is one of the subject's sources. `file` is its path from the root of the workspace.
    pub(crate) fn has(&self, file: &str) -> bool {
        let inside = file
            .strip_prefix(self.folder)
            .and_then(|rest| rest.strip_prefix("/src/"));
        inside.is_some_and(|inside| {
            !self.is_part() || self.parts.iter().any(|part| inside.starts_with(part))
        })
    }
}

/// Every crate that may have mutants, each source once.
pub(crate) fn subjects() -> Vec<&'static Subject> {
    ALL.iter().filter(|subject| !subject.is_part()).collect()
}

/// The subject of a name, or the names that there are.
pub(crate) fn of_name(name: &str) -> Result<&'static Subject, Vec<&'static str>> {
    let names = || ALL.iter().map(|subject| subject.name).collect();
    let package = |subject: &&Subject| !subject.is_part() && subject.package == name;
    ALL.iter()
        .find(|subject| subject.name == name)
        .or_else(|| ALL.iter().find(package))
        .ok_or_else(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subject_has_sources() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for subject in ALL {
            let sources = root.join(subject.folder).join("src");
            for part in subject.parts.iter().chain(&[""]) {
                assert!(sources.join(part).exists(), "{}: no {part}", subject.name);
            }
        }
    }

    #[test]
    fn crates_are_known_by_both_names() {
        assert_eq!(of_name("runtime").unwrap().package, "eitri-runtime");
        assert_eq!(of_name("eitri-runtime").unwrap().name, "runtime");
        assert!(of_name("nothing").unwrap_err().contains(&"firmware"));
    }
}
