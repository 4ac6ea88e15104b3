//! The instructions that recording writes, encoded and checked once for a device.
//!
//! Recording a dispatch is then a few stores; what is left to say are values, and whether they have changed at all.
//! Facts: hardware/command-stream.md 4.1, 6.7 (slots), 6.8 (flushes).

use super::registers;
use crate::queue::Reach;
use eitri_cs::builder::{AnyLoad, BuildFault, Checked, Config, Load32, Load64, Run};
use eitri_cs::enums::{FlushMode, OtherFlushMode, StreamState};
use eitri_cs::instr::{
    FlushCache2, LoadMultiple, ReqResource, RunCompute, SetSbEntry, SetStateImm32, Wait,
};
use eitri_cs::{Arch, Layout, Pair, Reg, RegMask, Slot, SlotMask, d, r, slot};
use eitri_csf::registers::doorbell::FLUSH_ALWAYS;

/// The slot on which loads, stores and flushes count that are waited for at once.
pub(super) const OTHERS: Slot = slot!(0);
/// The slot on which deferred changes of sync objects count.
pub(super) const SIGNALS: Slot = slot!(1);
/// The slot on which deferred stores of state count.
pub(super) const STATES: Slot = slot!(2);
/// The slot on which jobs count.
pub(super) const JOBS: Slot = slot!(3);

/// Registers that no job reads: an address, a value, and room for 16 words behind the registers of a job.
pub(super) const ADDRESS: Pair = d!(66);
pub(super) const VALUE: Pair = d!(68);
pub(super) const COUNT: Reg = r!(70);

/// The 64-bit state of a job that recording writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    Resources,
    Uniforms,
    Program,
    Storage,
}

impl Wide {
    const fn of<T: Copy>(self, resources: T, uniforms: T, program: T, storage: T) -> T {
        match self {
            Wide::Resources => resources,
            Wide::Uniforms => uniforms,
            Wide::Program => program,
            Wide::Storage => storage,
        }
    }
}

/// The 32-bit state that stays the same from dispatch to dispatch of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrow {
    AttributeOffset,
    WorkgroupSize,
}

/// The 32-bit state that is there for each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// First workgroups.
    First,
    /// Numbers of workgroups.
    Count,
}

/// The words.
#[derive(Debug)]
pub(crate) struct EncodedInstructions {
    pub(super) config: Config,
    /// Selects the slots, and asks for the shader cores.
    pub(super) begin: [Option<Checked>; 3],
    /// Lets go of the shader cores.
    pub(crate) end: Checked,
    pub(super) wait_jobs: Checked,
    pub(super) wait_others: Checked,
    pub(super) wait_states: Checked,
    wide: [Load64; 4],
    low: [Load32; 4],
    narrow: [Load32; 2],
    grid: [[Load32; 3]; 2],
    pub(super) address: Load64,
    pub(super) value: Load64,
    pub(super) count: Load32,
    /// Loads of whatever else.
    any: AnyLoad,
    /// Loads the numbers of workgroups from [`ADDRESS`].
    pub(super) load_counts: Checked,
    /// A job with what is in the registers.
    pub(super) run: Run,
    flush_all: Checked,
    flush_cores: Checked,
    flush_read_only: Checked,
}

impl EncodedInstructions {
    /// For streams of so many registers and slots, as the firmware reports them.
    ///
    /// # Errors
    /// If a stream has not what recording needs.
    pub(crate) fn new(
        arch: Arch,
        registers: u32,
        scoreboards: u32,
    ) -> Result<EncodedInstructions, BuildFault> {
        let config = config_of(arch, registers, scoreboards);
        let wait = |wait_mask: SlotMask| {
            config.checked(Wait {
                wait_mask,
                ..Wait::default()
            })
        };
        let [first_count, ..] = registers::COUNT;
        let loads = narrow_loads(&config)?;
        let [resources, uniforms, program, storage, narrow @ .., count] = loads;
        let [attribute_offset, workgroup_size, grid @ ..] = narrow;
        let [first_x, first_y, first_z, number_x, number_y, number_z] = grid;
        let wide = |to| Load64::new(&config, to);
        Ok(EncodedInstructions {
            begin: begin(&config)?,
            end: config.checked(ReqResource::default())?,
            wait_jobs: wait(JOBS.mask())?,
            wait_others: wait(OTHERS.mask())?,
            wait_states: wait(STATES.mask() | SIGNALS.mask())?,
            wide: [
                wide(registers::RESOURCES)?,
                wide(registers::UNIFORMS)?,
                wide(registers::PROGRAM)?,
                wide(registers::STORAGE)?,
            ],
            low: [resources, uniforms, program, storage],
            narrow: [attribute_offset, workgroup_size],
            grid: [[first_x, first_y, first_z], [number_x, number_y, number_z]],
            address: wide(ADDRESS)?,
            value: wide(VALUE)?,
            count,
            any: AnyLoad::new(&config)?,
            load_counts: config.checked(LoadMultiple {
                base_register: first_count,
                mask: RegMask::first(3),
                address: ADDRESS,
                offset: 0,
            })?,
            run: Run::new(&config, RunCompute::default())?,
            flush_all: flush(&config, Reach::All)?,
            flush_cores: flush(&config, Reach::Cores)?,
            flush_read_only: flush(&config, Reach::ReadOnly)?,
            config,
        })
    }

