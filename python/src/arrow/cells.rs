//! Arrays of strings and of lists, whatever the width of their offsets.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, LargeStringArray, ListArray, StringArray};
use arrow_array::{OffsetSizeTrait, StringViewArray};
use arrow_schema::DataType;

/// An array of strings.
#[derive(Clone, Copy)]
pub enum Strings<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
    /// Nothing but nulls: libraries that infer types have no other for them.
    Nulls,
}

impl<'a> Strings<'a> {
    /// Returns an array as strings; `None` if it has none.
    pub fn of(array: &'a ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::Small(array.as_string()),
            DataType::LargeUtf8 => Self::Large(array.as_string()),
            DataType::Utf8View => Self::View(array.as_string_view()),
            DataType::Null => Self::Nulls,
            _ => return None,
        })
    }

    /// Returns string `i`, or `None` if it is null.
    pub fn get(self, i: usize) -> Option<&'a str> {
        match self {
            Self::Small(array) => array.is_valid(i).then(|| array.value(i)),
            Self::Large(array) => array.is_valid(i).then(|| array.value(i)),
            Self::View(array) => array.is_valid(i).then(|| array.value(i)),
            Self::Nulls => None,
        }
    }
}

/// An array of lists.
#[derive(Clone, Copy)]
pub enum Lists<'a> {
    Small(&'a ListArray),
    Large(&'a LargeListArray),
}

impl<'a> Lists<'a> {
    /// Returns an array as lists; `None` if it has none.
    pub fn of(array: &'a ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::List(_) => Self::Small(array.as_list()),
            DataType::LargeList(_) => Self::Large(array.as_list()),
            _ => return None,
        })
    }

    /// Returns the items of all lists.
    pub fn items(self) -> &'a ArrayRef {
        match self {
            Self::Small(array) => array.values(),
            Self::Large(array) => array.values(),
        }
    }

    /// Returns which items list `i` has, or `None` if it is null.
    pub fn get(self, i: usize) -> Option<Range<usize>> {
        match self {
            Self::Small(array) => array.is_valid(i).then(|| range(array.value_offsets(), i)),
            Self::Large(array) => array.is_valid(i).then(|| range(array.value_offsets(), i)),
        }
    }
}

fn range<O: OffsetSizeTrait>(offsets: &[O], i: usize) -> Range<usize> {
    offsets[i].as_usize()..offsets[i + 1].as_usize()
}
