//! Board: the data that a board module states.
//!
//! Facts: hardware/boards.md section 9.

use crate::Text;
use crate::display::Display;
use crate::expected::Expected;
use crate::host::{Ending, Host, HostFiles};
use crate::lab::Lab;
use crate::loader::Loader;
use crate::region::{Region, RegisterBase};
use crate::steps::{Action, Channel};
use crate::uart::{Kind, Width};
use crate::watchdog::Watchdog;
use core::ops::Deref;

/// Memory, by how it is mapped.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Memory {
    /// Ordinary memory, cached, for the image: it is linked for the first address. Whole blocks of 2 MiB.
    pub image: Region,
    /// Ordinary memory for the heap, cached. Whole blocks of 2 MiB.
    pub heap: Region,
    /// Memory for what the GPU and the CPU both use: not cached where the GPU is not coherent.
    pub shared: Region,
    /// Memory that the GPU's power controller is given, not cached; apart from the rest.
    #[cfg_attr(feature = "files", serde(default))]
    pub controller: Option<Region>,
    /// Registers, the GPU's window apart.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::list")
    )]
    pub devices: &'static [Region],
    /// What is never mapped: memory that firmware or another processor keeps to itself.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub never: &'static [Region],
}

/// The UART that is the console.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Console {
    /// A PL011.
    Pl011 {
        /// Its registers.
        base: RegisterBase,
        /// What the image sets it to; nothing where whoever loads the image has set it up.
        #[cfg_attr(feature = "files", serde(default))]
        set_up: Option<LineSpeed>,
    },
    /// Another one, set up by whoever loads the image: a byte at a time.
    Polled {
        /// Its registers.
        base: RegisterBase,
        /// What it is.
        kind: Kind,
    },
}

/// How fast a UART is, whose clock is known.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct LineSpeed {
    /// Its clock, in hertz.
    pub clock_hertz: u32,
    /// Its speed, in baud.
    pub baud: u32,
}

impl Console {
    /// Its registers.
    pub const fn base(&self) -> RegisterBase {
        match *self {
            Console::Pl011 { base, .. } | Console::Polled { base, .. } => base,
        }
    }

    /// The same kind of UART elsewhere, set up by whoever loads the image.
    #[cfg(feature = "drivers")]
    pub(crate) const fn at(&self, base: RegisterBase) -> Console {
        match *self {
            Console::Pl011 { .. } => Console::Pl011 { base, set_up: None },
            Console::Polled { kind, .. } => Console::Polled { base, kind },
        }
    }

    /// Address of the register that takes a character, and how wide a store to it is, for the first instructions.
    pub const fn data_register(&self) -> (usize, Width) {
        match *self {
            Console::Pl011 { base, .. } => (base.address(), Width::Word),
            Console::Polled { base, kind } => (base.address() + kind.data, kind.width),
        }
    }

    pub(crate) const fn problem(&self) -> Option<&'static str> {
        match self {
            Console::Pl011 { .. } => None,
            Console::Polled { kind, .. } => kind.problem(),
        }
    }
}

/// The interrupt controller.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::file::fields::GicFields")
)]
pub enum Gic {
    /// A GIC of version 3 or 4, whose CPU interface is system registers.
    V3 {
        /// The distributor.
        distributor: RegisterBase,
        /// The first redistributor.
        redistributors: RegisterBase,
        /// The most redistributors that there may be, one for each CPU. The last one is marked as the last.
        cpus: usize,
    },
    /// A GIC of version 2, such as a GIC-400, for up to eight CPUs.
    V2 {
        /// The distributor.
        distributor: RegisterBase,
        /// The CPU interface, which each CPU sees at the same address.
        cpu_interface: RegisterBase,
    },
}

impl Gic {
    /// The distributor.
    pub const fn distributor(&self) -> RegisterBase {
        match *self {
            Gic::V3 { distributor, .. } | Gic::V2 { distributor, .. } => distributor,
        }
    }

    /// The registers that belong to CPUs: the first redistributor of version 3, the CPU interface of version 2.
    pub const fn of_cpus(&self) -> RegisterBase {
        match *self {
            Gic::V3 { redistributors, .. } => redistributors,
            Gic::V2 { cpu_interface, .. } => cpu_interface,
        }
    }
}

/// The number of a shared peripheral interrupt; the GIC's own number is 32 higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "files", derive(serde::Serialize, serde::Deserialize))]
pub struct Spi(pub u32);

/// How GPU and CPU see each other's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Coherency {
    /// Not by themselves: shared memory is mapped non-cacheable.
    #[default]
    None,
    /// The GPU looks into the CPU's caches (ACE-Lite).
    AceLite,
}

