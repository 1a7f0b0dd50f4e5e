"""Tests that need neither corpora nor the program.

python3 -m unittest discover -s benches/reproduce
"""

import json, os, pathlib, re, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cached, corpora, documents, fast, labeled, logistic, paper, picture, report
import runs, significance, svm, tables, tuning


class FakeRunner:
    """Scores settings by a function instead of training."""

    def __init__(self, score, noise=lambda settings: 1.0):
        self.score, self.noise, self.deleted = score, noise, []

    def train(self, task, candidates):
        run = lambda s: runs.Run(task, s, str(s), self.score(s), 30, 1.0, 0.0, self.noise(s))
        return [run(settings) for settings in candidates]

    def train_all(self, jobs):
        return [self.train(task, [settings])[0] for task, settings in jobs]

    def delete_models(self, candidates, chosen):
        kept = chosen and chosen.stem
        self.deleted += [run.stem for run in candidates if run.stem != kept]


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

    def test_folds_hold_out_every_document_once_and_keep_it_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train")
            mark = ["-DOCSTART- O\n"]
            documents = [[mark, *([[f"d{d}s{s} O\n"] for s in range(d + 2)])] for d in range(7)]
            corpora.write_sentences(path, (lines for d in documents for lines in d))
            files = {"train": path, "dev": "dev", "test": "never read"}
            corpus = corpora.Corpus("c", "C", files, corpora.NAMES)
            parts = list(corpora.folds(corpus, 3, folder))
            self.assertEqual([part.name for part in parts], [f"c.fold{i}of3" for i in (1, 2, 3)])
            held_out = []
            for part in parts:
                self.assertEqual(part.files["dev"], "dev")
                train = corpora.read_documents(part.files["train"])
                test = corpora.read_documents(part.files["test"])
                self.assertTrue(all(document in documents for document in train + test))
                self.assertEqual(len(train) + len(test), 7)
                self.assertFalse([document for document in test if document in train])
                held_out += test
            self.assertEqual(sorted(held_out), sorted(documents))
            sizes = [sum(map(len, corpora.read_documents(p.files["test"]))) for p in parts]
            self.assertLess(max(sizes) - min(sizes), 9)

    def test_without_document_marks_folds_consist_of_adjacent_sentences(self):
        with tempfile.TemporaryDirectory() as folder:
            corpus = write_corpus(folder, (100, 2, 2))
            for part in corpora.folds(corpus, 2, folder):
                numbers = [
                    int(s[0].split()[0].removeprefix("train"))
                    for s in corpora.read_sentences(part.files["test"])
                ]
                blocks = [numbers[i : i + corpora.BLOCK] for i in range(0, len(numbers), 20)]
                self.assertIn(len(blocks), (2, 3))
                for block in blocks:
                    self.assertEqual(block, list(range(block[0], block[0] + corpora.BLOCK)))
            with self.assertRaisesRegex(corpora.UserError, "--folds 6: .* has 5 blocks of 20"):
                list(corpora.folds(corpus, 6, folder))

    def test_the_first_document_needs_no_mark(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# newdoc id = a\n1\ta\n\n1\tb\n\n# newdoc\n1\tc\n")
            sentences = [["# newdoc id = a\n", "1\ta\n"], ["1\tb\n"]]
            expected = [sentences, [["# newdoc\n", "1\tc\n"]]]
            self.assertEqual(corpora.read_documents(path), expected)
            with open(path, "w", encoding="utf-8") as file:
                file.write("a O\n-DOCSTART- O\nb O\n")
            expected = [[["a O\n"]], [["-DOCSTART- O\n"], ["b O\n"]]]
            self.assertEqual(corpora.read_documents(path), expected)

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
        start = {"dropout": 0.3, "edge-dropout": 0.6, "l2": 0.1}
        chosen = tuning.climb(runner, TASK, start, list(start))
        self.assertEqual((chosen.run.settings, chosen.at_edge), (top, []))
        self.assertEqual(len(runner.deleted), chosen.tried - 1)

    def test_dropout_is_searched_with_and_without_warm_up(self):
        # With a warm-up the best is 0.2, without one, and better, 0.5 and no L2.
        def score(s):
            dropout, l2, top = (0.2, 0.1, 0.8) if s["warm-up"] else (0.5, 0.0, 0.9)
            offset = lambda axis, to: tuning.AXES[axis].index(s[axis]) - tuning.AXES[axis].index(to)
            return top - abs(offset("dropout", dropout)) - abs(offset("l2", l2))

        runner = FakeRunner(score)
        chosen = tuning.dropout(runner, TASK)
        settings = {"dropout": 0.5, "edge-dropout": 0.6, "l2": 0.0, "warm-up": 0}
        self.assertEqual((chosen.run.settings, chosen.at_edge), (settings, []))
        self.assertEqual(len(set(runner.deleted)), chosen.tried - 1)
        self.assertNotIn(chosen.run.stem, runner.deleted)

    def test_a_model_from_within_the_warm_up_is_not_dropout(self):
        noise = lambda s: 0.0 if s["warm-up"] else 1.0
        chosen = tuning.dropout(FakeRunner(lambda s: 0.9 if s["warm-up"] else 0.5, noise), TASK)
        self.assertEqual((chosen.run.settings["warm-up"], chosen.run.score), (0, 0.5))

    def test_unlabeled_text_starts_from_the_choice_without_it(self):
        settings = {"dropout": 0.1, "l2": 3.0, "warm-up": 20}
        (run,) = FakeRunner(lambda s: 1.0).train(TASK, [settings])
        without = tuning.Chosen(run, 1, [])
        chosen = tuning.unlabeled(FakeRunner(lambda s: 0.0), TASK, "text", without)
        expected = {**settings, "unlabeled-weight": 0.02}
        self.assertEqual(chosen.run.settings, expected)
        self.assertEqual(chosen.run.task.unlabeled, "text")
        in_warm_up = FakeRunner(lambda s: 0.0, lambda s: 0.0 if s["warm-up"] else 1.0)
        chosen = tuning.unlabeled(in_warm_up, TASK, "text", without)
        self.assertEqual(chosen.run.settings, {**expected, "warm-up": 0})

    def test_both_ends_of_a_valley_of_weights_are_searched(self):
        settings = {"dropout": 0.3, "l2": 0.1}
        (run,) = FakeRunner(lambda s: 1.0).train(TASK, [settings])
        for best in (0.05, 5.0):
            valley = dict(zip(tuning.WEIGHT, (0.6, 0.7, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)))
            valley[best] = 0.9
            score = lambda s: valley[s["unlabeled-weight"]] if s["dropout"] == 0.3 else 0.0
            chosen = tuning.unlabeled(FakeRunner(score), TASK, "text", tuning.Chosen(run, 1, []))
            self.assertEqual(chosen.run.settings["unlabeled-weight"], best)


class Commands(unittest.TestCase):
    def command(self, stop):
        files = {"train": "TRAIN", "dev": "DEV", "test": "TEST"}
        task = runs.Task(corpora.Corpus("c", "C", files, ("--x",)), stop=stop)
        return task, runs.Runner.command(None, task, {"l2": 0.1, "warm-up": 0})

    def test_only_training_that_stops_on_development_data_reads_them(self):
        task, command = self.command(runs.DEV)
        self.assertEqual(command[:4], ["train", "TRAIN", "--dev", "DEV"])
        self.assertEqual(command[-4:], ["--l2", "0.1", "--warm-up", "0"])
        converged, command = self.command(runs.CONVERGENCE)
        self.assertEqual(command[:4], ["train", "TRAIN", "--max-iterations", "500"])
        self.assertNotIn("DEV", command)
        self.assertNotEqual(task.name, converged.name)

    def test_a_log_without_scores_gets_that_of_the_model(self):
        class Evaluator(runs.Runner):
            def __init__(self):
                pass

            def call(self, *command):
                assert command[:3] == ("eval", "MODEL", "DEV"), command
                return '{"f1": 0.25, "accuracy": 0.5}'

        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            with open(log, "w", encoding="utf-8") as file:
                file.write('{"event": "iteration"}\n{"event": "end"}\n')
            Evaluator().add_evaluation(log, self.command(runs.CONVERGENCE)[0], "MODEL")
            with open(log, encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
        self.assertEqual(events[1], {"event": "evaluation", "dev_f1": 0.25})
        self.assertEqual([e["event"] for e in events], ["iteration", "evaluation", "end"])


class Significance(unittest.TestCase):
    def test_critical_values_of_t_have_their_probability(self):
        for freedom, t in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262)):
            self.assertAlmostEqual(significance.two_sided(t, freedom), 0.05, delta=1e-4)
        self.assertEqual(significance.two_sided(0, 4), 1)

    def test_folds_are_paired_and_overlapping_training_data_widen_the_error(self):
        result = significance.paired_t([1.0, 2.0, 0.0, 1.0, 1.0])
        self.assertEqual((result["mean"], result["ahead"]), (1, 4))
        self.assertAlmostEqual(result["deviation"], 0.5**0.5)
        t = 1 / (0.5 * (1 / 5 + 1 / 4)) ** 0.5
        self.assertAlmostEqual(result["p_value"], significance.two_sided(t, 4))
        self.assertEqual(significance.paired_t([0.0, 0.0])["p_value"], 1)
        self.assertEqual(significance.paired_t([0.5, 0.5])["p_value"], 0)


