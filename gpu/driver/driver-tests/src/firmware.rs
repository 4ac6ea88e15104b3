//! Released firmware images: the driver's life with each of them, in the interface version that it speaks.

use crate::bench::{
    DOUBLE, LIMIT, OrFail, Work, config, diagnoses, fault, queue, storage, submit, wait, words,
};
use crate::machine::{Host, Machine};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_cs::instr::{Move32, Move48, StoreMultiple, Wait};
use eitri_cs::{Arch, Pair, RegMask, SlotMask, r};
use eitri_csf::image::{RELEASES, Release};
use eitri_model::{Config, Product, stub_firmware_like};
use eitri_runtime::{
    Access, Buffer, Device, DevicePower, Fence, GpuAddress, Options, Queue, SemaphorePoint, Space,
    Status, SubQueue, SubmitInfo,
};

const SHORT: Duration = Duration::from_millis(3);

/// Where a stream and what it writes are mapped.
const CODE: GpuAddress = GpuAddress(0x7000_0000);
const DATA: GpuAddress = GpuAddress(0x7001_0000);

/// A device whose GPU has booted an image that is taken for a released one.
struct Life {
    release: &'static Release,
    machine: Machine,
    device: Device<'static, 'static, Host>,
    queue: Queue,
    space: Space,
}

/// Bring-up, jobs of streams and of shaders, a wait that outlives a suspended device, a fault, shutdown.
pub(crate) fn each_released_image_lives_its_life() {
    for release in &RELEASES {
        let mut life = Life::begin(release);
        life.waits_over_a_suspend();
        let streams = life.map_stream();
        life.runs_streams(streams.1);
        if release.arch == Arch::V10 {
            life.runs_shaders();
        }
        assert_eq!(diagnoses(&life.machine), [""; 0], "{}", release.name);
        life.faults();
        life.device
            .shutdown(&mut ())
            .or_fail("nothing keeps it from it");
        assert_eq!(life.machine.memory_in_use(), 0, "{}", release.name);
    }
}

/// A product that the image is for and that any SoC can have.
fn product(release: &Release) -> Product {
    Product::all()
        .find(|product| product.arch() == release.arch && product.needs_hash.is_none())
        .or_fail("there is one of each architecture")
}

impl Life {
    fn begin(release: &'static Release) -> Life {
        let machine = Machine::new(Config {
            product: product(release),
            ..config()
        });
        let image = stub_firmware_like(release).leak();
        let options = Options::default();
        let mut device = Device::bring_up(machine.platform(), image, storage(), options, &mut ())
            .or_fail(release.name);
        assert_eq!(device.interface_version(), release.version);
        let queue = queue(&mut device);
        let space = device.space(queue).or_fail("it is there");
        Life {
            release,
            machine,
            device,
            queue,
            space,
        }
    }

    /// A job that waits for a semaphore is saved with the device, resumed, and signals another value.
    fn waits_over_a_suspend(&mut self) {
        let name = self.release.name;
        let device = &mut self.device;
        let semaphore = device.create_semaphore(0).or_fail("there is memory");
        device
            .map_semaphore(semaphore, self.space, Access::ReadWrite)
            .or_fail("there is memory");
        let commands = device
            .create_command_buffer(self.space)
            .or_fail("there is memory");
        device
            .record(commands, |_| Ok(()))
            .or_fail("there is nothing to record");
        let at = |value| SemaphorePoint { semaphore, value };
        let info = SubmitInfo {
            waits: &[at(5)],
            signals: &[at(6)],
            ..SubmitInfo::default()
        };
        let fence = device
            .submit_with(self.queue, commands, info)
            .or_fail("there is room");
        assert_eq!(device.wait(fence, SHORT), Status::Pending, "{name}");
        device.suspend().or_fail("the device is alive");
        assert!(device.settle(), "{name}");
        assert_eq!(device.power(), DevicePower::Off, "{name}");
        device.resume().or_fail("the device is alive");
        for value in [4, 5] {
            assert_eq!(device.wait(fence, SHORT), Status::Pending, "{name}");
            device
                .signal_semaphore(semaphore, value)
                .or_fail("it is there");
        }
        assert_eq!(wait(device, fence), Ok(()), "{name}");
        assert_eq!(device.semaphore_value(semaphore), Ok(6), "{name}");
        let commands = device.destroy_command_buffer(commands);
        commands.or_fail("nothing uses it");
        device
            .destroy_semaphore(semaphore)
            .or_fail("nothing uses it");
    }

