//! Exception codes: name, who reports them, what they mean, what to look at.
//!
//! Facts: hardware/gpu-mmu.md section 8, csf-scheduling.md section 6, command-stream.md section 1.13.

use core::fmt;

/// An exception code, bits 7:0 of a fault word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exception(pub u8);

/// Who reports an exception; a code may come from several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reporters {
    /// `AS_FAULTSTATUS`.
    pub address_space: bool,
    /// `GPU_FAULTSTATUS`.
    pub gpu: bool,
    /// A stream's recoverable fault (`CS_FAULT`).
    pub cs_fault: bool,
    /// A stream's fatal fault (`CS_FATAL`).
    pub cs_fatal: bool,
}

/// A row of the table: one code, or a run of codes that differ by a number (a level of the walk).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionRow {
    /// First code.
    pub first: u8,
    /// Last code.
    pub last: u8,
    /// Name, upper case, without the number.
    pub name: &'static str,
    /// The number of the first code of a run; printed after the name when `first` and `last` differ.
    pub number: u8,
    /// Who reports it.
    pub from: Reporters,
    /// What happened.
    pub about: &'static str,
    /// What to look at.
    pub help: &'static str,
}

const NONE: Reporters = Reporters {
    address_space: false,
    gpu: false,
    cs_fault: false,
    cs_fatal: false,
};
const GPU: Reporters = Reporters { gpu: true, ..NONE };
const FAULT: Reporters = Reporters {
    cs_fault: true,
    ..NONE
};
const FATAL: Reporters = Reporters {
    cs_fatal: true,
    ..NONE
};
const BOTH: Reporters = Reporters {
    cs_fault: true,
    cs_fatal: true,
    ..NONE
};
const WALK: Reporters = Reporters {
    address_space: true,
    cs_fault: true,
    ..NONE
};

macro_rules! exceptions {
    ($($first:literal $last:literal $name:ident $number:literal $from:ident $about:literal $help:literal;)*) => {
        /// All exceptions, in the order of their codes.
        pub static EXCEPTIONS: &[ExceptionRow] = &[$(ExceptionRow {
            first: $first,
            last: $last,
            name: stringify!($name),
            number: $number,
            from: $from,
            about: $crate::table::kept($about),
            help: $crate::table::kept($help),
        }),*];
    };
}

