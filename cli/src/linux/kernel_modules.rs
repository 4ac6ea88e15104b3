//! Kernel modules: those that are wanted and those they need, uncompressed, with the list that `modprobe` reads.
//!
//! What a module needs stands in its own `.modinfo` section; Debian's packages have no `modules.dep`, which is made on the machine
//! where they are installed.

use super::initramfs::Archive;
use super::libraries::read;
use crate::outcome::Failure;
use miette::Diagnostic;
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, elf};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a kernel's modules can't be used.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ModuleError {
    #[error("{path}: no kernel module")]
    NotAModule { path: String },
    #[error("{path}: can't be unpacked: {what}")]
    Compressed { path: String, what: String },
}

/// The modules of one kernel.
pub(super) struct Modules {
    /// Its release, as `uname -r` says it.
    release: String,
    /// Where each module is, by its name with `_` for `-`.
    paths: BTreeMap<String, PathBuf>,
}

/// A module with what it needs at once.
struct Module {
    content: Vec<u8>,
    needs: Vec<String>,
}

impl Modules {
    /// The modules in a kernel package's folder. `None` if it has none.
    pub(super) fn find(kernel: &Path) -> Option<Modules> {
        let folder = ["usr/lib/modules", "lib/modules"]
            .iter()
            .map(|folder| kernel.join(folder))
            .find(|folder| folder.is_dir())?;
        let release = std::fs::read_dir(folder).ok()?.flatten().next()?;
        let mut paths = BTreeMap::new();
        collect(&release.path(), &mut paths);
        Some(Modules {
            release: release.file_name().to_string_lossy().into_owned(),
            paths,
        })
    }

    /// Whether there is a module of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.paths.contains_key(name)
    }

    /// Puts those of `wanted` that are no part of the kernel itself into the archive, with what they need.
    pub(super) fn put(&self, wanted: &[&str], archive: &mut Archive) -> Result<(), Failure> {
        let mut there = BTreeMap::new();
        for name in wanted {
            self.add(name, &mut there)?;
        }
        let folder = format!("lib/modules/{}", self.release);
        for (name, module) in &there {
            archive.file(&format!("{folder}/{name}.ko"), &module.content);
        }
        let needs = there
            .iter()
            .map(|(name, module)| (name.as_str(), module.needs.as_slice()))
            .collect();
        archive.file(
            &format!("{folder}/modules.dep"),
            dependencies(&needs).as_bytes(),
        );
        Ok(())
    }

    fn add(&self, name: &str, there: &mut BTreeMap<String, Module>) -> Result<(), Failure> {
        let Some(path) = self.paths.get(name).filter(|_| !there.contains_key(name)) else {
            return Ok(());
        };
        let content = uncompressed(path, read(path)?)?;
        let Some(needs) = needs(&content) else {
            let path = path.display().to_string();
            return Err(Failure::refused(ModuleError::NotAModule { path }));
        };
        let named = needs.clone();
        there.insert(name.to_owned(), Module { content, needs });
        named.iter().try_for_each(|name| self.add(name, there))
    }
}

/// What `modprobe` reads: each module with all that it needs, first what is loaded last.
fn dependencies(needs: &BTreeMap<&str, &[String]>) -> String {
    let mut text = String::new();
    for name in needs.keys() {
        let mut order = Vec::new();
        visit(name, needs, &mut BTreeSet::new(), &mut order);
        // The last one is the module itself.
        order.pop();
        text.push_str(&format!("{name}.ko:"));
        for needed in order.iter().rev() {
            text.push_str(&format!(" {needed}.ko"));
        }
        text.push('\n');
    }
    text
}

/// Appends a module after all that it needs. `met` holds every module that was come by: two that need each other end.
fn visit<'a>(
    name: &'a str,
    needs: &BTreeMap<&'a str, &'a [String]>,
    met: &mut BTreeSet<&'a str>,
    order: &mut Vec<&'a str>,
) {
    if !needs.contains_key(name) || !met.insert(name) {
        return;
    }
    for needed in needs.get(name).copied().unwrap_or_default() {
        visit(needed, needs, met, order);
    }
    order.push(name);
}

/// Lists the modules of a folder and of those in it.
fn collect(folder: &Path, paths: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let file = entry.file_name();
        let file = file.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, paths);
        } else if let Some((name, "" | ".xz")) = file.split_once(".ko") {
            paths.insert(name.replace('-', "_"), path);
        }
    }
}

/// A module's bytes as the kernel takes them.
fn uncompressed(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if path.extension().is_none_or(|extension| extension != "xz") {
        return Ok(bytes);
    }
    let mut content = Vec::new();
    match lzma_rs::xz_decompress(&mut bytes.as_slice(), &mut content) {
        Ok(()) => Ok(content),
        Err(error) => Err(Failure::refused(ModuleError::Compressed {
            path: path.display().to_string(),
            what: format!("{error:?}"),
        })),
    }
}

/// The modules that a module says it needs. `None` for what is no module.
fn needs(module: &[u8]) -> Option<Vec<String>> {
    let header = elf::FileHeader64::<Endianness>::parse(module).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, module).ok()?;
    let (_, section) = sections.section_by_name(endian, b".modinfo")?;
    Some(named(section.data(endian, module).ok()?))
}

/// The names after `depends=` among words that end with a 0.
fn named(modinfo: &[u8]) -> Vec<String> {
    let depends = modinfo
        .split(|byte| *byte == 0)
        .find_map(|word| word.strip_prefix(b"depends="))
        .unwrap_or_default();
    String::from_utf8_lossy(depends)
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| name.replace('-', "_"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_stand_in_a_list_of_words() {
        let modinfo = b"license=GPL\0depends=drm,gpu-sched\0name=panthor\0";
        assert_eq!(named(modinfo), ["drm", "gpu_sched"]);
        assert_eq!(named(b"depends=\0"), Vec::<String>::new());
        assert_eq!(named(b"name=x\0"), Vec::<String>::new());
    }

    #[test]
    fn modprobe_is_told_all_that_a_module_needs_and_the_first_to_load_last() {
        let of = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let (panthor, exec, sched) = (of(&["drm_exec", "gpu_sched"]), of(&["drm"]), of(&["drm"]));
        let needs = BTreeMap::from([
            ("panthor", panthor.as_slice()),
            ("drm_exec", exec.as_slice()),
            ("gpu_sched", sched.as_slice()),
            ("drm", &[]),
        ]);
        assert_eq!(
            dependencies(&needs),
            "drm.ko:\ndrm_exec.ko: drm.ko\ngpu_sched.ko: drm.ko\npanthor.ko: gpu_sched.ko drm_exec.ko drm.ko\n"
        );
    }
}
