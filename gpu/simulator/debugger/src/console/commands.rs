//! The commands: their names in one table, and what each does.
use super::{Answer, Console, MAX_STEPS, lane_list, memory};
use crate::device::DevicePlace;
use crate::execution::{Execution, Object};
use crate::expression::{Context, Evaluated, Expression};
use crate::session::Motion;
use crate::stops::{Location, Stop, WatchKind};
use crate::value::{Form, Node, type_name};

/// Commands with what they take and do, for a person.
pub const HELP: &str = "\
break LINE|FILE:LINE|FUNCTION|@ADDRESS [if EXPRESSION]   stop there, if the expression holds in a lane
break register NAME [read|write], break firmware [WORD.]NAME   stop behind an access of the driver, behind an event
break draw N, break primitive DRAW.N, break pixel X,Y[,SAMPLE]   stop where their vertices or fragments begin
watch|rwatch|awatch EXPRESSION   stop behind a store to it, a load of it, either
watch NAME+OFFSET [BYTES]        the same of bytes of a memory; of the machine also gpu+ADDRESS
delete [NUMBER]                  remove a breakpoint or a watch, or all
info breakpoints|threads|lanes|functions|files|memory|pictures|events
continue [N]                     run to the next stop, N times
step [N], next [N]               run to another line, into calls or over them
stepi [N]                        run one instruction of the thread
finish                           run out of the function
reverse-continue                 run back to the stop before
reverse-next [N], reverse-stepi [N]   back by a line, by an instruction
goto STEP                        forward or back to a step by its number
thread N, lane N|all, frame N, up, down   choose what is shown
print[/x] EXPRESSION             its value in all lanes, or in the lane that was chosen
locals, globals, scope NAME      all variables of a kind
assert EXPRESSION                fail unless it holds in every lane that runs, or in the chosen one
backtrace, list [LINE], disassemble [COUNT]
picture NAME FILE [SAMPLE]       write the tile or an attachment as a picture; info pictures lists them
memory NAME[+OFFSET] [BYTES]     bytes of a buffer (SET:BINDING), of shared memory, of push constants
help, quit
A command may be cut short where one letter or word is common: b, c, s, n, si, rc, rn, rsi, p, bt, l, x.
Expressions: names, a.b, a[i], numbers, operators of C; $lane, $warp, $group, $group_y, $group_z; %N for a value of the IR;
$rN for a register, $uN for a word of the uniforms; $value of the register that was accessed; of draws $draw, $primitive, $x, $y,
$sample, $coverage, $vertex, $instance.";

pub(super) type Done = Result<String, String>;

pub(super) fn execute<E: Execution>(console: &mut Console<E>, line: &str) -> Answer {
    let line = line.trim();
    let (name, rest) = match line.split_once(char::is_whitespace) {
        Some((name, rest)) => (name, rest.trim()),
        None => (line, ""),
    };
    let (name, hex) = match name.strip_suffix("/x") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let done = match name {
        "" => Ok(String::new()),
        "break" | "b" => add_breakpoint(console, rest),
        "watch" => add_watch(console, rest, WatchKind::Write),
        "rwatch" => add_watch(console, rest, WatchKind::Read),
        "awatch" => add_watch(console, rest, WatchKind::Both),
        "delete" | "d" => delete(console, rest),
        "info" | "i" => info(console, rest),
        "continue" | "c" | "run" | "r" => go(console, rest, Motion::Continue),
        "step" | "s" => go(console, rest, Motion::Into),
        "next" | "n" => go(console, rest, Motion::Over),
        "stepi" | "si" => go(console, rest, Motion::Instruction),
        "finish" | "fin" => go(console, rest, Motion::Out),
        "reverse-continue" | "rc" => {
            let stop = console.session.reverse_continue();
            Ok(console.show_stop(&stop))
        }
        "reverse-next" | "rn" | "reverse-step" | "rs" => back(console, rest, |console| {
            console.session.reverse_line(console.thread)
        }),
        "reverse-stepi" | "rsi" => back(console, rest, |console| {
            console.session.reverse_instruction(console.thread)
        }),
        "goto" => number(rest, "a step").map(|time| {
            console.session.go_to(time);
            console.show_stop(&Stop::Step)
        }),
        "thread" | "t" => choose_thread(console, rest),
        "lane" => choose_lane(console, rest),
        "frame" | "f" => number(rest, "a frame").and_then(|frame| choose_frame(console, frame)),
        "up" => choose_frame(console, console.frame as u64 + 1),
        "down" => match console.frame {
            0 => Err("this is the innermost frame".to_owned()),
            frame => choose_frame(console, frame as u64 - 1),
        },
        "print" | "p" => print(console, rest, hex),
        "locals" => Ok(scope(console, 0)),
        "globals" => Ok(scope(console, 1)),
        "scope" => named_scope(console, rest),
        "backtrace" | "bt" => Ok(backtrace(console)),
        "list" | "l" => list(console, rest),
        "disassemble" | "x" => disassemble(console, rest),
        "picture" => super::save_picture(console.session.now(), rest, console.save.as_ref()),
        "memory" | "m" => memory::show(console, rest),
        "help" | "h" => Ok(HELP.to_owned()),
        "assert" => match assert(console, rest) {
            Ok(None) => Ok(String::new()),
            Ok(Some(failed)) => return Answer::Failed(failed),
            Err(why) => Err(why),
        },
        "quit" | "q" => return Answer::Quit,
        _ => Err(format!("`{name}` is no command; `help` lists them")),
    };
    match done {
        Ok(text) => Answer::Text(text),
        Err(why) => Answer::Wrong(why),
    }
}

