//! Linked: the addresses that the linker script states.
//!
//! Facts: `linker/image.ld` of this repository.

use eitri_boards::Region;

macro_rules! addresses {
    ($($(#[$doc:meta])* $name:ident = $begin:ident .. $end:ident;)*) => {
        unsafe extern "C" {
            $(static $begin: u8; static $end: u8;)*
        }
        $($(#[$doc])* pub fn $name() -> Region {
            let base = (&raw const $begin).addr();
            Region { base, bytes: (&raw const $end).addr().wrapping_sub(base) }
        })*
    };
}

addresses! {
    /// All of the image, its stacks among it.
    image = image_begin .. image_end;
    /// Code.
    text = text_begin .. text_end;
    /// Constants, embedded programs and jobs.
    rodata = rodata_begin .. rodata_end;
    /// Variables and the heap.
    data = data_begin .. data_end;
    /// The heap alone.
    heap = heap_begin .. heap_end;
    /// The stack of exceptions.
    boot_stack = boot_stack_begin .. boot_stack_end;
    /// The stack of the image's `main`.
    main_stack = main_stack_begin .. main_stack_end;
    /// The ELF note with the build id; empty when it was linked without.
    build_id_note = build_id_begin .. build_id_end;
}