    /// The flush, whose id is in [`COUNT`].
    pub(crate) const fn flush(&self, reach: Reach) -> Checked {
        match reach {
            Reach::All => self.flush_all,
            Reach::Cores => self.flush_cores,
            Reach::ReadOnly => self.flush_read_only,
        }
    }

    /// Loads of registers that are not named here.
    pub(crate) const fn any(&self) -> &AnyLoad {
        &self.any
    }

    /// What they are encoded for.
    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// Loads the flush id of a flush that is always done.
    pub(crate) fn flush_always(&self) -> Checked {
        self.count.with(FLUSH_ALWAYS)
    }

    /// Waits for loads, stores and flushes.
    pub(crate) const fn wait_others(&self) -> Checked {
        self.wait_others
    }

    /// Instructions that all commands begin with.
    pub(crate) fn begin_count(&self) -> u32 {
        self.begin.iter().flatten().count() as u32
    }

    pub(super) const fn wide(&self, what: Wide) -> Load64 {
        let [resources, uniforms, program, storage] = self.wide;
        what.of(resources, uniforms, program, storage)
    }

    /// The load of the low half.
    pub(super) const fn low(&self, what: Wide) -> Load32 {
        let [resources, uniforms, program, storage] = self.low;
        what.of(resources, uniforms, program, storage)
    }

    pub(super) const fn narrow(&self, what: Narrow) -> Load32 {
        let [attribute_offset, workgroup_size] = self.narrow;
        match what {
            Narrow::AttributeOffset => attribute_offset,
            Narrow::WorkgroupSize => workgroup_size,
        }
    }

    /// The loads for x, y, z.
    pub(super) const fn grid(&self, what: Grid) -> &[Load32; 3] {
        let [first, count] = &self.grid;
        match what {
            Grid::First => first,
            Grid::Count => count,
        }
    }
}

/// What streams of so many registers and slots hold.
fn config_of(arch: Arch, registers: u32, scoreboards: u32) -> Config {
    let mut config = Config::new(arch);
    let registers = u8::try_from(registers).ok();
    if let Some(layout) = registers.and_then(Layout::with_count) {
        config.layout = layout;
        config.writable = layout.all().without(layout.kernel());
    }
    if let Ok(slots) = u8::try_from(scoreboards) {
        config.slots = slots;
    }
    config
}

/// Loads of the low halves of [`Wide`], of [`Narrow`], of both [`Grid`]s, and of [`COUNT`]: in a loop, as each in a statement of its
/// own would be twice the code.
fn narrow_loads(config: &Config) -> Result<[Load32; 13], BuildFault> {
    let [first_x, first_y, first_z] = registers::FIRST;
    let [count_x, count_y, count_z] = registers::COUNT;
    let all = [
        registers::RESOURCES.low(),
        registers::UNIFORMS.low(),
        registers::PROGRAM.low(),
        registers::STORAGE.low(),
        registers::ATTRIBUTE_OFFSET,
        registers::WORKGROUP_SIZE,
        first_x,
        first_y,
        first_z,
        count_x,
        count_y,
        count_z,
        COUNT,
    ];
    let mut loads = [Load32::new(config, COUNT)?; 13];
    for (load, to) in loads.iter_mut().zip(all) {
        *load = Load32::new(config, to)?;
    }
    Ok(loads)
}

/// SET_SB_ENTRY on v10, else SET_STATE_IMM32, as drivers do; and REQ_RESOURCE.
fn begin(config: &Config) -> Result<[Option<Checked>; 3], BuildFault> {
    let cores = ReqResource {
        compute: true,
        ..ReqResource::default()
    };
    let cores = config.checked(cores)?;
    if config.arch < Arch::V11 {
        let select = config.checked(SetSbEntry {
            endpoint_entry: JOBS,
            other_entry: OTHERS,
        })?;
        return Ok([Some(select), Some(cores), None]);
    }
    let select = |state, slot: Slot| {
        let value = slot.number().into();
        config.checked(SetStateImm32 { state, value })
    };
    Ok([
        Some(select(StreamState::SelectEndpoint, JOBS)?),
        Some(select(StreamState::SelectOther, OTHERS)?),
        Some(cores),
    ])
}

/// A flush of the caches that `reach` names; its id is in [`COUNT`].
fn flush(config: &Config, reach: Reach) -> Result<Checked, BuildFault> {
    let if_reached = |least| {
        if reach >= least {
            FlushMode::CleanAndInvalidate
        } else {
            FlushMode::None
        }
    };
    config.checked(FlushCache2 {
        l2_flush_mode: if_reached(Reach::All),
        lsc_flush_mode: if_reached(Reach::Cores),
        other_flush_mode: OtherFlushMode::Invalidate,
        latest_flush_id: COUNT,
        signal_slot: OTHERS,
        ..FlushCache2::default()
    })
}