exceptions! {
//  codes      name                       no. from   what happened                                                     what to look at
    0x00 0x00 OK                          0   NONE  "no exception"                                                    "";
    0x04 0x04 TERMINATED                  0   NONE  "the job was terminated"                                          "";
    0x05 0x05 KABOOM                      0   FAULT "the shader asked for a fault"                                    "the shader ran a forced-fault instruction";
    0x06 0x06 EUREKA                      0   NONE  "legacy notice"                                                   "";
    0x08 0x08 ACTIVE                      0   NONE  "the job is active"                                               "";
    0x0F 0x0F CS_RESOURCE_TERMINATED      0   FAULT "a resource was taken away from the stream"                       "an iterator is taken away when another stream of the group fails: look for the fault that is not 0x0f first";
    0x40 0x40 CS_CONFIG_FAULT             0   FATAL "the interface words of the stream are wrong"                     "CS_BASE, CS_SIZE (a power of two), the user pages, CS_CONFIG; INSERT within SIZE of EXTRACT and aligned";
    0x41 0x41 CS_UNRECOVERABLE            0   FATAL "the stream cannot go on and the GPU must be reset"               "reset the GPU";
    0x44 0x44 CS_ENDPOINT_FAULT           0   FATAL "no endpoint is allowed for this kind of job"                     "CSG_ALLOW_*, CSG_EP_REQ and GLB_ALLOC_EN have no unit in common";
    0x48 0x48 CS_BUS_FAULT                0   BOTH  "a fetch, load or store of the stream hit an MMU fault or bus error" "is the address mapped in the group's address space, with the right permission?";
    0x49 0x49 CS_INSTR_INVALID            0   FATAL "bad opcode or field, or a register number out of range"          "disassemble the stream at CS_STATUS_CMD_PTR: `eitri cs disasm`";
    0x4A 0x4A CS_CALL_STACK_OVERFLOW      0   FATAL "calls are nested too deep"                                       "8 frames on G610, the ring and the wrapper's CALL included";
    0x4B 0x4B CS_INHERIT_FAULT            0   FAULT "a wait met a sync object that carries an error"                  "the job that signals this object has failed: find its fault";
    0x50 0x50 INSTR_INVALID_PC            0   FAULT "a shader's program counter is not valid"                         "is the code mapped executable? does the program end?";
    0x51 0x51 INSTR_INVALID_ENC           0   FAULT "a shader instruction is not valid"                               "is the code for this architecture? `eitri disasm`";
    0x55 0x55 INSTR_BARRIER_FAULT         0   FAULT "a barrier was misused by a shader"                               "is the barrier reached by all threads of a workgroup no larger than THREAD_MAX_BARRIER_SIZE?";
    0x56 0x56 RAY_STACK_OVERFLOW          0   FAULT "the stack of ray tracing overflowed; v12 and later (V)"          "";
    0x58 0x58 DATA_INVALID_FAULT          0   FAULT "a descriptor is not valid"                                       "shader program, resource table, local storage descriptors: `eitri unpack`";
    0x59 0x59 TILE_RANGE_FAULT            0   FAULT "a tile is out of range"                                          "framebuffer size and tile ranges";
    0x5A 0x5A ADDR_RANGE_FAULT            0   FAULT "an address is out of range"                                      "addresses and sizes in descriptors";
    0x5B 0x5B IMPRECISE_FAULT             0   FAULT "a shader's access failed; the address is not exact"              "the shader accesses memory that is not mapped";
    0x60 0x60 OOM                         0   FAULT "tiler memory was refused and there is no handler"                "tiler heap: raise its limit";
    0x61 0x61 NEURAL_DATA_INVALID         0   FAULT "neural engine: invalid data; v14 (V)"                            "";
    0x62 0x62 NEURAL_ADDR_RANGE           0   FAULT "neural engine: address range; v14 (V)"                           "";
    0x63 0x63 NEURAL_TSU_SPACE            0   FAULT "neural engine: TSU space; v14 (V)"                               "";
    0x64 0x64 NEURAL_TSU_ENCODING         0   FAULT "neural engine: TSU encoding; v14 (V)"                            "";
    0x65 0x65 NEURAL_WEIGHT_STREAM        0   FAULT "neural engine: weight stream; v14 (V)"                           "";
    0x68 0x68 CSF_FW_INTERNAL_ERROR       0   FATAL "the firmware found an error in itself"                           "reset the GPU; try another firmware image";
    0x69 0x69 CSF_RES_EVICTION_TIMEOUT    0   FAULT "work could not be taken off its cores in time"                   "a shader that never ends?";
    0x70 0x7F SOFTWARE_FAULT              0   FAULT "a fault raised by software (V)"                                  "";
    0x80 0x80 GPU_BUS_FAULT               0   GPU   "the bus answered with an error"                                  "is the physical address RAM that the GPU may reach?";
    0x88 0x88 GPU_SHAREABILITY_FAULT      0   GPU   "an address was used with two shareabilities inside the GPU"      "page-table shareability bits of mappings of one page";
    0x89 0x89 SYS_SHAREABILITY_FAULT      0   GPU   "an address was used with two shareabilities in the system"       "page-table shareability bits of mappings of one page";
    0x8A 0x8A GPU_CACHEABILITY_FAULT      0   GPU   "an address was used cached and uncached"                         "attribute indices of mappings of one page";
    0xC0 0xC3 TRANSLATION_FAULT           0   WALK  "the address is not mapped"                                       "the access is outside every buffer, or the buffer was freed";
    0xC4 0xC4 TRANSLATION_FAULT_4         4   WALK  "a table entry is a block where none is allowed, or malformed (V)" "page-table entry: `eitri explain pte=…`";
    0xC8 0xCB PERMISSION_FAULT            0   WALK  "the mapping does not allow this access"                          "a write to code or read-only data, or execution of data";
    0xD9 0xDB ACCESS_FLAG                 1   WALK  "the mapping's access flag is clear"                              "page-table entry bit 10";
    0xE0 0xE0 ADDRESS_SIZE_FAULT_IN       0   WALK  "the virtual address is outside the input size"                   "TRANSCFG input size; a corrupt pointer";
    0xE4 0xE7 ADDRESS_SIZE_FAULT_OUT      0   WALK  "a physical address in the tables is too wide"                    "MMU_FEATURES physical bits; a corrupt table";
    0xE8 0xEB MEMORY_ATTRIBUTE_FAULT      0   WALK  "the attribute index selects the type that faults"                "MEMATTR byte of the entry's attribute index";
}

