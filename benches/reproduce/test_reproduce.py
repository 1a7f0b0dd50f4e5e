"""Tests of the reproduction that need no corpora and no program: python3 -m unittest discover -s benches/reproduce"""
import os, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import corpora, paper, report, runs, tuning


class FakeRunner:
    """Scores settings by a function instead of training."""

    def __init__(self, score, noise=lambda settings: 1.0):
        self.score, self.noise, self.cleared = score, noise, []

    def train(self, task, several):
        return [runs.Run(task, s, str(s), self.score(s), 30, 1.0, 0.0, self.noise(s)) for s in several]

    def clear(self, several, kept):
        self.cleared += [run.stem for run in several if run.stem != kept.stem]


def corpus(folder, counts=(20, 10, 9)):
    files = {}
    for split, count in zip(("train", "dev", "test"), counts):
        sentences = [[f"{split}{i} O\n", f"b{i} B-X\n"] for i in range(count)]
        files[split] = corpora.write(os.path.join(folder, split), sentences)
    return corpora.Corpus("c", "C", files, corpora.NAMES)


TASK = runs.Task(corpora.Corpus("c", "C", {}, ()))


class Figures(unittest.TestCase):
    def test_f1_of_the_paper_follows_from_its_precision_and_recall(self):
        for split, types in paper.TABLE6.items():
            for name, columns in types.items():
                for column, (precision, recall, f1) in columns.items():
                    with self.subTest(split=split, type=name, column=column):
                        self.assertAlmostEqual(2 * precision * recall / (precision + recall), f1, delta=0.02)

    def test_the_overall_figures_of_table_6_are_those_of_table_4(self):
        for split, columns in paper.TABLE4.items():
            self.assertEqual({c: f for c, (_, _, f) in paper.TABLE6[split]["all"].items()}, columns)


class Cuts(unittest.TestCase):
    def test_each_sentence_is_test_data_in_one_rotation_and_in_one_part_of_every_rotation(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = corpus(folder)
            everything = sorted(b[0] for split in whole.files.values() for b in corpora.blocks(split))
            tested = []
            for rotation in corpora.thirds(whole, folder):
                parts = {split: [b[0] for b in corpora.blocks(path)] for split, path in rotation.files.items()}
                self.assertEqual(sorted(sum(parts.values(), [])), everything)
                self.assertEqual([len(parts[s]) for s in ("train", "dev", "test", "unlabeled")], [11, 2, 13, 13])
                tested += parts["test"]
            self.assertEqual(sorted(tested), everything)

    def test_beginnings_of_documents_are_no_sentences(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f")
            with open(path, "w", encoding="utf-8") as file:
                file.write("-DOCSTART- -X- O O\n\na X X O\n-DOCSTART- -X- O O\nb X X O")
            self.assertEqual(list(corpora.blocks(path)), [["a X X O\n"], ["b X X O\n"]])

    def test_a_sentence_without_a_genre_is_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            path = corpora.write(os.path.join(folder, "f"), [["# sent_id = email-1\n"], ["# text = x\n"]])
            with self.assertRaisesRegex(corpora.Fault, "sentence 2 has no line"):
                corpora.genres(path, folder)


class Searches(unittest.TestCase):
    def test_the_grid_of_l2_grows_until_the_best_is_not_at_its_edge(self):
        for best, tried in ((0.1, 7), (0.0003, 10), (30.0, 10)):
            values = tuning.L2
            chosen = tuning.l2(FakeRunner(lambda s: -abs(values.index(s["l2"]) - values.index(best))), TASK)
            self.assertEqual((chosen.run.settings, chosen.tried, chosen.edge), ({"l2": best}, tried, []))

    def test_a_best_strength_at_the_end_of_all_is_told(self):
        chosen = tuning.l2(FakeRunner(lambda s: -s["l2"]), TASK)
        self.assertEqual((chosen.run.settings, chosen.edge), ({"l2": tuning.L2[0]}, ["l2"]))

    def test_coordinate_search_climbs_to_the_top_of_a_hill(self):
        top = {"dropout": 0.1, "edge-dropout": 0.9, "l2": 0.01}
        far = lambda s: sum(abs(tuning.AXES[axis].index(s[axis]) - tuning.AXES[axis].index(top[axis])) for axis in top)
        runner = FakeRunner(lambda s: -far(s))
        chosen = tuning.dropout(runner, TASK)
        self.assertEqual((chosen.run.settings, chosen.edge), (top, []))
        self.assertEqual(len(runner.cleared), chosen.tried - 1)

    def test_a_run_whose_model_has_seen_no_noise_is_made_again_without_warm_up(self):
        score = lambda s: 0.5 if "warm-up" in s else 0.9
        chosen = tuning.dropout(FakeRunner(score, lambda s: float("warm-up" in s)), TASK)
        self.assertEqual(chosen.run.settings, {"dropout": 0.3, "edge-dropout": 0.6, "l2": 0.1, "warm-up": 0})
        self.assertEqual(chosen.run.score, 0.5)

    def test_unlabeled_text_starts_from_what_was_chosen_without_it(self):
        found = tuning.Chosen(FakeRunner(lambda s: 1.0).train(TASK, [{"dropout": 0.1, "l2": 3.0, "warm-up": 0}])[0], 1, [])
        chosen = tuning.unlabeled(FakeRunner(lambda s: 0.0), TASK, "text", found)
        self.assertEqual(chosen.run.settings, {"dropout": 0.1, "l2": 3.0, "unlabeled-weight": 0.2})
        self.assertEqual(chosen.run.task.unlabeled, "text")


class Stars(unittest.TestCase):
    def test_stars_count_the_levels_that_p_is_below(self):
        for p, stars in ((0.05, ""), (0.04, "*"), (0.009, "**"), (0.0009995, "***")):
            row = {"comparisons": [{"a": "L2", "b": "Dropout", "p_value": p}]}
            self.assertEqual(report.stars(row, "Dropout"), stars)


if __name__ == "__main__":
    unittest.main()
