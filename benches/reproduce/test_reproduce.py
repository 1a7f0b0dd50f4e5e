"""Tests that need neither corpora nor the program.

python3 -m unittest discover -s benches/reproduce
"""

import os, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import corpora, paper, report, runs, tuning


class FakeRunner:
    """Scores settings by a function instead of training."""

    def __init__(self, score, noise=lambda settings: 1.0):
        self.score, self.noise, self.deleted = score, noise, []

    def train(self, task, candidates):
        run = lambda s: runs.Run(task, s, str(s), self.score(s), 30, 1.0, 0.0, self.noise(s))
        return [run(settings) for settings in candidates]

    def delete_models(self, candidates, chosen):
        self.deleted += [run.stem for run in candidates if run.stem != chosen.stem]


def write_corpus(folder, counts=(20, 10, 9)):
    files = {}
    for split, count in zip(("train", "dev", "test"), counts):
        sentences = [[f"{split}{i} O\n", f"b{i} B-X\n"] for i in range(count)]
        files[split] = corpora.write_sentences(os.path.join(folder, split), sentences)
    return corpora.Corpus("c", "C", files, corpora.NAMES)


TASK = runs.Task(corpora.Corpus("c", "C", {}, ()))


class PaperScores(unittest.TestCase):
    def test_f1_of_the_paper_follows_from_its_precision_and_recall(self):
        for split, types in paper.TABLE6.items():
            for name, columns in types.items():
                for column, (precision, recall, f1) in columns.items():
                    with self.subTest(split=split, type=name, column=column):
                        expected = 2 * precision * recall / (precision + recall)
                        self.assertAlmostEqual(expected, f1, delta=0.02)

    def test_overall_scores_of_table_6_are_those_of_table_4(self):
        for split, columns in paper.TABLE4.items():
            overall = {c: f for c, (_, _, f) in paper.TABLE6[split]["all"].items()}
            self.assertEqual(overall, columns)


class Splits(unittest.TestCase):
    def test_each_sentence_is_test_data_once_and_in_one_part_of_every_rotation(self):
        with tempfile.TemporaryDirectory() as folder:
            corpus = write_corpus(folder)
            first_lines = lambda path: [s[0] for s in corpora.read_sentences(path)]
            everything = sorted(sum(map(first_lines, corpus.files.values()), []))
            tested = []
            for rotation in corpora.thirds(corpus, folder):
                parts = {split: first_lines(path) for split, path in rotation.files.items()}
                self.assertEqual(sorted(sum(parts.values(), [])), everything)
                sizes = [len(parts[s]) for s in ("train", "dev", "test", "unlabeled")]
                self.assertEqual(sizes, [11, 2, 13, 13])
                tested += parts["test"]
            self.assertEqual(sorted(tested), everything)

    def test_document_starts_are_not_sentences(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f")
            with open(path, "w", encoding="utf-8") as file:
                file.write("-DOCSTART- -X- O O\n\na X X O\n-DOCSTART- -X- O O\nb X X O")
            self.assertEqual(list(corpora.read_sentences(path)), [["a X X O\n"], ["b X X O\n"]])

    def test_a_sentence_without_a_genre_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            sentences = [["# sent_id = email-1\n"], ["# text = x\n"]]
            path = corpora.write_sentences(os.path.join(folder, "f"), sentences)
            with self.assertRaisesRegex(corpora.UserError, "sentence 2 has no line"):
                corpora.split_genres(path, folder)


class Searches(unittest.TestCase):
    def test_the_l2_grid_grows_until_the_best_is_not_at_its_edge(self):
        position = tuning.L2.index
        for best, tried in ((0.1, 7), (0.0003, 10), (30.0, 10)):
            runner = FakeRunner(lambda s: -abs(position(s["l2"]) - position(best)))
            chosen = tuning.l2(runner, TASK)
            result = (chosen.run.settings, chosen.tried, chosen.at_edge)
            self.assertEqual(result, ({"l2": best}, tried, []))

    def test_a_best_strength_at_the_end_of_the_range_is_reported(self):
        chosen = tuning.l2(FakeRunner(lambda s: -s["l2"]), TASK)
        self.assertEqual((chosen.run.settings, chosen.at_edge), ({"l2": tuning.L2[0]}, ["l2"]))

    def test_coordinate_search_climbs_to_the_top_of_a_hill(self):
        top = {"dropout": 0.1, "edge-dropout": 0.9, "l2": 0.01}
        offset = lambda s, axis: tuning.AXES[axis].index(s[axis]) - tuning.AXES[axis].index(
            top[axis]
        )
        runner = FakeRunner(lambda s: -sum(abs(offset(s, axis)) for axis in top))
        chosen = tuning.dropout(runner, TASK)
        self.assertEqual((chosen.run.settings, chosen.at_edge), (top, []))
        self.assertEqual(len(runner.deleted), chosen.tried - 1)

    def test_a_run_whose_best_model_is_from_the_warm_up_is_repeated_without_it(self):
        score = lambda s: 0.5 if "warm-up" in s else 0.9
        chosen = tuning.dropout(FakeRunner(score, lambda s: float("warm-up" in s)), TASK)
        settings = {"dropout": 0.3, "edge-dropout": 0.6, "l2": 0.1, "warm-up": 0}
        self.assertEqual(chosen.run.settings, settings)
        self.assertEqual(chosen.run.score, 0.5)

    def test_unlabeled_text_starts_from_the_choice_without_it(self):
        settings = {"dropout": 0.1, "l2": 3.0, "warm-up": 0}
        (run,) = FakeRunner(lambda s: 1.0).train(TASK, [settings])
        without = tuning.Chosen(run, 1, [])
        chosen = tuning.unlabeled(FakeRunner(lambda s: 0.0), TASK, "text", without)
        settings = {"dropout": 0.1, "l2": 3.0, "unlabeled-weight": 0.2}
        self.assertEqual(chosen.run.settings, settings)
        self.assertEqual(chosen.run.task.unlabeled, "text")


class Stars(unittest.TestCase):
    def test_stars_count_the_levels_that_p_is_below(self):
        for p, stars in ((0.05, ""), (0.04, "*"), (0.009, "**"), (0.0009995, "***")):
            row = {"comparisons": [{"a": "L2", "b": "Dropout", "p_value": p}]}
            self.assertEqual(report.stars(row, "Dropout"), stars)


if __name__ == "__main__":
    unittest.main()