/// Values of a job's registers that recording has loaded.
#[derive(Debug)]
pub(super) struct LoadedRegisters {
    wide: [Option<u64>; 4],
    narrow: [Option<u32>; 2],
    /// First workgroups and numbers of workgroups, x to z.
    grid: [Option<[u32; 3]>; 2],
}

impl LoadedRegisters {
    /// Nothing.
    pub(super) const NOTHING: LoadedRegisters = LoadedRegisters {
        wide: [None; 4],
        narrow: [None; 2],
        grid: [None; 2],
    };

    /// The halves of a register pair that must be loaded for `value`; records the pair as loaded.
    #[inline]
    pub(super) fn change_wide(&mut self, what: Wide, value: u64) -> Change {
        let place = self.wide.get_mut(what as usize);
        match place.and_then(|place| place.replace(value)) {
            Some(known) if known == value => Change::Nothing,
            Some(known) if known >> 32 == value >> 32 => Change::Low,
            _ => Change::All,
        }
    }

    /// Whether the registers of shader and local storage must be loaded for these addresses; records them as loaded.
    #[inline]
    pub(super) fn change_code(&mut self, shader: u64, storage: u64) -> bool {
        let [_, _, known_shader, known_storage] = &mut self.wide;
        let same = *known_shader == Some(shader) && *known_storage == Some(storage);
        (*known_shader, *known_storage) = (Some(shader), Some(storage));
        !same
    }

    /// Whether a register must be loaded for `value`; records it as loaded.
    pub(super) fn change_narrow(&mut self, what: Narrow, value: u32) -> bool {
        let place = self.narrow.get_mut(what as usize);
        place.is_none_or(|place| place.replace(value) != Some(value))
    }

    /// Whether the registers of a grid hold these values.
    #[inline(always)]
    pub(super) fn has_grid(&self, what: Grid, [x, y, z]: [u32; 3]) -> bool {
        let [first, count] = &self.grid;
        let known = match what {
            Grid::First => first,
            Grid::Count => count,
        };
        matches!(known, Some([a, b, c]) if *a == x && *b == y && *c == z)
    }

    /// The registers of a grid that must be loaded for `value`, by axis; records them as loaded.
    pub(super) fn change_grid(&mut self, what: Grid, value: [u32; 3]) -> [bool; 3] {
        let place = self.grid.get_mut(what as usize);
        match place.and_then(|place| place.replace(value)) {
            Some([x, y, z]) => {
                let [new_x, new_y, new_z] = value;
                [x != new_x, y != new_y, z != new_z]
            }
            None => [true; 3],
        }
    }

    /// Says that the registers of a grid were loaded with what is not known.
    pub(super) fn forget_grid(&mut self, what: Grid) {
        if let Some(place) = self.grid.get_mut(what as usize) {
            *place = None;
        }
    }
}

/// The halves of a register pair that are to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// The low half.
    Low,
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_loaded_when_its_value_changes() {
        let mut known = LoadedRegisters::NOTHING;
        let mut change = |what, value| known.change_wide(what, value);
        assert_eq!(change(Wide::Uniforms, 0), Change::All);
        assert_eq!(change(Wide::Uniforms, 0), Change::Nothing);
        assert_eq!(change(Wide::Resources, 0), Change::All, "another");
        assert_eq!(change(Wide::Uniforms, 5), Change::Low);
        assert_eq!(change(Wide::Uniforms, 5 | 1 << 56), Change::All);
        assert_eq!(change(Wide::Uniforms, 6 | 1 << 56), Change::Low);
        assert!(known.change_narrow(Narrow::WorkgroupSize, 7));
        assert!(!known.change_narrow(Narrow::WorkgroupSize, 7));
        assert!(known.change_narrow(Narrow::AttributeOffset, 7), "another");
        let mut grid = |what, value| known.change_grid(what, value);
        assert_eq!(grid(Grid::Count, [1, 2, 3]), [true; 3]);
        assert_eq!(grid(Grid::Count, [1, 2, 3]), [false; 3]);
        assert_eq!(grid(Grid::Count, [1, 4, 3]), [false, true, false]);
        assert_eq!(grid(Grid::First, [1, 4, 3]), [true; 3], "another");
        known.forget_grid(Grid::Count);
        assert_eq!(known.change_grid(Grid::Count, [1, 4, 3]), [true; 3]);
    }

    #[test]
    fn a_stream_without_what_is_needed_is_refused() {
        let arch = Arch::V10;
        assert!(EncodedInstructions::new(arch, 96, 8).is_ok());
        let few = EncodedInstructions::new(arch, 96, 3)
            .map(drop)
            .expect_err("no slot 3");
        assert!(matches!(few, BuildFault::NoSuchSlot { .. }), "{few}");
        let none = EncodedInstructions::new(Arch::V14, 96, 8).map(drop);
        assert!(matches!(none, Err(BuildFault::Encode(_))));
    }
}