pub(super) fn number(text: &str, what: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not the number of {what}"))
}

/// How often: once if nothing is said.
fn count(text: &str) -> Result<u64, String> {
    match text {
        "" => Ok(1),
        _ => number(text, "repetitions"),
    }
}

fn go<E: Execution>(console: &mut Console<E>, rest: &str, motion: Motion) -> Done {
    let mut stop = Stop::Entry;
    for _ in 0..count(rest)? {
        stop = console.session.go(motion, console.thread, MAX_STEPS);
        let is_asked = match motion {
            Motion::Continue => {
                matches!(
                    stop,
                    Stop::Breakpoint(..) | Stop::Device(..) | Stop::Watch(..)
                )
            }
            _ => stop == Stop::Step,
        };
        if !is_asked {
            break;
        }
    }
    Ok(console.show_stop(&stop))
}

fn back<E: Execution>(
    console: &mut Console<E>,
    rest: &str,
    mut motion: impl FnMut(&mut Console<E>) -> Stop,
) -> Done {
    let mut stop = Stop::Beginning;
    for _ in 0..count(rest)? {
        stop = motion(console);
        if stop == Stop::Beginning {
            break;
        }
    }
    Ok(console.show_stop(&stop))
}

/// What a person means by a place.
fn location<E: Execution>(console: &Console<E>, text: &str) -> Result<Location, String> {
    let program = console.session.program();
    if let Some(address) = text.strip_prefix('@') {
        return number(address, "an address").map(Location::Address);
    }
    let (file, line) = match text.rsplit_once(':') {
        Some((file, line)) => {
            let found = program.find_file(file);
            let known = || format!("no file is called `{file}`; `info files` lists them");
            (found.ok_or_else(known)?, line)
        }
        None if text.parse::<u32>().is_ok() => {
            let frames = console.session.frames(console.thread);
            let here = frames.iter().find_map(|frame| frame.line.as_ref());
            (here.map_or(0, |line| line.file), text)
        }
        None => return Ok(Location::Function(text.to_owned())),
    };
    let line = line.parse().map_err(|_| format!("`{line}` is no line"))?;
    Ok(Location::Line(file, line))
}

/// Why there is no breakpoint on the device.
pub(crate) const NO_DEVICE: &str =
    "a session of one dispatch has no driver and no draws: `--level driver` has, and a scene";

fn add_breakpoint<E: Execution>(console: &mut Console<E>, rest: &str) -> Done {
    let (place, condition) = match rest.split_once(" if ") {
        Some((place, condition)) => (place.trim(), Some(condition)),
        None => (rest, None),
    };
    let condition = condition.map(Expression::parse).transpose();
    let condition = condition.map_err(|error| error.to_string())?;
    if let Some(place) = DevicePlace::parse(place) {
        let set = console.session.add_device_breakpoint(place?, condition);
        let set = set.ok_or(NO_DEVICE)?;
        return Ok(format!("breakpoint {} at {}", set.id, set.place));
    }
    let location = location(console, place)?;
    let set = console.session.add_breakpoint(location, condition);
    let set = set.ok_or_else(|| format!("no code stands at `{place}`"))?;
    let places: Vec<String> = set.addresses.iter().map(|at| format!("@{at:#x}")).collect();
    let shown = console.show_location(&set.location);
    Ok(format!(
        "breakpoint {} at {shown}: {}",
        set.id,
        places.join(", ")
    ))
}

fn node<E: Execution>(console: &Console<E>, text: &str) -> Result<Node, String> {
    let at = (console.thread, console.path(), console.lane());
    match console.session.evaluate(text, at) {
        Ok(Evaluated::Node(node)) => Ok(node),
        Ok(Evaluated::Scalar(_)) => Err(format!("`{text}` is a number, which does not change")),
        Err(error) => Err(error.to_string()),
    }
}

