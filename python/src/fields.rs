//! Fields of structs as items of dicts.

/// Sets items of a dict to the fields of an object under their names: `fields!(dict, object,
/// [number, score])`.
macro_rules! fields {
    ($dict:expr, $object:expr, [$($name:ident),+ $(,)?]) => {
        $( $dict.set_item(stringify!($name), &$object.$name)?; )+
    };
}

pub(crate) use fields;
