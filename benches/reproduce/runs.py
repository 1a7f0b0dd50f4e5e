"""Runs the dropchain program. Each training run is done once; its results are cached."""

import hashlib, json, os, shlex, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from corpora import Corpus, UserError

# How training ends: DEV stops early and keeps the iteration with the best score on development
# data; CONVERGENCE trains until the objective is flat, without reading them.
DEV, CONVERGENCE = "dev", "convergence"
# Exit code of a training whose last step failed: its model is written and as good as converged.
LINE_SEARCH_FAILED = 3
# Without penalties the objective of separable data has no minimum.
MAX_ITERATIONS = 500


@dataclass(frozen=True)
class Task:
    """What to train on, and until when."""

    corpus: Corpus
    order: int = 1  # of the chain
    unlabeled: str = ""  # text for the noise term, a file in the format of the corpus
    stop: str = DEV  # or CONVERGENCE

    @property
    def name(self):
        parts = [self.corpus.name, f"order{self.order}"]
        parts += ["converged"] * (self.stop == CONVERGENCE) + ["unlabeled"] * bool(self.unlabeled)
        return ".".join(parts)


@dataclass(frozen=True)
class Run:
    """A finished training run."""

    task: Task
    settings: dict  # option → number
    stem: str  # path of its log and model, without extension
    score: float  # on development data at that iteration, as a fraction
    iteration: int  # of the model
    seconds: float
    recall_bias: float
    noise: float  # the noise term at that iteration; 0 during the warm-up

    @property
    def model(self):
        return self.stem + ".model"