class Folds(unittest.TestCase):
    def test_rows_over_folds_have_means_deviations_and_paired_differences(self):
        f1 = {"a1": 0.5, "a2": 0.7, "b1": 0.6, "b2": 0.7, "L2.conll": 0.6, "Dropout.conll": 0.65}

        class Evaluator:
            def evaluate(self, corpus, gold, tagged):
                score = f1[os.path.basename(tagged)]
                return {"f1": score, "accuracy": 0.9, "precision": 1, "recall": 1, "types": {}}

            def compare(self, corpus, gold, a, b):
                return {"difference": 0.05, "interval": [0.01, 0.09], "p_value": 0.02}

        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            for name in ("a1", "a2", "b1", "b2", "gold1", "gold2"):
                corpora.write_sentences(path(name), [["a O\n"]])
            tagged = {"L2": [path("a1"), path("a2")], "Dropout": [path("b1"), path("b2")]}
            golds = [path("gold1"), path("gold2")]
            row = tables.over_parts(Evaluator(), TASK, golds, tagged, folder)
        scores, (comparison,) = row["scores"], row["comparisons"]
        self.assertAlmostEqual(scores["L2"]["score"], 60)
        self.assertAlmostEqual(scores["L2"]["deviation"], 200**0.5)
        self.assertAlmostEqual(scores["Dropout"]["pooled"], 65)
        self.assertAlmostEqual(comparison["over_parts"]["mean"], 5)
        self.assertEqual(comparison["over_parts"]["ahead"], 1)
        text = "\n".join(report.over_parts({"table": "t", "columns": list(tagged), "folds": [row]}))
        self.assertIn("| C | 1 | dev | 2 | 60.00 ± 14.14 | 65.00 ± 7.07 \\* |", text)
        self.assertIn("| C | 1 | dev | Dropout − L2 | +5.00 ± 7.07 | 1 of 2 | 0.020 |", text)


