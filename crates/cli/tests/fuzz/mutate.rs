//! Random changes to inputs.

use crate::harness::words;

/// SplitMix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, or 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// A range of at most `limit` bytes of a text of `len` bytes; short ones are more likely.
    fn range(&mut self, len: usize, limit: usize) -> std::ops::Range<usize> {
        let longest = 1 << self.below(1 + limit.max(1).ilog2() as usize);
        let start = self.below(len + 1);
        start..(start + self.below(longest + 1)).min(len)
    }
}

/// Words of every format that mutations insert: numbers at limits, odd characters.
const COMMON: &str = "\
    ␣ ⇥ \" \\ 0 -1 1e308 1e999 nan 65535 4294967296 18446744073709551616 é \u{a0} \u{2028} \
    e\u{301} 👩‍👧 ß İ";

/// Line ends, control characters, and bytes that are not UTF-8.
const BYTES: &[&[u8]] =
    &[b"\n", b"\n\n", b"\r\n", b"\r", b"\0", b"\x0b", b"\xff", b"\xc3", b"\xef\xbb\xbf"];

/// Changes inputs at random.
pub struct Mutator {
    pub random: Random,
    /// Words of the input language, inserted whole.
    dictionary: Vec<Vec<u8>>,
    /// Maximum length of an input, in bytes.
    limit: usize,
}

impl Mutator {
    pub fn new(random: Random, dictionary: &[String], limit: usize) -> Self {
        let common = words(COMMON).into_iter().chain(dictionary.iter().cloned());
        let mut dictionary: Vec<Vec<u8>> = common.map(String::into_bytes).collect();
        dictionary.extend(BYTES.iter().map(|bytes| bytes.to_vec()));
        Self { random, dictionary, limit }
    }

    /// Changes `input` in one to eight places; `other` is an input to take parts from.
    pub fn mutate(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..1 << self.random.below(4) {
            self.mutate_once(input, other);
        }
        input.truncate(self.limit);
    }

    fn mutate_once(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let len = input.len();
        match self.random.below(10) {
            0 => {
                let range = self.random.range(len, 4);
                for byte in &mut input[range] {
                    *byte ^= 1 << self.random.below(8);
                }
            }
            1 => {
                let range = self.random.range(len, 1);
                for byte in &mut input[range] {
                    *byte = self.random.next() as u8;
                }
            }
            2 | 3 => drop(input.drain(self.random.range(len, 256))),
            4 | 5 => {
                let word = self.random.choose(&self.dictionary);
                let word = word.map_or(&[][..], Vec::as_slice);
                let at = self.random.below(len + 1);
                let replaced = if self.random.below(2) == 0 { 0 } else { word.len() };
                input.splice(at..(at + replaced).min(len), word.iter().copied());
            }
            6 => {
                let range = self.random.range(len, 256);
                let copy = input[range].to_vec();
                let at = self.random.below(len + 1);
                let times = 1 << self.random.below(4);
                input.splice(at..at, copy.repeat(times));
            }
            7 => {
                let part = &other[self.random.range(other.len(), 256)];
                let at = self.random.range(len, 256);
                input.splice(at, part.iter().copied());
            }
            8 => self.change_line(input, other),
            _ => {
                let (a, b) = (self.random.range(len, 64), self.random.range(len, 64));
                if a.end <= b.start {
                    let moved = input[b.clone()].to_vec();
                    input.drain(b);
                    input.splice(a.start..a.start, moved);
                }
            }
        }
    }

    /// Replaces an integer or a float by one at a limit, or by a neighbor of another integer. Most
    /// are aligned to four bytes; tables of hashes, which are mostly zeros, are seldom read.
    pub fn change_number(&mut self, input: &mut [u8]) {
        let integer = |at: usize| {
            let bytes = input.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            u32::from_le_bytes(bytes.unwrap_or_default())
        };
        let places: Vec<usize> =
            (0..input.len()).step_by(4).filter(|&at| integer(at) != 0).collect();
        let any = self.random.below(input.len());
        let at = match self.random.below(4) {
            0 => any,
            _ => self.random.choose(&places).copied().unwrap_or(any),
        };
        let floats = [f64::NAN, f64::INFINITY, f64::MAX, -0.0, 1e-310];
        let other = integer(any & !3);
        let numbers = [
            // Of 16 and 32 bits in the header of a model.
            vec![251, 0xff, 0xff],
            vec![252, 0xff, 0xff, 0xff, 0x7f],
            vec![0xff; 8],
            self.random.choose(&floats).unwrap().to_le_bytes().to_vec(),
            (self.random.below(4) as u32).to_le_bytes().to_vec(),
            (input.len() as u32).to_le_bytes().to_vec(),
            other.to_le_bytes().to_vec(),
            integer(at).wrapping_add(1).to_le_bytes().to_vec(),
            integer(at).wrapping_sub(4).to_le_bytes().to_vec(),
        ];
        let number = self.random.choose(&numbers).unwrap();
        for (byte, new) in input.iter_mut().skip(at).zip(number) {
            *byte = *new;
        }
    }

    /// Removes, repeats or replaces a whole line.
    fn change_line(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|&b| b == b'\n').collect();
        let others: Vec<&[u8]> = other.split_inclusive(|&b| b == b'\n').collect();
        let at = self.random.below(lines.len());
        let line = self.random.choose(&others).copied().unwrap_or(b"\n");
        match self.random.below(4) {
            0 if !lines.is_empty() => drop(lines.remove(at)),
            1 if !lines.is_empty() => lines.insert(at, lines[at]),
            2 if !lines.is_empty() => lines[at] = line,
            _ => lines.insert(at, line),
        }
        *input = lines.concat();
    }
}