impl Exception {
    /// No exception.
    pub const OK: Exception = Exception(0x00);
    /// The stream cannot go on and the GPU must be reset.
    pub const CS_UNRECOVERABLE: Exception = Exception(0x41);
    /// The firmware found an error in itself.
    pub const FIRMWARE_INTERNAL_ERROR: Exception = Exception(0x68);

    /// The row of this code, if the code is known.
    pub fn row(self) -> Option<&'static ExceptionRow> {
        EXCEPTIONS
            .iter()
            .find(|row| (row.first..=row.last).contains(&self.0))
    }

    /// Its row, if that says what happened: without the feature `text` it is a name only.
    pub fn explained(self) -> Option<&'static ExceptionRow> {
        self.row().filter(|row| !row.about.is_empty())
    }

    /// Codes below 0x40 report no fault, but for those of a stream.
    pub fn is_fault(self) -> bool {
        match self.row() {
            Some(row) => row.from != NONE,
            None => self.0 >= 0x40,
        }
    }

    /// Whether only a reset of the GPU helps.
    pub fn needs_reset(self) -> bool {
        self == Exception::CS_UNRECOVERABLE || self == Exception::FIRMWARE_INTERNAL_ERROR
    }

    /// The code with this name, in any case: `CS_BUS_FAULT`, `translation_fault_2`.
    pub fn from_name(name: &str) -> Option<Exception> {
        EXCEPTIONS.iter().find_map(|row| {
            if row.first == row.last {
                return row
                    .name
                    .eq_ignore_ascii_case(name)
                    .then_some(Exception(row.first));
            }
            let (stem, number) = name.rsplit_once('_')?;
            let number: u8 = number.parse().ok()?;
            let code = row.first.checked_add(number.checked_sub(row.number)?)?;
            (code <= row.last && row.name.eq_ignore_ascii_case(stem)).then_some(Exception(code))
        })
    }
}

impl fmt::Display for Exception {
    /// The name, with the level where it has one: `TRANSLATION_FAULT_2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row() {
            Some(row) if row.first != row.last => {
                write!(f, "{}_{}", row.name, self.0 - row.first + row.number)
            }
            Some(row) => f.write_str(row.name),
            None => write!(f, "exception {:#04x}", self.0),
        }
    }
}

impl fmt::Debug for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:#04x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn rows_stand_in_order_and_do_not_overlap() {
        for pair in EXCEPTIONS.windows(2) {
            assert!(
                pair[0].first <= pair[0].last && pair[0].last < pair[1].first,
                "{pair:?}"
            );
        }
    }

    #[test]
    fn every_code_has_a_name_that_leads_back() {
        for code in (0..=255).map(Exception) {
            if code.row().is_some() {
                assert_eq!(Exception::from_name(&code.to_string()), Some(code));
            } else {
                assert_eq!(Exception::from_name(&code.to_string()), None, "{code:?}");
            }
        }
    }

    #[test]
    fn levels_are_part_of_the_name() {
        assert_eq!(Exception(0xC2).to_string(), "TRANSLATION_FAULT_2");
        assert_eq!(Exception(0xC4).to_string(), "TRANSLATION_FAULT_4");
        assert_eq!(Exception(0xD9).to_string(), "ACCESS_FLAG_1");
        assert_eq!(Exception(0x7F).to_string(), "SOFTWARE_FAULT_15");
        assert_eq!(Exception(0xFF).to_string(), "exception 0xff");
        assert_eq!(Exception::from_name("cs_bus_fault"), Some(Exception(0x48)));
        assert_eq!(Exception::from_name("ACCESS_FLAG_0"), None);
    }

    #[test]
    fn notices_are_not_faults() {
        assert!(
            !Exception(0x00).is_fault()
                && !Exception(0x08).is_fault()
                && !Exception(0x20).is_fault()
        );
        assert!(
            Exception(0x05).is_fault() && Exception(0x0F).is_fault() && Exception(0x99).is_fault()
        );
    }
}
