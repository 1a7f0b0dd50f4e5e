//! A limit on the address space (`ulimit -v`), which allocators waste.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

use dropchain::kernel::memory::available_address_space;

/// The variable that says from how many pools of memory GNU's library allocates.
const POOLS: &str = "MALLOC_ARENA_MAX";

/// Starts the program again with one pool of memory for all threads, if its address space is
/// limited: otherwise each thread reserves 64 MB of it at a time that nobody knows, so that no
/// estimate of what is left holds. Returns where nothing is to be done or this is not possible.
pub fn share() {
    if env::var_os(POOLS).is_some() || available_address_space().is_none() {
        return;
    }
    let mut arguments = env::args_os();
    let (Ok(program), Some(name)) = (env::current_exe(), arguments.next()) else { return };
    let mut command = Command::new(program);
    // It returns only if it fails: then the memory is that of the estimates or less, as before.
    let _ = command.arg0(name).args(arguments).env(POOLS, "1").exec();
}
