//! Willing: what is around the GPU of a board that a file describes, where nothing else is known of it than its own steps.
//!
//! It answers each step as that step wishes, and tells of what no step says. So it proves that an image carries the steps out, in their
//! order; whether they are right only the board can say.

use super::scmi::{Page, SUCCESS};
use super::{News, StandIn};
use crate::steps::{
    Action, Bits, Certainty, Channel, Doorbell, MESSAGE_WORDS, Mailbox, SmcCall, Step,
};
use crate::target::Target;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// The machine.
pub struct Willing {
    /// All steps, supply first, with both ways of each choice.
    steps: Vec<Action>,
    /// How many of them switch the GPU on; the rest switches it off.
    on: usize,
    /// The step that comes next.
    next: usize,
    registers: BTreeMap<usize, u32>,
    controllers: Vec<(Channel, Page)>,
    mailboxes: Vec<Mailbox>,
    news: News,
}

impl Willing {
    /// Around this board.
    pub fn around(target: Target) -> Willing {
        let gpu = target.gpu();
        let mut steps = Vec::new();
        flatten(gpu.supply, &mut steps);
        flatten(gpu.power_on, &mut steps);
        let on = steps.len();
        flatten(gpu.power_off, &mut steps);
        let channels = target
            .board()
            .map_or(&[][..], |board| board.power_controllers);
        let of_step = |action: &Action| match action.step {
            Step::Mailbox(message) => Some(*message.to.mailbox),
            _ => None,
        };
        Willing {
            mailboxes: steps.iter().filter_map(of_step).collect(),
            on,
            next: 0,
            registers: BTreeMap::new(),
            controllers: channels
                .iter()
                .map(|channel| (*channel, Page::new(channel.page)))
                .collect(),
            news: News::default(),
            steps,
        }
    }

    /// The next step, from where the image is, of which this is so; once it is behind all of them, it may begin anew. The image is behind
    /// that step then.
    fn find<T>(&mut self, is: impl Fn(&Step) -> Option<T>) -> Option<T> {
        let count = self.steps.len();
        let (place, found) = (0..count)
            .map(|ahead| (self.next + ahead) % count)
            .find_map(|place| Some((place, is(&self.steps[place].step)?)))?;
        // A register is read, changed and written by one step.
        let changes = matches!(self.steps[place].step, Step::Modify { .. });
        self.next = place + usize::from(!changes);
        Some(found)
    }

    /// The doorbell of a controller rings.
    fn ring(&mut self, number: usize) {
        let Some((_, page)) = self.controllers.get_mut(number) else {
            return;
        };
        let Some(message) = page.take(&mut self.news) else {
            return;
        };
        let sent = |step: &Step| match step {
            Step::Scmi(wanted)
                if wanted.to == number
                    && wanted.header == message.header
                    && wanted.payload == message.payload =>
            {
                Some(wanted.reply)
            }
            _ => None,
        };
        let reply = self.find(sent);
        if reply.is_none() {
            let what = format!("a message, {:#x}, that no step sends", message.header);
            self.news.tell(what);
        }
        let mut words = Vec::from([SUCCESS]);
        words.extend(reply.unwrap_or_default().iter().map(|bits| bits.value));
        if let Some((_, page)) = self.controllers.get_mut(number) {
            page.answer(&words);
        }
    }

    /// The number of the controller whose doorbell this is.
    fn rung(&self, doorbell: impl Fn(&Doorbell) -> bool) -> Option<usize> {
        let mut all = self.controllers.iter();
        all.position(|(channel, _)| doorbell(&channel.doorbell))
    }

