//! The const file: what stands where, and what fills it.
//!
//! In order, each part from a whole vec4: push constants, ranges of uniform buffers, the address of the program's data, driver
//! parameters, immediates.  Facts: hardware/ir3-isa.md 14.

use crate::MAX_CONSTANTS;

/// Words of a vec4.
const VEC4: u32 = 4;
/// The const file is uploaded, and its length counted, in so many vec4.
const UNIT: u32 = 4;
/// What the known compiler leaves in words that nobody reads.
const UNUSED: u32 = 0xd0d0_d0d0;

/// A word that the driver fills in for each dispatch; its number is that of its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DriverParam {
    /// Workgroups along x.
    WorkgroupsX,
    /// Workgroups along y.
    WorkgroupsY,
    /// Workgroups along z.
    WorkgroupsZ,
    /// The x of the first workgroup, which its hardware id does not include.
    BaseX,
    /// The y of the first workgroup.
    BaseY,
    /// The z of the first workgroup.
    BaseZ,
}

impl DriverParam {
    /// Every one with its component.
    #[rustfmt::skip]
    const ROWS: [(DriverParam, u32); 6] = [
        (DriverParam::WorkgroupsX, 0),
        (DriverParam::WorkgroupsY, 1),
        (DriverParam::WorkgroupsZ, 2),
        (DriverParam::BaseX,       4),
        (DriverParam::BaseY,       5),
        (DriverParam::BaseZ,       6),
    ];

    /// Workgroups along x, y and z.
    pub const WORKGROUPS: [DriverParam; 3] = [
        DriverParam::WorkgroupsX,
        DriverParam::WorkgroupsY,
        DriverParam::WorkgroupsZ,
    ];

    /// The first workgroup's x, y and z.
    pub const BASE: [DriverParam; 3] = [DriverParam::BaseX, DriverParam::BaseY, DriverParam::BaseZ];

    /// Its component: words from the first driver parameter.
    pub fn component(self) -> u32 {
        let row = Self::ROWS.iter().find(|(param, _)| *param == self);
        row.map_or(0, |(_, component)| *component)
    }

    /// The bits of all components that have a meaning.
    fn all() -> u32 {
        Self::ROWS
            .iter()
            .fold(0, |bits, (_, component)| bits | 1 << component)
    }
}

/// A part of a uniform buffer that the driver copies into the const file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UniformRange {
    /// Descriptor set of the buffer.
    pub set: u32,
    /// Binding of the buffer, of which it is the first element.
    pub binding: u32,
    /// The first vec4 of the buffer that is copied.
    pub first: u32,
    /// How many are.
    pub count: u32,
}

impl UniformRange {
    pub(crate) fn to_record(self) -> [u32; 4] {
        [self.set, self.binding, self.first, self.count]
    }

    /// The range of a record; `None` when it is empty, or longer than the const file.
    pub(crate) fn from_record([set, binding, first, count]: [u32; 4]) -> Option<UniformRange> {
        let fits = (1..=u32::from(MAX_CONSTANTS)).contains(&count);
        let end = first.checked_add(count)?.checked_mul(4 * VEC4);
        (fits && end.is_some()).then_some(UniformRange {
            set,
            binding,
            first,
            count,
        })
    }
}

/// What a program needs of the const file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstNeeds {
    /// Words of push constants.
    pub push_words: u32,
    /// Vec4 of uniform buffers.
    pub uniform_vec4: u32,
    /// Words of data; without any there is no address of them.
    pub data_words: u32,
    /// Driver parameters: bit n is component n.
    pub driver_params: u32,
    /// Words of immediates.
    pub immediates: u32,
}

/// What stands where in the const file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConstLayout {
    push_words: u32,
    uniform_vec4: u32,
    has_data: bool,
    driver_params: u32,
    immediates: u32,
}

impl ConstLayout {
    /// The layout of what is needed; none if that is more than the whole file.
    pub fn new(needs: ConstNeeds) -> Option<ConstLayout> {
        let ConstNeeds {
            push_words,
            uniform_vec4,
            data_words,
            driver_params,
            immediates,
        } = needs;
        let layout = ConstLayout {
            push_words,
            uniform_vec4,
            has_data: data_words > 0,
            driver_params,
            immediates,
        };
        let known = driver_params & !DriverParam::all() == 0;
        let fits = layout.checked_length()? <= u32::from(MAX_CONSTANTS);
        (known && fits).then_some(layout)
    }

    /// Words of push constants, from c0.x.
    pub fn push_words(&self) -> u32 {
        self.push_words
    }

    /// The number of the first word of uniform buffers.
    pub fn uniform_start(&self) -> u32 {
        self.push_words.next_multiple_of(VEC4)
    }

    /// Vec4 of uniform buffers, in the order of their ranges.
    pub fn uniform_vec4(&self) -> u32 {
        self.uniform_vec4
    }