fn add_watch<E: Execution>(console: &mut Console<E>, rest: &str, kind: WatchKind) -> Done {
    let node = match memory::watched(console, rest) {
        Some(node) => node,
        None => node(console, rest)?,
    };
    let owner = (console.thread, console.lane);
    let set = console.session.add_watch(&node, kind, owner);
    let set = set.ok_or_else(|| format!("`{rest}` is a value: nothing stores to it"))?;
    Ok(format!("watch {}: {}", set.id, set.node.name))
}

fn delete<E: Execution>(console: &mut Console<E>, rest: &str) -> Done {
    if rest.is_empty() {
        let stops = console.session.stops();
        let ids: Vec<u32> = stops
            .breakpoints
            .iter()
            .map(|own| own.id)
            .chain(stops.device.iter().map(|own| own.id))
            .chain(stops.watches.iter().map(|own| own.id))
            .collect();
        for id in ids {
            console.session.remove(id);
        }
        return Ok(String::new());
    }
    let id = number(rest, "a breakpoint")?;
    let found = u32::try_from(id).is_ok_and(|id| console.session.remove(id));
    match found {
        true => Ok(String::new()),
        false => Err(format!("there is no breakpoint or watch {id}")),
    }
}

fn info<E: Execution>(console: &Console<E>, rest: &str) -> Done {
    let session = &console.session;
    let lines: Vec<String> = match rest {
        "breakpoints" | "b" => {
            let breakpoints = session.stops().breakpoints.iter().map(|own| {
                let condition = own.condition.as_ref();
                let condition =
                    condition.map_or(String::new(), |own| format!(" if {}", own.text()));
                let shown = console.show_location(&own.location);
                format!("breakpoint {} at {shown}{condition}", own.id)
            });
            let device = session.stops().device.iter().map(|own| {
                let condition = own.condition.as_ref();
                let condition =
                    condition.map_or(String::new(), |own| format!(" if {}", own.text()));
                format!("breakpoint {} at {}{condition}", own.id, own.place)
            });
            let watches = session.stops().watches.iter();
            let watches = watches.map(|own| format!("watch {}: {}", own.id, own.node.name));
            breakpoints.chain(device).chain(watches).collect()
        }
        "threads" | "t" => (0..session.now().threads())
            .map(|thread| {
                let mark = if thread == console.thread { "*" } else { " " };
                let name = session.now().thread_name(thread);
                // No warp runs in it.
                if E::HAS_DEVICE && session.now().lanes(thread) == 0 {
                    return format!("{mark} {thread} {name}");
                }
                let frames = session.frames(thread);
                let line = frames.first().map(|frame| frame.line.as_ref());
                let place = match line {
                    None => "ended".to_owned(),
                    Some(None) => "no line".to_owned(),
                    Some(Some(line)) => session.program().show(line),
                };
                let lanes = lane_list(session.running(thread));
                format!("{mark} {thread} {name}, lanes {lanes}: {place}")
            })
            .collect(),
        "lanes" => (0..session.now().lanes(console.thread))
            .map(|lane| console.show_lane(lane))
            .collect(),
        "functions" => {
            let names = session.program().functions().into_iter();
            names.map(str::to_owned).collect()
        }
        "files" => session.program().files.clone(),
        "pictures" => session.now().pictures(),
        "events" => {
            let events = session.now().happened().iter();
            events.map(ToString::to_string).collect()
        }
        "memory" => session
            .now()
            .objects()
            .into_iter()
            .map(|(name, object)| match object {
                Object::Memory => format!("{name}: all memory, by the GPU's addresses"),
                _ => format!("{name} {} bytes", session.now().size(object)),
            })
            .collect(),
        _ => {
            return Err(
                "info is of breakpoints, threads, lanes, functions, files, memory, pictures, events"
                    .to_owned(),
            );
        }
    };
    Ok(lines.join("\n"))
}

fn choose_thread<E: Execution>(console: &mut Console<E>, rest: &str) -> Done {
    let thread = number(rest, "a thread")?;
    let count = console.session.now().threads();
    let found = usize::try_from(thread).ok().filter(|own| *own < count);
    console.thread = found.ok_or_else(|| format!("there are {count} threads, from 0"))?;
    console.lane = None;
    console.frame = 0;
    Ok(console.show_place())
}

fn choose_lane<E: Execution>(console: &mut Console<E>, rest: &str) -> Done {
    if rest == "all" {
        console.lane = None;
        return Ok(String::new());
    }
    let lane = number(rest, "a lane")?;
    let count = console.session.now().lanes(console.thread);
    let found = usize::try_from(lane).ok().filter(|own| *own < count);
    let lane = found.ok_or_else(|| format!("there are {count} lanes, from 0"))?;
    console.lane = Some(lane);
    Ok(console.show_lane(lane))
}