class Stars(unittest.TestCase):
    def test_stars_count_the_levels_that_p_is_below(self):
        for p, stars in ((0.05, ""), (0.04, "*"), (0.009, "**"), (0.0009995, "***")):
            row = {"comparisons": [{"a": "L2", "b": "Dropout", "p_value": p}]}
            self.assertEqual(report.stars(row, "Dropout"), stars)


class LabeledLines(unittest.TestCase):
    LINES = [("a", f"a{i}") for i in range(25)] + [("b", f"b{i}") for i in range(50)]

    def test_each_line_is_test_data_once_and_folds_have_their_share_of_each_class(self):
        tested = []
        for train, test in labeled.divide(labeled.Corpus("c", self.LINES), 5):
            self.assertEqual(sorted(train + test), sorted(self.LINES))
            self.assertEqual([sum(label == c for label, _ in test) for c in "ab"], [5, 10])
            tested += test
        self.assertEqual(sorted(tested), sorted(self.LINES))

    def test_given_test_lines_are_the_only_division(self):
        corpus = labeled.Corpus("c", self.LINES, [("a", "x")])
        self.assertEqual(labeled.divide(corpus, 5), [(self.LINES, [("a", "x")])])

    def test_held_out_tenths_are_disjoint_and_left_out_of_the_rest(self):
        held_out = []
        for rest, part in labeled.hold_out(self.LINES, 10):
            self.assertFalse(set(rest) & set(part))
            self.assertEqual(len(rest) + len(part), len(self.LINES))
            held_out += part
        self.assertEqual(sorted(held_out), sorted(self.LINES))

    def test_small_training_data_do_not_overlap(self):
        found = labeled.divide_small(labeled.Corpus("c", self.LINES), 12, 5)
        for lines in zip(*found):
            everything = sum(lines, [])
            self.assertEqual(len(everything), len(set(everything)))
        for train, test in found:
            self.assertEqual((len(train), len(test)), (12, 15))
            self.assertEqual(sum(label == "a" for label, _ in train), 4)
            self.assertFalse(set(train) & set(test))
        (train, test), *_ = labeled.divide_small(labeled.Corpus("c", self.LINES), 40, 5)
        self.assertEqual(len(set(train)), 40)
        self.assertFalse(set(train) & set(test))

    def test_texts_become_words_and_pairs_of_words(self):
        corpus = labeled.Corpus("c", [("a", "Not good not")], [("b", "good film")])
        found = labeled.with_features(corpus)
        self.assertEqual(found.suffix, ".svm")
        ((label, train),), ((_, test),) = found.train, found.test
        self.assertEqual((label, len(train.split()), len(test.split())), ("a", 4, 3))
        self.assertEqual(len(set(train.split()) & set(test.split())), 1)
        self.assertEqual(labeled.with_features(found), found)

    def test_copies_keep_the_mean_and_begin_with_those_of_fewer(self):
        lines = [("a", "1:2 7:1")] * 50
        copies = list(labeled.corrupted(lines, 0.75, 40, 3))
        self.assertEqual(copies[:100], list(labeled.corrupted(lines, 0.75, 2, 3)))
        values = [labeled.parse(body).get(1, 0) for _, body in copies]
        self.assertEqual(set(values), {0, 8})
        self.assertAlmostEqual(sum(values) / len(values), 2, delta=0.3)

    def test_svmlight_files_are_read_without_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.svm")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# all\n+1 1:2 3:4 # one\n-1\n")
            self.assertEqual(labeled.read_lines(path), [("+1", "1:2 3:4"), ("-1", "")])
            with self.assertRaises(SystemExit):
                labeled.read("c", path, os.path.join(folder, "f.tsv"))


