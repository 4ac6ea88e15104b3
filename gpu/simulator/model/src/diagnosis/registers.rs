//! Misuse of registers, of address spaces, and of the firmware's interface.

misuses! {
    /// Misuse of a register.
    RegisterMisuse {
        UnknownRead { offset: u32 }                                  = "read of offset {offset:#x}, where there is no register", "csf-mmio.md 4";
        UnknownWrite { offset: u32, value: u32 }                     = "write of {value:#x} to offset {offset:#x}, where there is no register", "csf-mmio.md 4";
        Unaligned { offset: u32 }                                    = "access to offset {offset:#x}, which is not a multiple of 4", "csf-mmio.md 1";
        NotInArchitecture { name: &'static str, offset: u32 }        = "{name} ({offset:#x}) does not exist on this architecture", "csf-mmio.md 4";
        ReadOfWriteOnly { name: &'static str, offset: u32 }          = "read of {name} ({offset:#x}), which is write-only", "csf-mmio.md 4";
        WriteToReadOnly { name: &'static str, offset: u32, value: u32 } = "write of {value:#x} to {name} ({offset:#x}), which is read-only", "csf-mmio.md 18";
        ReservedBits { name: &'static str, value: u32, reserved: u32 } = "{name} = {value:#x} sets reserved bits {reserved:#x}", "csf-mmio.md 4";
        NotModelled { name: &'static str, offset: u32 }              = "{name} ({offset:#x}) is known but not modelled", "csf-mmio.md 14";
        UnknownCommand { value: u32 }                                = "GPU_COMMAND = {value:#x} is no command that a host may give", "csf-mmio.md 6";
        CommandWhileResetting { value: u32 }                         = "GPU_COMMAND = {value:#x} while a reset is in progress", "csf-mmio.md 6";
        FlushWhileFlushing { value: u32 }                            = "GPU_COMMAND = {value:#x} before the flush in progress completed", "csf-mmio.md 16.10";
        UselessFlush { value: u32 }                                  = "GPU_COMMAND = {value:#x} asks for a flush mode that a cache does not have", "csf-mmio.md 6";
        FlushRange { first: u64, last: u64 }                         = "FLUSH_PA_RANGE from {first:#x} to {last:#x}, which is below it", "csf-mmio.md 6";
        FlushWithoutL2 { value: u32 }                                = "GPU_COMMAND = {value:#x} while the L2 is off", "csf-mmio.md 17";
        PowerWhileChanging { name: &'static str, units: u64 }        = "{name} names units {units:#x}, which are changing state", "csf-mmio.md 10";
        AbsentUnits { name: &'static str, units: u64 }               = "{name} names units {units:#x}, which do not exist", "csf-mmio.md 10";
        HostPowersCores { name: &'static str, units: u64 }           = "{name} = {units:#x}: the firmware powers tiler and shader cores, not the host", "csf-mmio.md 10";
        L2OffUnderMcu                                                = "L2_PWROFF while the MCU runs", "csf-mmio.md 18";
        CoherencyUnderPower { value: u32 }                           = "COHERENCY_ENABLE = {value:#x} while the L2 is on", "csf-mmio.md 16.3";
        UnknownCoherency { value: u32 }                              = "COHERENCY_ENABLE = {value:#x} selects a protocol that this part cannot speak", "csf-mmio.md 16.1";
        ConfigUnderPower { name: &'static str, value: u32 }          = "{name} = {value:#x} while the L2 is on", "csf-mmio.md 6";
        LatestFlushWithoutPower                                      = "LATEST_FLUSH was read while the L2 is off", "csf-mmio.md 13";
        CoherencyNotChosen                                           = "L2_PWRON before COHERENCY_ENABLE was written", "csf-mmio.md 16.3";
        DoorbellBits { number: u32, value: u32 }                     = "doorbell {number} = {value:#x}: only bit 0 may be set", "csf-mmio.md 13";
        DoorbellWithoutMcu { number: u32 }                           = "doorbell {number} was rung while the MCU does not run", "csf-mmio.md 18";
        DoorbellUnused { number: u32 }                               = "doorbell {number} was rung, but no stream of a group on a slot has it", "csf-scheduling.md 11";
        McuRequest { value: u32 }                                    = "MCU_CONTROL = {value:#x} is no request", "csf-mmio.md 11";
        McuAlreadyRunning { value: u32 }                             = "MCU_CONTROL = {value:#x} while the MCU runs already", "csf-mmio.md 11";
        McuNotAuto                                                   = "MCU_CONTROL = 1: hosts use 2 (auto)", "csf-mmio.md 11";
        IrqBitsUnknown { name: &'static str, bits: u32 }             = "{name} names sources {bits:#x}, which do not exist", "csf-mmio.md 7";
    }
}

misuses! {
    /// Misuse of an address space.
    MmuMisuse {
        AbsentSpace { space: u8 }                         = "address space {space} is not in AS_PRESENT", "gpu-mmu.md 5";
        CommandWhileBusy { space: u8, value: u32 }        = "AS_COMMAND {space} = {value:#x} before the command in progress completed", "gpu-mmu.md 5";
        UnknownCommand { space: u8, value: u32 }          = "AS_COMMAND {space} = {value:#x} is no command", "gpu-mmu.md 5";
        DeprecatedCommand { space: u8, value: u32 }       = "AS_COMMAND {space} = {value:#x} is deprecated on this architecture", "gpu-mmu.md 5";
        CommandWithoutL2 { space: u8, value: u32 }        = "AS_COMMAND {space} = {value:#x} while the L2 is off", "csf-mmio.md 17";
        UnknownMode { space: u8, transcfg: u64 }          = "TRANSCFG of address space {space} = {transcfg:#x} has no mode that is modelled", "gpu-mmu.md 3";
        InputSize { space: u8, transcfg: u64 }            = "TRANSCFG of address space {space} = {transcfg:#x} has no valid input size", "gpu-mmu.md 3";
        MisalignedTable { space: u8, transtab: u64 }      = "TRANSTAB of address space {space} = {transtab:#x} is not aligned to 16 bytes", "gpu-mmu.md 2";
        CommandInProtectedMode { space: u8, value: u32 }  = "AS_COMMAND {space} = {value:#x} in protected mode, where the MMU takes no commands", "csf-scheduling.md 8";
        SmallLock { space: u8, lockaddr: u64 }            = "LOCKADDR of address space {space} = {lockaddr:#x} is below the smallest region; it was rounded up", "gpu-mmu.md 5";
        UnlockWithoutLock { space: u8 }                   = "UNLOCK of address space {space} without a LOCK", "gpu-mmu.md 5";
        UnlockBeforeFlush { space: u8 }                   = "UNLOCK of address space {space} before the L2 was cleaned and invalidated: the walker may read old tables", "gpu-mmu.md 6";
        LeaveWithoutFlush { space: u8 }                   = "address space {space} loses its tables while caches may hold what was accessed through them: no flush cleaned and invalidated all of them", "gpu-mmu.md 6";
        WaitsForLock { space: u8, address: u64 }          = "an access to {address:#x} waits for the lock of address space {space}, which is not released", "gpu-mmu.md 9";
        BusError { space: u8, address: u64, physical: u64 } = "{address:#x} of address space {space} maps to {physical:#x}, where there is no memory", "csf-mmio.md 8";
    }
}

misuses! {
    /// Misuse of the firmware: its image in memory, its interface words, groups and streams from outside.
    FirmwareMisuse {
        BootWithoutL2                                                    = "the MCU was started while the L2 is off", "csf-mmio.md 18";
        BootWithoutHash                                                  = "the MCU was started, but this part's slice hash was not programmed before the L2 came on", "csf-mmio.md 16.3";
        BootWithoutSpace                                                 = "the MCU was started, but address space 0 does not translate", "csf-mmio.md 18";
        NotMapped { address: u32, exception: u8 }                        = "firmware memory at {address:#x} cannot be used: exception {exception:#x}", "csf-firmware.md 14";
        ResetVector { value: u32 }                                       = "the reset vector {value:#x} is no Thumb address", "csf-firmware.md 4";
        StackPointer { value: u32 }                                      = "the initial stack pointer {value:#x} does not end in writable memory", "csf-firmware.md 4";
        NotExecutable { address: u32 }                                   = "the reset address {address:#x} is not executable", "csf-firmware.md 14";
        SharedNotWritable { address: u32 }                               = "the shared section at {address:#x} is not readable and writable", "csf-firmware.md 14";
        ImageInvalid                                                     = "the firmware image that memory was to be compared with cannot be parsed", "csf-firmware.md 1";
        ImageDiffers { address: u32, expected: u32, found: u32 }         = "firmware memory at {address:#x} holds {found:#x}, the image {expected:#x}", "csf-firmware.md 14";
        SectionPermission { address: u32, flags: u32 }                   = "the section at {address:#x} (flags {flags:#x}) is mapped with other permissions", "csf-firmware.md 3";
        ControlBlock { name: &'static str, value: u32 }                  = "{name} = {value:#x} in the shared section is out of range", "csf-firmware.md 7";
        BlockOutside { name: &'static str, address: u32 }                = "{name} = {address:#x} lies outside the shared section", "csf-firmware.md 6";
        ReservedBits { word: &'static str, value: u32, reserved: u32 }   = "{word} = {value:#x} sets reserved bits {reserved:#x}", "csf-firmware.md 14";
        UnexpectedEventAck { word: &'static str, bits: u32 }             = "{word}: event bits {bits:#x} were flipped though there was no event", "csf-firmware.md 14";
        OutputWritten { word: &'static str, expected: u32, found: u32 }  = "{word} was changed by the host from {expected:#x} to {found:#x}", "csf-firmware.md 14";
        HaltWithGroups { slots: u32 }                                    = "HALT with groups on slots {slots:#x}", "csf-firmware.md 14";
        NotModelled { word: &'static str, bits: u32 }                    = "{word}: request {bits:#x} is known but not modelled", "csf-firmware.md 8.1";
        DoorbellOfAbsentGroup { bits: u32 }                              = "GLB_DB_REQ names slots {bits:#x}, which do not exist", "csf-firmware.md 8";
        DoorbellOfAbsentStream { group: u8, bits: u32 }                  = "CSG_DB_REQ of slot {group} names streams {bits:#x}, which do not exist", "csf-firmware.md 9";
        PendingWithoutDoorbell { word: &'static str, group: u8, bits: u32 } = "{word} of slot {group}: request {bits:#x} is pending, but no doorbell was rung for it", "csf-firmware.md 11";
        GroupState { group: u8, from: &'static str, value: u32 }         = "CSG_REQ.STATE = {value} of slot {group}, whose group is {from}", "csf-scheduling.md 11";
        GroupStateUnknown { group: u8, value: u32 }                      = "CSG_REQ.STATE = {value} of slot {group} is no state", "csf-firmware.md 9";
        JobGivenUp { group: u8, stream: u8, instructions: u64 }          = "the driver gave up on a job of stream {stream} in slot {group} that was still running ({instructions} instructions, no error)", "csf-firmware.md 9";
        EqualPriority { group: u8, other: u8, priority: u32 }            = "the groups on slots {group} and {other} both have priority {priority}", "csf-scheduling.md 3.2";
        NoSuchSpace { group: u8, space: u8 }                             = "CSG_CONFIG of slot {group} names address space {space}, which is the MCU's, absent or unmapped", "csf-firmware.md 9";
        AllowAbsentCores { group: u8, mask: u64 }                        = "CSG_ALLOW of slot {group} names cores {mask:#x}, which do not exist", "csf-scheduling.md 2";
        AllocAbsentCores { mask: u64 }                                   = "GLB_ALLOC_EN names cores {mask:#x}, which do not exist", "csf-firmware.md 8";
        SuspendBuffer { group: u8, address: u64 }                        = "the suspend buffer {address:#x} of slot {group} is not usable through address space 0", "csf-scheduling.md 2";
        StaleSuspendBuffer { group: u8, address: u64 }                   = "RESUME of slot {group} from a buffer at {address:#x} that holds no suspended group", "csf-scheduling.md 11";
        RingSize { group: u8, stream: u8, size: u32 }                    = "CS_SIZE = {size:#x} of stream {stream} in slot {group} is not a power of two of at least 64", "csf-scheduling.md 11";
        RingBase { group: u8, stream: u8, base: u64 }                    = "CS_BASE = {base:#x} of stream {stream} in slot {group} is not aligned to 64", "csf-scheduling.md 11";
        UserPages { group: u8, stream: u8, address: u64 }                = "the user page {address:#x} of stream {stream} in slot {group} is not usable through address space 0", "csf-scheduling.md 2";
        InsertOutOfRange { group: u8, stream: u8, insert: u64, extract: u64 } = "INSERT = {insert:#x} of stream {stream} in slot {group} does not fit EXTRACT = {extract:#x} and the ring", "csf-scheduling.md 11";
        NoSuchDoorbell { group: u8, stream: u8, number: u32 }            = "CS_CONFIG of stream {stream} in slot {group} names doorbell {number}, which is the kernel's or does not exist", "csf-mmio.md 13";
        StreamStateUnknown { group: u8, stream: u8, value: u32 }         = "CS_REQ.STATE = {value} of stream {stream} in slot {group} is no state", "csf-firmware.md 10";
        SampleBase { base: u64 }                                         = "GLB_PRFCNT_BASE = {base:#x} is not aligned to 2048", "csf-perfcnt.md 7";
        SampleCount { samples: u32 }                                     = "GLB_PRFCNT_CONFIG asks for a ring of {samples} samples, which is no power of two from 2 to 128", "csf-perfcnt.md 7";
        SampleHeaderOff { kind: &'static str, enable: u32 }              = "{kind} = {enable:#x} leaves out bit 0, without which a block has no header", "csf-perfcnt.md 7";
        SampleExtract { extract: u32, insert: u32 }                      = "GLB_PRFCNT_EXTRACT = {extract} is ahead of INSERT = {insert}, or further behind than the ring is long", "csf-perfcnt.md 7";
        SampleTwice                                                      = "PRFCNT_SAMPLE was toggled again before the sample asked for was taken", "csf-perfcnt.md 7";
        SampleWhileOff                                                   = "PRFCNT_SAMPLE while PRFCNT_ENABLE is 0", "csf-perfcnt.md 3";
        HeapChunk { group: u8, stream: u8, chunk: u64 }                  = "the chunk {chunk:#x} given to stream {stream} in slot {group} is not mapped, has no size, or its header is not a link and zeros", "csf-scheduling.md 11";
        ProtectedWithoutMemory                                           = "PROTM_ENTER on a system without protected memory", "csf-scheduling.md 8";
        ProtectedForNobody                                               = "PROTM_ENTER, but no stream waits whose PROTM_PEND was acknowledged", "csf-scheduling.md 8";
        SleepNotKnown                                                    = "the MCU of this architecture cannot sleep", "csf-firmware.md 13";
        StateNotKnown { value: u32 }                                     = "GLB_REQ.STATE = {value} is known but not modelled", "csf-firmware.md 8.1";
        HaltInState                                                      = "GLB_REQ.HALT is set, but interface 4.1 and later has STATE instead", "csf-firmware.md 15";
        SuspendBuffersLost { count: u32 }                                = "{count} suspended groups were forgotten: more are kept than any driver needs", "csf-scheduling.md 9";
    }
}
