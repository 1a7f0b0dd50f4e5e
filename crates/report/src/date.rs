//! Dates.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;

/// Formats a time to the minute, in UTC, such as `2026-11-25 08:30 UTC`; `None` if no calendar has
/// it.
pub fn utc(time: SystemTime) -> Option<String> {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_secs()).ok()?,
    };
    let time = DateTime::from_timestamp(seconds, 0)?;
    Some(time.format("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_dates_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_795_770_698, "2026-11-27 09:11 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(utc(time).as_deref(), Some(expected));
        }
        assert_eq!(
            utc(UNIX_EPOCH - Duration::from_secs(1)).as_deref(),
            Some("1969-12-31 23:59 UTC")
        );
    }
}