class Margins(unittest.TestCase):
    def test_predictions_are_compared_with_labels(self):
        found = cached.rightness("a\t0.9\nb b\t0.6\na\t0.5\n", "a\tx\nb b\ty\nb b\tz\n", "\t")
        self.assertEqual(found["right"], "110")
        self.assertAlmostEqual(found["error"], 100 / 3)
        with self.assertRaises(ValueError):
            cached.rightness("a\t0.9\n", "a\tx\nb\ty\n", "\t")

    def test_strengths_are_chosen_on_held_out_documents_and_the_test_is_read_once(self):
        class Fake:
            read = []

            def score(self, train, options, test):
                self.read.append((train, test))
                return {"error": {"1": 3.0, "2": 1.0, "3": 2.0}[options[-1]], "options": options}

        class Parts:
            train, test, inner = "train", "test", [("rest", "held-out")]

        fake = Fake()
        found = svm.chosen_score(fake, Parts, [["--l2", x] for x in "123"])
        self.assertEqual((found["options"], found["held_out"]), (["--l2", "2"], 1))
        self.assertEqual(fake.read, [("rest", "held-out")] * 3 + [("train", "test")])

    def test_strengths_for_copies_stand_for_their_mean(self):
        self.assertEqual(svm.copy_options("0.3", 4)[-2:], ["--l2", "1.2"])

    def test_differences_are_tested_over_divisions_or_documents(self):
        ours = [{"error": 10.0, "right": "111110"}, {"error": 11.0, "right": "111111"}]
        others = [{"error": 12.0, "right": "000000"}, {"error": 13.0, "right": "111111"}]
        self.assertEqual(svm.difference(ours, others), ["-2.00", "0.000"])
        self.assertEqual(svm.difference(ours[:1], others[:1]), ["-2.00", "0.062"])

    def test_tables_have_chosen_rates_and_strengths_at_the_edge(self):
        class Arguments:
            rates, strengths = ("0", "0.5"), ("1", "2", "3")

        results = {}
        for method, errors in (("A", (20.0, 10.0)), ("B", (15.0, 16.0))):
            for rate, error in zip(Arguments.rates, errors):
                for part in range(2):
                    results[method, rate, part] = {
                        "error": error + part, "held_out": error, "run": "x",
                        "options": "--l2 2" if rate == "0" else "--l2 3", "right": "1",
                    }
        found = svm.by_rate(results, ["A", "B"], Arguments, 2)
        text = "\n".join(found["text"])
        self.assertIn("| 0.5 | 10.50 ± 0.71 | 16.50 ± 0.71 |", text)
        self.assertIn("| A | 0.5, 0.5 | 20.50 ± 0.71 | 10.50 ± 0.71 | -10.00 | 0.000 |  |  |", text)
        self.assertIn("| B | 0, 0 | 15.50 ± 0.71 | 15.50 ± 0.71 | +0.00 | 1.000 | +5.00 |", text)
        self.assertIn("4 of 8 chosen strengths are at an end of the grid", text)
        self.assertEqual(found["results"]["A"]["0"][0].keys(), {"error", "held_out", "options"})

    def test_the_paper_has_all_linear_methods(self):
        self.assertEqual(set(svm.TABLE3), set(svm.METHODS))


