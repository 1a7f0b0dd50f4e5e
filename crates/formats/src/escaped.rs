//! Text in HTML pages.

use std::fmt;

/// A text as it stands in an element or in a quoted attribute of a page, wherever it comes from. CR
/// alone would become LF there, control characters are not allowed, and those of the direction of
/// text would change what is around them: U+FFFD stands for them.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = 0;
        for (i, c) in self.0.char_indices() {
            let escape = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                '\r' => "&#13;",
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "\u{fffd}",
                c if c.is_control() && !c.is_whitespace() => "\u{fffd}",
                _ => continue,
            };
            f.write_str(&self.0[written..i])?;
            f.write_str(escape)?;
            written = i + c.len_utf8();
        }
        f.write_str(&self.0[written..])
    }
}

#[cfg(test)]
mod tests {
    use super::Escaped;

    #[test]
    fn markup_is_text() {
        let escaped = |text| Escaped(text).to_string();
        let markup = escaped("<b a=\"'\">&</b>");
        assert_eq!(markup, "&lt;b a=&quot;&#39;&quot;&gt;&amp;&lt;/b&gt;");
        assert_eq!(escaped("a\0b\tc\r\né\u{9b}"), "a\u{fffd}b\tc&#13;\né\u{fffd}");
        assert_eq!(escaped("a\u{202e}b\u{2069}\u{200f}"), "a\u{fffd}b\u{fffd}\u{200f}");
        assert_eq!(escaped(""), "");
    }
}