    /// A stream that stores a word, and where it stores it.
    fn map_stream(&mut self) -> (Buffer, Buffer) {
        let device = &mut self.device;
        let address = Pair::new(8).or_fail("the register is even");
        let arch = self.release.arch;
        let stream = [
            Move48 {
                destination: address,
                immediate: DATA.0,
            }
            .encode(arch),
            Move32 {
                destination: r!(4),
                immediate: 0xC0DE,
            }
            .encode(arch),
            StoreMultiple {
                address,
                mask: RegMask::first(1),
                base_register: r!(4),
                offset: 4,
            }
            .encode(arch),
            Wait {
                wait_mask: SlotMask::first(8),
                ..Wait::default()
            }
            .encode(arch),
        ];
        let bytes: Vec<u8> = stream
            .into_iter()
            .flat_map(|word| word.or_fail("it is legal").to_le_bytes())
            .collect();
        let code = device
            .create_buffer(self.space, 4096)
            .or_fail("there is memory");
        let data = device
            .create_buffer(self.space, 4096)
            .or_fail("there is memory");
        device.write_buffer(code, 0, &bytes).or_fail("it fits");
        for (buffer, at, access) in [(code, CODE, Access::Read), (data, DATA, Access::ReadWrite)] {
            device
                .map_buffer(buffer, 0, 4096, at, access)
                .or_fail("the place is free");
        }
        (code, data)
    }

    fn submit_stream(&mut self) -> Fence {
        self.device
            .submit_stream(self.queue, SubQueue::Compute, CODE, 32)
            .or_fail("there is room")
    }

    fn runs_streams(&mut self, data: Buffer) {
        let fences: Vec<Fence> = (0..3).map(|_| self.submit_stream()).collect();
        for fence in fences {
            assert_eq!(
                wait(&mut self.device, fence),
                Ok(()),
                "{}",
                self.release.name
            );
        }
        let words = words(&mut self.device, data, 2);
        assert_eq!(words, [0, 0xC0DE], "{}", self.release.name);
    }

    fn runs_shaders(&mut self) {
        let other = queue(&mut self.device);
        let work = Work::new(&mut self.device, other, &DOUBLE, 64);
        for _ in 0..3 {
            let fence = submit(&mut self.device, other, &work);
            assert_eq!(
                wait(&mut self.device, fence),
                Ok(()),
                "{}",
                self.release.name
            );
        }
        let words = work.words(&mut self.device, 3);
        assert_eq!(words, [0, 8, 16], "{}", self.release.name);
    }

    /// A stream that stores where nothing is mapped any more fails, and the next queue is none the worse for it.
    fn faults(&mut self) {
        let name = self.release.name;
        self.device
            .unmap_range(self.space, DATA, 4096)
            .or_fail("it is an alias");
        let fence = self.submit_stream();
        let failed = fault(&mut self.device, fence);
        let text = alloc::string::ToString::to_string(&failed);
        assert!(text.contains("0x70010"), "{name}: {text}");
        let next = queue(&mut self.device);
        let space = self.device.space(next).or_fail("it is there");
        let commands = self
            .device
            .create_command_buffer(space)
            .or_fail("there is memory");
        self.device
            .record(commands, |_| Ok(()))
            .or_fail("there is nothing to record");
        let fence = self.device.submit(next, commands).or_fail("there is room");
        assert_eq!(self.device.wait(fence, LIMIT), Status::Done, "{name}");
    }
}