class SignTest(unittest.TestCase):
    def test_p_values_are_those_of_a_fair_coin(self):
        self.assertEqual(significance.sign_test(0, 0), 1)
        self.assertEqual(significance.sign_test(3, 3), 1)
        self.assertEqual(significance.sign_test(0, 6), 2 / 64)
        self.assertEqual(significance.sign_test(5, 1), 14 / 64)



class Documents(unittest.TestCase):
    def test_one_division_has_the_p_value_of_the_bootstrap_and_a_description(self):
        part = {"L2": {"accuracy": 80.0, "chosen": {}},
                "Dropout": {"accuracy": 82.5, "chosen": {}, "p_value": 0.125}}
        description = {"q": 81, "d": 62061, "K": 20, "N_train": 15935, "N_test": 3993}
        results = {"20news": {"description": description, "parts": [part]}}
        text = documents.table("table2", results, None)
        self.assertIn("| 20news | L2 | 82.19 | 80.00 |  |  |  |\n", text)
        self.assertIn("| 20news | Dropout | 83.37 | 82.50 |  | +2.50 | 0.125 |\n", text)
        self.assertIn("| 20news | 81 | 62061 | 20 | 15935 | 3993 |\n", text)

    def test_settings_are_chosen_on_tenths_and_the_test_trains_on_all(self):
        class Trainer:
            inner, jobs, suffix = 2, 1, ".txt"
            file = documents.Program.file
            held_out, trained, unlabeled = [], [], []

            def accuracy(self, rest, held_out, settings, unlabeled):
                self.unlabeled.append([path.read_text() for path in unlabeled])
                sizes = [len(path.read_text().splitlines()) for path in (rest, held_out)]
                self.held_out.append(sizes)
                return 80 + float(settings["l2"]) - float(settings["dropout"])

            def train(self, train, model, settings, unlabeled):
                self.trained.append((train.name, settings))

        with tempfile.TemporaryDirectory() as folder:
            trainer, folder = Trainer(), pathlib.Path(folder)
            trainer.file(folder, "train").write_text("a\tb\n" * 30)
            options = ["--noise", "gaussian-scores", "--dropout", "0.5,0.1", "--l2", "1,2"]
            chosen = documents.converged(trainer, folder, folder / "model", options, [])
            documents.converged(trainer, folder, folder / "model", options, [], True)
        self.assertEqual(chosen.pop("held_out"), 81.9)
        self.assertEqual(chosen, {"noise": "gaussian-scores", "dropout": "0.1", "l2": "2"})
        self.assertEqual(trainer.held_out, [[27, 3]] * 16)
        self.assertEqual(trainer.trained, [("train.txt", chosen)] * 2)
        self.assertEqual(trainer.unlabeled, [[]] * 8 + [["b\n" * 3]] * 8)


