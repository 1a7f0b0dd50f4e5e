//! Damaged model files: an error that names them, never a crash or a wrong result.

use crate::support::{NER_CORPUS, TestDir};

#[test]
fn the_program_reports_flipped_bytes_and_truncated_models() {
    let train = "train train.conll --template my.tpl --model m --quiet";
    let files = [("train.conll", NER_CORPUS), ("my.tpl", "word\nedge: word\n")];
    let dir = TestDir::trained(&files, train);
    let bytes = dir.bytes("m");
    let text = "Ann Lee left Rome.\n";
    let tagged = dir.run_with_stdin("tag m", text).success();
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 25) {
        let mut bad = bytes.clone();
        bad[at] ^= 0xff;
        dir.write("bad", bad);
        let message = dir.run("inspect bad").failure();
        assert!(message.starts_with("bad: "), "byte {at}: {message}");
        let output = dir.run_with_stdin("tag bad", text);
        // Tagging checks only the blocks that it reads.
        if output.status.success() {
            assert_eq!(output.success(), tagged, "byte {at}");
        } else {
            let message = output.failure();
            assert!(message.starts_with("bad: "), "byte {at}: {message}");
        }
    }
    for length in [0, 7, 20, 192, bytes.len() / 2, bytes.len() - 1] {
        dir.write("bad", &bytes[..length]);
        for line in ["inspect bad", "tag bad", "eval bad train.conll"] {
            let message = dir.run(line).failure();
            assert!(message.starts_with("bad: "), "{length}, {line}: {message}");
        }
    }
}