fn choose_frame<E: Execution>(console: &mut Console<E>, frame: u64) -> Done {
    let frames = console.session.frames(console.thread);
    let found = usize::try_from(frame)
        .ok()
        .filter(|own| *own < frames.len());
    console.frame = found.ok_or_else(|| format!("there are {} frames, from 0", frames.len()))?;
    Ok(console.show_place())
}

fn print<E: Execution>(console: &Console<E>, rest: &str, hex: bool) -> Done {
    let at = (console.thread, console.path(), console.lane);
    let value = console.session.show(rest, at, Form { hex });
    let value = value.map_err(|error| error.to_string())?;
    Ok(format!("{rest} = {value}"))
}

/// Where an expression does not hold, if it does not.
fn assert<E: Execution>(console: &Console<E>, rest: &str) -> Result<Option<String>, String> {
    let expression = Expression::parse(rest).map_err(|error| error.to_string())?;
    let (thread, path) = (console.thread, console.path());
    let lanes = match console.lane {
        Some(lane) => 1 << lane,
        None => console.session.running(thread),
    };
    let execution = console.session.now();
    for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
        let context = Context {
            execution,
            thread,
            path,
            lane,
        };
        // A name that is wrong is an error, not a value that differs.
        expression
            .evaluate(context)
            .map_err(|error| error.to_string())?;
        if !expression.holds(context) {
            let lane = console.show_lane(lane);
            return Ok(Some(format!("`{rest}` does not hold in {lane}")));
        }
    }
    Ok(None)
}

fn show_value<E: Execution>(console: &Console<E>, node: &Node) -> String {
    let (now, thread) = (console.session.now(), console.thread);
    match console.lane {
        Some(lane) => node.show(now, thread, lane),
        None => node.show_lanes(now, thread, console.session.running(thread)),
    }
}

fn scope<E: Execution>(console: &Console<E>, number: usize) -> String {
    let nodes = console
        .session
        .now()
        .nodes(number, console.thread, console.path());
    let lines = nodes.iter().map(|node| {
        let value = show_value(console, node);
        format!("{}: {} = {value}", node.name, type_name(&node.ty))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn named_scope<E: Execution>(console: &Console<E>, rest: &str) -> Done {
    let scopes = console.session.now().scopes();
    let found = scopes
        .iter()
        .position(|own| own.to_lowercase().starts_with(&rest.to_lowercase()));
    match found.filter(|_| !rest.is_empty()) {
        Some(number) => Ok(scope(console, number)),
        None => Err(format!("scopes are {}", scopes.join(", "))),
    }
}

fn backtrace<E: Execution>(console: &Console<E>) -> String {
    let frames = console.session.frames(console.thread);
    let lines = frames.iter().enumerate().map(|(number, frame)| {
        let line = frame.line.as_ref();
        let place = line.map_or("no line".to_owned(), |line| {
            console.session.program().show(line)
        });
        let mark = if number == console.frame { "*" } else { " " };
        format!("{mark} {number} {} at {place}", frame.function)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn list<E: Execution>(console: &Console<E>, rest: &str) -> Done {
    let frames = console.session.frames(console.thread);
    let here = frames
        .get(console.frame)
        .and_then(|frame| frame.line.clone());
    let program = console.session.program();
    let file = here.as_ref().map_or(0, |line| line.file);
    let middle = match rest {
        "" => here.as_ref().map_or(1, |line| line.line.into()),
        _ => number(rest, "a line")?,
    };
    let name = program.files.get(file).map_or("", String::as_str);
    let lines = console.sources.get(name);
    let lines = lines.ok_or_else(|| format!("the text of `{name}` can't be had"))?;
    let shown = (middle.saturating_sub(5).max(1)..)
        .take(10)
        .map_while(|number| {
            let text = lines.get(usize::try_from(number).ok()?.checked_sub(1)?)?;
            let is_here = here
                .as_ref()
                .is_some_and(|line| u64::from(line.line) == number);
            let mark = if is_here { ">" } else { " " };
            Some(format!("{mark}{number:4}  {text}").trim_end().to_owned())
        });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

fn disassemble<E: Execution>(console: &Console<E>, rest: &str) -> Done {
    let count = match rest {
        "" => 8,
        _ => number(rest, "instructions")?,
    };
    let program = console.session.program();
    let here = console.session.address(console.thread);
    let first = here.and_then(|at| program.index(at)).unwrap_or(0);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let shown = program.instructions.iter().skip(first).take(count);
    let lines = shown.map(|own| {
        let mark = if Some(own.address) == here { ">" } else { " " };
        let word = own
            .word
            .map_or(String::new(), |word| format!("{word:016x}  "));
        let line = own.line.as_ref();
        let line = line.map_or(String::new(), |line| format!("  ; {}", program.show(line)));
        format!("{mark} @{:#x}  {word}{}{line}", own.address, own.text)
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}