class Runner:
    """Runs the program with at most `threads` threads in total and caches results in `out`.

    The cache key of a run covers its options and the contents of its files and of the program.
    """

    def __init__(self, program, out, threads):
        if not os.path.isfile(program):
            raise UserError(f"{program} not found; build it with `cargo build --release`")
        self.program, self.out, self.threads = program, out, threads
        self.checksums, self.children, self.stopping = {}, set(), False
        try:
            self.version = self.call("--version").strip()
        except OSError as error:
            raise UserError(
                f"{program}: {error.strerror}; expected the dropchain program"
            ) from None
        if not self.version.startswith("dropchain "):
            first_line = self.version.partition("\n")[0]
            raise UserError(f"{program} prints `{first_line}`; expected the dropchain program")

    def checksum(self, path):
        """Returns the SHA-256 of a file, memoized."""
        if path not in self.checksums:
            with open(path, "rb") as file:
                self.checksums[path] = hashlib.sha256(file.read()).hexdigest()
        return self.checksums[path]

    def call(self, *arguments):
        """Runs the program and returns its standard output."""
        command = [self.program, *arguments]
        if self.stopping:
            raise UserError("stopped")
        # In a new session: Ctrl-C would make training stop early as if it had finished.
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self.children.add(process)
        try:
            out, errors = process.communicate()
        finally:
            self.children.discard(process)
        if process.returncode not in (0, LINE_SEARCH_FAILED):
            raise UserError(
                f"{shlex.join(command)}\nexit status {process.returncode}: "
                f"{errors.strip()[-2000:]}"
            )
        return out

    def stop(self):
        """Kills running processes and starts no more."""
        self.stopping = True
        for process in list(self.children):
            process.kill()

    def command(self, task, settings):
        """Returns the arguments of a training run, except those that cannot affect its result."""
        corpus = task.corpus
        command = ["train", corpus.files["train"]]
        if task.stop == DEV:
            command += ["--dev", corpus.files["dev"]]
        else:
            command += ["--max-iterations", str(MAX_ITERATIONS)]
        command += ["--format", corpus.format, *corpus.train_options, "--order", str(task.order)]
        if task.unlabeled:
            command += ["--unlabeled", task.unlabeled]
        for option, value in settings.items():
            command += [f"--{option}", f"{value:g}"]
        return command

    def stem(self, task, settings):
        """Returns the path of a run's log and model, without extension; it holds the cache key."""
        files = (*task.corpus.files.values(), task.unlabeled)
        parts = [
            self.checksum(part) if part in files else part for part in self.command(task, settings)
        ]
        text = "\n".join([self.checksum(self.program), *parts])
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        name = ",".join(f"{option}={value:g}" for option, value in settings.items())
        return os.path.join(self.out, "runs", task.name, f"{name}.{key}")

    def finished(self, task, settings):
        """Returns the run if its log exists and is complete, else None."""
        stem = self.stem(task, settings)
        try:
            with open(stem + ".jsonl", encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
            end = events[-1]
            if end["stop_reason"] == "interrupted":
                return None
            best = next(e for e in events if e.get("iteration") == end["best_iteration"])
            if task.stop == CONVERGENCE:
                best.update(next(e for e in events if e["event"] == "evaluation"))
            return Run(
                task,
                settings,
                stem,
                score=best["dev_f1" if task.corpus.metric == "f1" else "dev_accuracy"],
                iteration=end["best_iteration"],
                seconds=end["seconds"],
                recall_bias=end["recall_bias"],
                noise=best["dropout"],
            )
        except FileNotFoundError:
            return None
        except (ValueError, LookupError, StopIteration):
            raise UserError(
                f"{stem}.jsonl is not the log of a finished run; delete it to repeat the run"
            ) from None

    def train_one(self, task, settings, threads):
        """Does a run, prints its command and score, and returns it."""
        stem = self.stem(task, settings)
        os.makedirs(os.path.dirname(stem), exist_ok=True)
        part = f"{stem}.{os.getpid()}.part"
        command = [*self.command(task, settings), "--model", stem + ".model"]
        self.print("$ " + shlex.join([self.program, *command]))
        try:
            self.call(*command, "--threads", str(threads), "--log", part, "--quiet")
            if task.stop == CONVERGENCE:
                self.add_evaluation(part, task, stem + ".model")
            os.replace(part, stem + ".jsonl")
        finally:
            if os.path.exists(part):
                os.remove(part)
        run = self.finished(task, settings)
        if run is None:
            raise UserError(f"{stem}.jsonl: interrupted; the same command resumes it")
        name, score = os.path.relpath(stem, self.out), 100 * run.score
        self.print(f"  {name}: dev {score:.2f} at {run.iteration}, {run.seconds:.0f} s")
        return run

    def add_evaluation(self, log, task, model):
        """Puts the scores of a model on development data into a log that has none."""
        corpus = task.corpus
        command = ("eval", model, corpus.files["dev"], *corpus.format_options, "--json")
        scores = json.loads(self.call(*command))
        line = {"event": "evaluation", f"dev_{corpus.metric}": scores[corpus.metric]}
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        with open(log, "w", encoding="utf-8") as file:
            file.write("\n".join([*lines[:-1], json.dumps(line), lines[-1]]) + "\n")

    def train(self, task, candidates):
        """Returns the runs of several settings, in order; those not cached run in parallel."""
        return self.train_all([(task, settings) for settings in candidates])

    def train_all(self, jobs):
        """Returns the runs of pairs of a task and settings, likewise."""
        missing = [job for job in jobs if self.finished(*job) is None]
        workers = max(1, min(self.threads, len(missing)))
        threads = max(1, self.threads // workers)
        pool = ThreadPoolExecutor(workers)
        futures = [pool.submit(self.train_one, *job, threads) for job in missing]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            self.stop()
            raise
        pool.shutdown()
        return [self.finished(*job) for job in jobs]

    def delete_models(self, runs, chosen):
        """Deletes the models of all runs but the chosen one, if any; their logs suffice."""
        for run in runs:
            if (chosen is None or run.stem != chosen.stem) and os.path.exists(run.model):
                os.remove(run.model)

    def tag(self, run, split):
        """Returns the path of a split tagged by a run's model."""
        corpus = run.task.corpus
        source = corpus.files[split]
        target = f"{run.stem}.{split}.{self.checksum(source)[:12]}.{corpus.format}"
        if not os.path.exists(target):
            if not os.path.exists(run.model):
                self.train_one(run.task, run.settings, self.threads)
            formats = ("--format", corpus.format, "--output", corpus.format)
            text = self.call("tag", run.model, source, *formats)
            part = f"{target}.{os.getpid()}.part"
            with open(part, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
            os.replace(part, target)
        return target

    def check(self, corpus):
        """Reads every file of a corpus, so that errors surface before hours of training."""
        for path in corpus.files.values():
            if corpus.metric not in self.evaluate(corpus, path, path):
                raise UserError(f"{path}: no spans; expected labels such as B-PER and I-PER")

    def evaluate(self, corpus, gold, tagged):
        """Returns the scores of `dropchain eval --json`."""
        command = ("eval", "--predictions", tagged, gold, *corpus.format_options, "--json")
        return json.loads(self.call(*command))

    def compare(self, corpus, gold, a, b):
        """Returns the difference b − a with interval and p-value, by paired bootstrap."""
        command = ("compare", gold, a, b, *corpus.format_options, "--json")
        return json.loads(self.call(*command))[corpus.metric]

    def print(self, line):
        sys.stderr.write(line + "\n")  # one write, so that threads do not interleave within it
