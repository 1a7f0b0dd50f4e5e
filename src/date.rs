//! Dates of the calendar.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds of a day, and days of 400 years.
const DAY: u64 = 86_400;
const ERA: u64 = 146_097;

/// Returns the seconds since 1970 of a time; `None` if it is before.
pub fn seconds(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).ok().map(|duration| duration.as_secs())
}

/// Formats seconds since 1970 in UTC, as RFC 3339: `2026-11-27T09:11:38Z`.
pub fn utc(seconds: u64) -> String {
    // Years begin in March, so that the leap day is the last one (Hinnant, "chrono-compatible
    // low-level date algorithms", 2013).
    let days = seconds / DAY + 719_468; // since March 1 of year 0
    let day = days % ERA;
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // from March
    let (is_next_year, day) = (month >= 10, day - (153 * month + 2) / 5 + 1);
    let month = if is_next_year { month - 9 } else { month + 3 };
    let year = year + 400 * (days / ERA) + u64::from(is_next_year);
    let (hour, minute, second) = (seconds % DAY / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_770_698, "2026-11-27T09:11:38Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (1_798_761_600, "2027-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
        assert!(utc(u64::MAX).ends_with("15Z"));
    }
}
