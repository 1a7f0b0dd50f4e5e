//! All integration tests, in one executable: the program as its users see it, and the rules that
//! its source keeps.

mod boundaries;
