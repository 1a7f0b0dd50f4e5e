//! The memory that is available to this process.

use std::fs;
use std::path::Path;

/// Returns the memory in bytes that this process can still allocate; `None` if the system does not
/// report it (only Linux does).
///
/// It is the least of the free memory of the machine, the rest of the limits of the control groups
/// (version 1 or 2) of containers and batch systems, and the rest of `ulimit -v`.
pub fn available_memory() -> Option<u64> {
    System { root: Path::new("/") }.available()
}

/// Returns what is left of the limit on the address space (`ulimit -v`), in bytes; `None` without
/// such a limit.
pub fn available_address_space() -> Option<u64> {
    System { root: Path::new("/") }.address_space()
}

/// The pseudo-files of Linux.
struct System<'a> {
    root: &'a Path,
}

impl System<'_> {
    fn available(&self) -> Option<u64> {
        let machine = self.field("proc/meminfo", "MemAvailable:");
        [machine, self.control_groups(), self.address_space()].into_iter().flatten().min()
    }

    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// The value of a field in kilobytes, in bytes.
    fn field(&self, path: &str, name: &str) -> Option<u64> {
        let text = self.read(path)?;
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1024)
    }

    /// What is left of the limit on the address space (`ulimit -v`).
    fn address_space(&self) -> Option<u64> {
        let text = self.read("proc/self/limits")?;
        let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        let used = self.field("proc/self/status", "VmSize:")?;
        Some(limit.saturating_sub(used))
    }

    /// What is left of the limits of the control groups of this process and their ancestors.
    ///
    /// Inside a container the path of the group may be that of the host, which is not mounted; the
    /// group is then the root of the mounted hierarchy.
    fn control_groups(&self) -> Option<u64> {
        let groups = self.read("proc/self/cgroup")?;
        let left = groups.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let hierarchy = if controllers.is_empty() {
                &V2
            } else if controllers.split(',').any(|name| name == "memory") {
                &V1
            } else {
                return None;
            };
            let group = Path::new(hierarchy.mount).join(path.trim_start_matches('/'));
            let folders = group.ancestors();
            let folders = folders.take_while(|folder| folder.starts_with(hierarchy.mount));
            folders.filter_map(|folder| self.left_in_group(folder, hierarchy)).min()
        });
        left.min()
    }

    /// What is left of the limit of a control group. Its page cache is not counted as used, since
    /// the kernel reclaims it.
    fn left_in_group(&self, folder: &Path, hierarchy: &Hierarchy) -> Option<u64> {
        let number = |name: &str| self.read(folder.join(name))?.trim().parse::<u64>().ok();
        let limit = number(hierarchy.limit)?; // not a number: `max`
        let statistics = self.read(folder.join("memory.stat")).unwrap_or_default();
        let cache = statistics.lines().find_map(|line| {
            let (name, value) = line.split_once(' ')?;
            (name == hierarchy.cache).then(|| value.parse().ok())?
        });
        let used = number(hierarchy.usage)?.saturating_sub(cache.unwrap_or(0));
        Some(limit.saturating_sub(used))
    }
}

/// The files of a version of control groups.
struct Hierarchy {
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    cache: &'static str, // the entry of `memory.stat` that is reclaimed first
}

const V1: Hierarchy = Hierarchy {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: "total_inactive_file",
};

const V2: Hierarchy = Hierarchy {
    mount: "sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    cache: "inactive_file",
};

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n";

    /// The available memory of a system with these files.
    fn available(files: &[(&str, &str)]) -> Option<u64> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        System { root: directory.path() }.available()
    }

    #[test]
    fn the_machine_reports_its_available_memory() {
        assert_eq!(available(&[("proc/meminfo", MEMINFO)]), Some(8000 * 1024));
        assert_eq!(available(&[("proc/meminfo", "MemAvailable: much\n")]), None);
        assert_eq!(available(&[]), None);
    }

    #[test]
    fn a_control_group_of_version_2_limits_it_even_an_ancestor() {
        let mut files = vec![
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "0::/job/step\n"),
            ("sys/fs/cgroup/job/step/memory.max", "max\n"),
            ("sys/fs/cgroup/job/step/memory.current", "10\n"),
            ("sys/fs/cgroup/job/memory.max", "5000000\n"),
            ("sys/fs/cgroup/job/memory.current", "1000000\n"),
        ];
        assert_eq!(available(&files), Some(4_000_000));
        files.push(("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 600000\n"));
        assert_eq!(available(&files), Some(4_600_000));
        files.push(("sys/fs/cgroup/job/step/memory.max", "30\n"));
        assert_eq!(available(&files), Some(20));
    }

    #[test]
    fn a_control_group_of_version_1_limits_it_even_if_its_path_is_the_hosts() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "5:devices:/\n4:memory:/docker/ab:c\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500000\n"),
        ];
        assert_eq!(available(&files), Some(1_500_000));
    }

    #[test]
    fn a_limit_on_the_address_space_limits_it() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space  5000000  unlimited  \
                      bytes\n";
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/limits", limits),
            ("proc/self/status", "VmSize:\t 1000 kB\n"),
        ];
        assert_eq!(available(&files), Some(5_000_000 - 1_024_000));
        let unlimited = limits.replace("5000000", "unlimited");
        let files = [files[0], ("proc/self/limits", &unlimited), files[2]];
        assert_eq!(available(&files), Some(8000 * 1024));
    }
}