    /// The number of the word that holds the low half of the data's address; the high half follows.
    pub fn data_address(&self) -> Option<u32> {
        self.has_data.then(|| self.behind_uniforms())
    }

    /// The components of driver parameters that are read: bit n is component n.
    pub fn driver_params(&self) -> u32 {
        self.driver_params
    }

    /// The number of a driver parameter's word; none if it isn't read.
    pub fn driver_param(&self, param: DriverParam) -> Option<u32> {
        let component = param.component();
        (self.driver_params >> component & 1 != 0).then(|| self.driver_start() + component)
    }

    /// The number of the first word of all driver parameters: a multiple of 16.
    pub fn driver_start(&self) -> u32 {
        let data = if self.has_data { VEC4 } else { 0 };
        (self.behind_uniforms() + data).next_multiple_of(VEC4 * UNIT)
    }

    /// The number of the first immediate's word, and how many there are.
    pub fn immediates(&self) -> (u32, u32) {
        (self.immediate_start(), self.immediates)
    }

    /// Vec4 of the whole file that are used, a multiple of 4: `constlen`.
    pub fn length(&self) -> u16 {
        // `new` has checked that it is at most `MAX_CONSTANTS`.
        self.checked_length().unwrap_or(0) as u16
    }

    fn behind_uniforms(&self) -> u32 {
        self.uniform_start() + self.uniform_vec4 * VEC4
    }

    fn immediate_start(&self) -> u32 {
        match self.driver_params {
            0 if self.has_data => self.behind_uniforms() + VEC4,
            0 => self.behind_uniforms(),
            params => {
                let words = (u32::BITS - params.leading_zeros()).next_multiple_of(VEC4 * UNIT);
                self.driver_start() + words
            }
        }
    }

    fn checked_length(&self) -> Option<u32> {
        let most = u32::from(MAX_CONSTANTS) * VEC4;
        if [self.push_words, self.uniform_vec4, self.immediates]
            .iter()
            .any(|words| *words > most)
        {
            return None;
        }
        let words = self.immediate_start() + self.immediates;
        Some(words.div_ceil(VEC4).next_multiple_of(UNIT))
    }
}

/// What a dispatch brings that the const file depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch<'a> {
    /// The push constants from offset 0; what is missing is zero.
    pub push_constants: &'a [u8],
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// The first workgroup.
    pub base: [u32; 3],
    /// Where the program's data was put.
    pub data_address: u64,
    /// What the buffer of each uniform range holds, from its start; what is missing is zero.
    pub uniforms: &'a [&'a [u8]],
}

impl Launch<'_> {
    fn push_word(&self, number: u32) -> u32 {
        word_of(self.push_constants, number)
    }

    /// A word of what stands in the const file of uniform buffers, by its number there.
    fn uniform_word(&self, number: u32, ranges: impl Iterator<Item = UniformRange>) -> u32 {
        let mut before = 0;
        for (index, range) in ranges.enumerate() {
            let words = range.count * VEC4;
            if number - before < words {
                let buffer = self.uniforms.get(index).copied().unwrap_or(&[]);
                return word_of(buffer, range.first * VEC4 + (number - before));
            }
            before += words;
        }
        UNUSED
    }

    fn driver_word(&self, component: u32) -> u32 {
        let [wx, wy, wz] = self.workgroups;
        let [bx, by, bz] = self.base;
        match component {
            0 => wx,
            1 => wy,
            2 => wz,
            4 => bx,
            5 => by,
            6 => bz,
            _ => UNUSED,
        }
    }
}

/// The word of that number of some bytes; what is missing is zero.
fn word_of(bytes: &[u8], number: u32) -> u32 {
    let byte = |offset: u32| {
        let at = number as usize * 4 + offset as usize;
        u32::from(bytes.get(at).copied().unwrap_or(0)) << (8 * offset)
    };
    (0..4).map(byte).fold(0, |word, byte| word | byte)
}

/// The word of that number of a const file.
pub(crate) fn word(
    layout: &ConstLayout,
    number: u32,
    launch: &Launch<'_>,
    uniforms: impl Iterator<Item = UniformRange>,
    immediate: impl Fn(u32) -> Option<u32>,
) -> u32 {
    if number < layout.push_words {
        return launch.push_word(number);
    }
    if (layout.uniform_start()..layout.behind_uniforms()).contains(&number) {
        return launch.uniform_word(number - layout.uniform_start(), uniforms);
    }
    match layout.data_address() {
        Some(low) if number == low => return launch.data_address as u32,
        Some(low) if number == low + 1 => return (launch.data_address >> 32) as u32,
        _ => {}
    }
    let component = number.wrapping_sub(layout.driver_start());
    if component < u32::BITS && layout.driver_params >> component & 1 != 0 {
        return launch.driver_word(component);
    }
    let (first, _) = layout.immediates();
    let own = number.checked_sub(first).and_then(immediate);
    own.unwrap_or(UNUSED)
}