    /// A register of a mailbox is written: a message is taken and answered with zeros at once.
    fn post(&mut self, at: usize, value: u32) -> bool {
        let Some(mailbox) = self.mailboxes.iter().find(|mailbox| {
            let words = mailbox.data..mailbox.data + 4 * MESSAGE_WORDS * MESSAGE_WORDS;
            [mailbox.send, mailbox.clear].contains(&at) || words.contains(&at)
        }) else {
            return false;
        };
        let arrived = self.registers.entry(mailbox.arrived).or_default();
        if at == mailbox.send {
            *arrived |= value;
        } else if at == mailbox.clear {
            *arrived &= !value;
        } else {
            self.registers.insert(at, value);
        }
        true
    }
}

/// All steps, those of choices among them.
fn flatten(actions: &[Action], steps: &mut Vec<Action>) {
    for action in actions {
        steps.push(*action);
        if let Step::Choose { so, otherwise, .. } = action.step {
            flatten(so, steps);
            flatten(otherwise, steps);
        }
    }
}

/// What a step wants to read in a register: the bits, if it wants any.
fn wanted(step: &Step, at: usize) -> Option<Option<Bits>> {
    if step.register() != Some(at) {
        return None;
    }
    Some(match step {
        Step::Poll { until, .. } => Some(*until),
        Step::Expect { bits, .. } | Step::Check { bits, .. } | Step::Choose { bits, .. } => {
            Some(*bits)
        }
        _ => None,
    })
}

impl StandIn for Willing {
    fn read(&mut self, at: usize) -> u32 {
        let of_page = self.controllers.iter_mut();
        if let Some(word) = of_page.filter_map(|(_, page)| page.read(at)).next() {
            return word;
        }
        let bits = self.find(|step| wanted(step, at)).flatten();
        let register = self.registers.entry(at).or_default();
        if let Some(Bits { mask, value }) = bits {
            *register = *register & !mask | value;
        }
        *register
    }

    fn write(&mut self, at: usize, value: u32) {
        let of_page = self.controllers.iter_mut();
        let news = &mut self.news;
        if of_page
            .filter_map(|(_, page)| page.write(at, value, news))
            .next()
            .is_some()
        {
            return;
        }
        let rings = |doorbell: &Doorbell| matches!(doorbell, Doorbell::Mailbox { at: bell, .. } if *bell == at);
        if let Some(number) = self.rung(rings) {
            return self.ring(number);
        }
        if self.post(at, value) {
            return;
        }
        let written = |step: &Step| match step {
            Step::Write {
                at: register,
                value: wanted,
            } => (*register == at && *wanted == value).then_some(()),
            Step::Modify { at: register, bits } => {
                (*register == at && bits.are_in(value)).then_some(())
            }
            Step::Save { at: register } | Step::Restore { at: register } => {
                (*register == at).then_some(())
            }
            _ => None,
        };
        if self.find(written).is_none() {
            self.news
                .tell(format!("{value:#x} in {at:#x}, which no step writes"));
        }
        self.registers.insert(at, value);
    }

    fn smc(&mut self, call: SmcCall) -> Option<u64> {
        if let Some(number) = self.rung(|doorbell| *doorbell == Doorbell::Smc(call)) {
            self.ring(number);
            return Some(0);
        }
        self.find(|step| match step {
            Step::Smc {
                call: known,
                wanted,
            } => (*known == call).then_some(*wanted),
            _ => None,
        })
    }

    fn gpu_answers(&mut self) -> bool {
        // What is left looks at the GPU itself, or may be left out.
        let mut left = self
            .steps
            .get(self.next..self.on)
            .unwrap_or_default()
            .iter();
        let looks = |step: &Step| {
            let changes = matches!(step, Step::Write { .. } | Step::Modify { .. });
            let asks = matches!(step, Step::Smc { .. } | Step::Scmi(_) | Step::Mailbox(_));
            !changes && !asks
        };
        self.next <= self.on
            && left.all(|action| action.certainty != Certainty::Sourced || looks(&action.step))
    }

    fn now(&mut self, _: Duration) {}

    fn take_news(&mut self) -> Vec<String> {
        self.news.take()
    }
}