/// Where the GPU is.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Gpu {
    /// Its register window; not at address 0.
    pub window: Region,
    /// The JOB line; level, active high, as the other two.
    pub job: Spi,
    /// The MMU line.
    pub mmu: Spi,
    /// The GPU line.
    pub gpu: Spi,
    /// Coherency.
    #[cfg_attr(feature = "files", serde(default))]
    pub coherency: Coherency,
    /// Which GPU it is; `None` where that is not the board's to say.
    #[cfg_attr(feature = "files", serde(default))]
    pub expected: Option<Expected>,
    /// What is read of its supply before that is relied on, by an image that has a driver for the supply's bus.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub supply: &'static [Action],
    /// What it needs before its first register may be touched; done by whoever drives it.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub power_on: &'static [Action],
    /// The way back, once its microcontroller is stopped and its L2 is off.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub power_off: &'static [Action],
    /// How many times slower than Linux's drivers expect the GPU is after `power_on`: limits of waits grow by it.
    #[cfg_attr(
        feature = "files",
        serde(default = "crate::file::fields::usual::slowdown")
    )]
    pub slowdown: u32,
    /// Values for the L2's slice hash, where the chip needs its own.
    #[cfg_attr(feature = "files", serde(default))]
    pub slice_hash: Option<[u32; 3]>,
    /// Where in the memory that the power controller was given it says which shader cores may be used; what the GPU's register
    /// says if there is none.
    #[cfg_attr(feature = "files", serde(default))]
    pub usable_cores: Option<usize>,
}

/// The firmware below the image, for what an image can't do itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Firmware {
    /// None that is known beforehand; a device tree may name one.
    #[default]
    AsTreeSays,
    /// PSCI, called so.
    Psci(Conduit),
}

/// By which instruction the firmware is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Conduit {
    /// `smc #0`.
    Smc,
    /// `hvc #0`: a hypervisor is in its place.
    Hvc,
}

/// Everything that the kernel must be told about a machine. As long as it is no [`Board`], it is only data.
#[derive(Clone, Copy)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Description {
    /// As people write it.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub name: Text,
    /// The machines, in words.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub title: Text,
    /// What the root of a device tree of such a machine is compatible with: one of these. Where there is none, that is not
    /// known, and a tree is not asked.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::texts"
        )
    )]
    pub compatible: &'static [&'static str],
    /// Memory map.
    pub memory: Memory,
    /// Console.
    pub console: Console,
    /// Interrupt controller.
    pub gic: Gic,
    /// The virtual timer's private interrupt (PPI number; the GIC's own number is 16 higher).
    #[cfg_attr(
        feature = "files",
        serde(default = "crate::file::fields::usual::virtual_timer")
    )]
    pub virtual_timer_ppi: u32,
    /// The physical timer's, counted the same way.
    #[cfg_attr(
        feature = "files",
        serde(default = "crate::file::fields::usual::physical_timer")
    )]
    pub physical_timer_ppi: u32,
    /// The GPU.
    pub gpu: Gpu,
    /// What clocks and power are asked of, where that is not the image's own to do; messages name them by their number here.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub power_controllers: &'static [Channel],
    /// The display.
    #[cfg_attr(feature = "files", serde(default))]
    pub display: Display,
    /// The firmware below.
    #[cfg_attr(feature = "files", serde(default))]
    pub firmware: Firmware,
    /// What loads the image.
    pub loader: Loader,
    /// What resets the machine if it is not told that the image lives.
    #[cfg_attr(feature = "files", serde(default))]
    pub watchdog: Option<Watchdog>,
    /// How an image ends.
    #[cfg_attr(feature = "files", serde(default))]
    pub ending: Ending,
    /// Where it is in labs; `None` for what is no board.
    #[cfg_attr(feature = "files", serde(default))]
    pub lab: Option<Lab>,
}

/// A description that is true: there are such registers and such memory where an image for this board runs.
///
/// Whoever has one may make pointers of its addresses. So only a board's own module makes it.
#[derive(Clone, Copy)]
pub struct Board(Description);

impl Board {
    /// The board of this description.
    ///
    /// # Safety
    /// On the machine that an image for this board runs on, `memory.image`, `memory.heap` and `memory.shared` are memory
    /// that nobody else uses once the image runs, and console, interrupt controller, GPU window, `display` and `memory.devices`
    /// are those devices' registers. The steps of `gpu` do no more than that GPU needs.
    ///
    /// # Panics
    /// While a board is compiled, when regions of it overlap, are not aligned, or begin at address 0.
    pub const unsafe fn new(description: Description) -> Board {
        if let Some(problem) = description.problem() {
            panic!("{}", problem);
        }
        Board(description)
    }

    /// The board of a description that was put together while the image runs, from wherever its loader has put it.
    ///
    /// # Errors
    /// When regions of it overlap, are not aligned, or begin at address 0.
    ///
    /// # Safety
    /// As for [`Board::new`].
    #[cfg(any(feature = "drivers", feature = "files"))]
    pub(crate) unsafe fn checked(description: Description) -> Result<Board, &'static str> {
        match description.problem_of_rest() {
            Some(problem) => Err(problem),
            None => Ok(Board(description)),
        }
    }

    /// What it is; the fields can also be had from the board itself, but not in constants.
    pub const fn description(&self) -> &Description {
        &self.0
    }
}

impl Deref for Board {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.0
    }
}

impl Description {
    /// The host, where the image has one.
    pub fn host(&self) -> Option<&'static dyn Host> {
        self.ending.host()
    }

    /// Whether its CPUs have caches. Those that QEMU emulates have none, and only QEMU's boards have a host to call. Cleaning half a
    /// gibibyte there would take most of the time before the first job.
    pub fn has_caches(&self) -> bool {
        self.host().is_none()
    }

    /// The host's files, where there is a host.
    pub fn host_files(&self) -> Option<HostFiles> {
        self.ending.files()
    }
}
