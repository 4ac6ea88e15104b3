//! Pictures of the same programs by the driver of the GPU and by that of the CPU, drawn and compared in one guest.
//!
//! The exit status of a program is no test: OpenGL says nothing of a lost device.

use super::{boot, described};
use crate::checks::Case;
use crate::outcome::Failure;
use std::path::Path;

/// Programs that draw, and the comparison.
const FOLDER: &str = "qemu-tests/guest-pictures";
/// Programs of the facts' worked examples, which other people may have and this repository does not.
const WORKED: &str = "../shared/hardware/worked/source";

/// Pictures by one interface.
struct Pictures {
    what: &'static str,
    /// Debian packages of both drivers and of the program.
    packages: &'static [&'static str],
    script: &'static str,
    /// The name of each driver's device in the output: if one is missing, nothing was compared.
    drivers: [&'static str; 2],
    /// Number of pictures that agree.
    count: usize,
}

const GL: Pictures = Pictures {
    what: "OpenGL ES draws what it draws on the CPU",
    packages: &[
        "python3",
        "libegl1",
        "libgles2",
        "libegl-mesa0",
        "libgl1-mesa-dri",
    ],
    script: "python3 gl.py draw /tmp/gpu
LIBGL_ALWAYS_SOFTWARE=1 python3 gl.py draw /tmp/cpu
python3 gl.py compare /tmp/gpu /tmp/cpu",
    drivers: ["Panfrost", "llvmpipe"],
    count: 6,
};

/// Images compressed as the driver likes, and again without.
const VULKAN: Pictures = Pictures {
    what: "the worked examples draw what they draw on the CPU",
    packages: &[
        "python3",
        "gcc",
        "libc6-dev",
        "libvulkan-dev",
        "glslang-tools",
        "mesa-vulkan-drivers",
    ],
    script: "python3 vulkan.py build worked /tmp/built
export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/panfrost_icd.json
python3 vulkan.py draw /tmp/built /tmp/gpu
PANVK_DEBUG=noafbc python3 vulkan.py draw /tmp/built /tmp/plain
export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
python3 vulkan.py draw /tmp/built /tmp/cpu
python3 vulkan.py compare /tmp/gpu /tmp/cpu && python3 vulkan.py compare /tmp/plain /tmp/cpu",
    drivers: ["Mali-G610", "llvmpipe"],
    count: 40,
};

/// Pictures of OpenGL ES and of Vulkan.
pub(super) fn run(root: &Path, suite: &str) -> Result<Vec<Case>, Failure> {
    let unwritable = |cause| Failure::unwritable(std::env::temp_dir(), cause);
    let gl = drawn(root, suite, &GL, &root.join(FOLDER))?;
    let worked = root.join(WORKED);
    if !worked.is_dir() {
        let name = format!("{suite}: {}", VULKAN.what);
        return Ok(vec![gl, Case::skipped(name, format!("no {WORKED}"))]);
    }
    let share = tempfile::tempdir().map_err(unwritable)?;
    copy(&root.join(FOLDER), share.path())?;
    copy(&worked, &share.path().join("worked"))?;
    copy(
        &worked.join("shaders"),
        &share.path().join("worked/shaders"),
    )?;
    Ok(vec![gl, drawn(root, suite, &VULKAN, share.path())?])
}

fn drawn(root: &Path, suite: &str, pictures: &Pictures, share: &Path) -> Result<Case, Failure> {
    let share = share.display().to_string();
    let mut words = vec!["--gpu-time", "--memory", "4096", "--share", &share];
    words.extend(
        pictures
            .packages
            .iter()
            .flat_map(|name| ["--package", name]),
    );
    words.extend(["--", "sh", "-c", pictures.script]);
    let output = boot(root, suite, &words)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let same = said.lines().filter(|line| line.starts_with("ok ")).count();
    let both = pictures.drivers.iter().all(|name| said.contains(name));
    let good = output.status.success() && both && same == pictures.count;
    let name = format!("{suite}: {}", pictures.what);
    Ok(Case::ran(name, (!good).then(|| described(&output))))
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to).map_err(|cause| Failure::unwritable(to, cause))?;
    let unreadable = |cause| Failure::unreadable(from, cause);
    for entry in std::fs::read_dir(from).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if let (true, Some(name)) = (file.is_file(), file.file_name()) {
            std::fs::copy(&file, to.join(name)).map_err(|cause| Failure::unwritable(to, cause))?;
        }
    }
    Ok(())
}