class Logistic(unittest.TestCase):
    def test_the_expansion_is_the_penalty_of_small_noise(self):
        for score in (-3.0, 0.0, 1.0):
            exact = logistic.penalty(score, 1e-4)
            self.assertAlmostEqual(exact / logistic.quadratic_penalty(score, 1e-4), 1, delta=1e-3)
        # Of a large deviation σ around 0, E max(0, d) = σ/√(2π) remains.
        self.assertAlmostEqual(logistic.penalty(0.0, 1e6), 1000 / (2 * 3.14159265) ** 0.5 -
                               0.6931, delta=0.1)

    def test_sampled_penalties_are_those_of_gaussian_scores_if_features_are_many(self):
        lines = [("a", " ".join(f"{j}:1" for j in range(1, 101)))] * 50
        documents = logistic.Documents([*lines, ("b", "101:1")])
        weights = {j: 0.1 * (-1) ** j for j in range(1, 101)}
        sampled = documents.sampled_penalty(0.0, weights, 0.5, 100, 1)
        scores, variances = documents.scores(0.0, weights), documents.variances(weights, 0.5)
        expected = sum(map(logistic.penalty, scores, variances))
        self.assertAlmostEqual(sampled / expected, 1, delta=0.05)


class Pictures(unittest.TestCase):
    def test_a_description_has_axes_and_styles(self):
        with tempfile.TemporaryDirectory() as folder:
            path = picture.describe(f"{folder}/a-0.5", "t", ("λ", "log"), "y",
                                    [("a", [(1, 2)]), ("b", [(1, 2, 0, 3)], "points")])
            self.assertEqual(path.name, "a-0.5.json")
            sheet = json.loads(path.read_text())
        self.assertEqual(sheet["panels"][0]["x"], {"label": "λ", "scale": "log"})
        styles = [line["style"] for line in sheet["panels"][0]["series"]]
        self.assertEqual(styles, ["line", "points"])


class Gradients(unittest.TestCase):
    def test_the_gradient_of_gaussian_scores_is_that_of_their_expected_loss(self):
        documents = logistic.Documents([("a", "1:1 2:1"), ("b", "1:1 3:2")])
        weights = {1: 0.5, 2: -1.0, 3: 0.3}

        def loss(weights):
            pairs = zip(documents.labels, documents.scores(0.1, weights),
                        documents.variances(weights, fast.RATE))
            return sum(logistic.gaussian(logistic.softplus, d, v) - y * d for y, d, v in pairs)

        gradient = fast.expected(documents, 0.1, weights, True)
        for j in weights:
            step = 1e-5
            up, down = ({**weights, j: weights[j] + s} for s in (step, -step))
            slope = (loss(up) - loss(down)) / (2 * step)
            self.assertAlmostEqual(gradient[j], -slope, places=4)


class PaperPage(unittest.TestCase):
    page = (pathlib.Path(__file__).resolve().parents[1] /
            "record/2026-11-26-papers/side-by-side.md")

    def test_no_cell_is_empty(self):
        for number, line in enumerate(self.page.read_text().splitlines(), 1):
            if line.startswith("|"):
                cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                self.assertTrue(all(cells), f"{number}: {line}")

    def test_its_pictures_records_and_commands_exist(self):
        text = self.page.read_text()
        for path in re.findall(r"(?:\]\(|\]: )([\w./-]+\.(?:md|svg))", text):
            self.assertTrue((self.page.parent / path).exists(), path)
        # Of an earlier program, which had regressions and hidden units.
        gone = re.compile(r"notes\.py|hidden\.py|svm\.py (regression|latent)")
        for script, mode in re.findall(r"`(\w+\.py) (\w+)", text):
            if gone.match(f"{script} {mode}"):
                continue
            script = "tables.py" if script == "reproduce.py" else script
            usage = (pathlib.Path(__file__).parent / script).read_text()
            self.assertIn(f'"{mode}"', usage, f"{script} {mode}")


class MissingCorpora(unittest.TestCase):
    def test_an_empty_folder_is_an_error_that_says_what_belongs_there(self):
        with tempfile.TemporaryDirectory() as folder:
            for read in (labeled.read_reviews, labeled.read_snippets):
                with self.assertRaises(SystemExit) as error:
                    read(pathlib.Path(folder))
                self.assertIn("corpora/fetch.sh", str(error.exception))


if __name__ == "__main__":
    unittest.main()
