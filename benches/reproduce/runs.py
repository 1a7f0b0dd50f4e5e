"""Runs of the dropchain program: each is done once, and what it found is kept in a folder."""
import hashlib, json, os, shlex, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from corpora import Corpus, Fault


@dataclass(frozen=True)
class Task:
    """What is trained: a corpus, the order of the chain, and unlabeled text for the noise term."""

    corpus: Corpus
    order: int = 1
    unlabeled: str = ""  # a file in the format of the corpus

    @property
    def name(self):
        return f"{self.corpus.name}.order{self.order}" + (".unlabeled" if self.unlabeled else "")


@dataclass(frozen=True)
class Run:
    """A finished training run."""

    task: Task
    settings: dict  # option → number
    stem: str  # its log and model are called so
    score: float  # on development data, the best iteration's, as a fraction
    iteration: int
    seconds: float
    recall_bias: float
    noise: float  # the noise term at that iteration; 0 within the warm-up

    @property
    def model(self):
        return self.stem + ".model"


class Runner:
    """Runs the program, at most `threads` threads at a time; finished work is found again in the folder `out`.

    A run is known by its options, the contents of its files and of the program: where one of them
    changes, it is done anew.
    """

    def __init__(self, program, out, threads):
        if not os.path.isfile(program):
            raise Fault(f"{program} is not there; build it with `cargo build --release`")
        self.program, self.out, self.threads = program, out, threads
        self.sums, self.children, self.stopping = {}, set(), False
        try:
            self.version = self.call("--version").strip()
        except OSError as error:
            raise Fault(f"{program}: {error.strerror}; expected the program dropchain") from None
        if not self.version.startswith("dropchain "):
            raise Fault(f"{program} says `{self.version.partition(chr(10))[0]}`; expected the program dropchain")

    def sum(self, path):
        """Fingerprint of a file."""
        if path not in self.sums:
            with open(path, "rb") as file:
                self.sums[path] = hashlib.sha256(file.read()).hexdigest()
        return self.sums[path]

    def call(self, *arguments):
        """Runs the program and returns what it prints."""
        command = [self.program, *arguments]
        if self.stopping:
            raise Fault("stopped")
        # In a session of its own: Ctrl-C would make training end early, as if finished.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )
        self.children.add(process)
        try:
            out, errors = process.communicate()
        finally:
            self.children.discard(process)
        if process.returncode != 0:
            raise Fault(f"{shlex.join(command)}\nended with {process.returncode}: {errors.strip()[-2000:]}")
        return out

    def stop(self):
        """Ends what still runs, and starts nothing more."""
        self.stopping = True
        for process in list(self.children):
            process.kill()

    def command(self, task, settings):
        """The arguments of a training run but for those that no result depends on."""
        files, corpus = task.corpus.files, task.corpus
        command = ["train", files["train"], "--dev", files["dev"], "--format", corpus.form, *corpus.options]
        command += ["--order", str(task.order)]
        if task.unlabeled:
            command += ["--unlabeled", task.unlabeled, "--unlabeled-format", corpus.form]
        for option, value in settings.items():
            command += [f"--{option}", f"{value:g}"]
        return command

    def stem(self, task, settings):
        command = self.command(task, settings)
        parts = [self.sum(part) if part in (*task.corpus.files.values(), task.unlabeled) else part for part in command]
        key = hashlib.sha256("\n".join([self.sum(self.program), *parts]).encode()).hexdigest()[:12]
        name = ",".join(f"{option}={value:g}" for option, value in settings.items())
        return os.path.join(self.out, "runs", task.name, f"{name}.{key}")

    def finished(self, task, settings):
        """The run if its log is there and whole."""
        stem = self.stem(task, settings)
        try:
            with open(stem + ".jsonl", encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
            end = events[-1]
            if end["stop_reason"] == "interrupted":
                return None
            best = next(e for e in events if e.get("iteration") == end["best_iteration"])
            score = best["dev_f1" if task.corpus.measure == "f1" else "dev_accuracy"]
            return Run(task, settings, stem, score, end["best_iteration"], end["seconds"], end["recall_bias"], best["dropout"])
        except FileNotFoundError:
            return None
        except (ValueError, LookupError, StopIteration):
            raise Fault(f"{stem}.jsonl is no log of a finished run; delete it, and the run is done again") from None

    def train_one(self, task, settings, threads):
        stem = self.stem(task, settings)
        os.makedirs(os.path.dirname(stem), exist_ok=True)
        part = f"{stem}.{os.getpid()}.part"
        command = self.command(task, settings)
        self.say("$ " + shlex.join([self.program, *command, "--model", stem + ".model"]))
        try:
            self.call(*command, "--threads", str(threads), "--model", stem + ".model", "--log", part, "--quiet")
            os.replace(part, stem + ".jsonl")
        finally:
            if os.path.exists(part):
                os.remove(part)
        run = self.finished(task, settings)
        if run is None:
            raise Fault(f"{stem}.jsonl: the run was interrupted; the same command goes on with it")
        self.say(f"  {os.path.relpath(stem, self.out)}: dev {100 * run.score:.2f} at {run.iteration}, {run.seconds:.0f} s")
        return run

    def train(self, task, several):
        """Runs with each of several settings, in their order."""
        missing = [settings for settings in several if self.finished(task, settings) is None]
        self.batch([(task, settings) for settings in missing])
        return [self.finished(task, settings) for settings in several]

    def batch(self, jobs):
        workers = max(1, min(self.threads, len(jobs)))
        pool = ThreadPoolExecutor(workers)
        futures = [pool.submit(self.train_one, *job, max(1, self.threads // workers)) for job in jobs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            self.stop()
            raise
        pool.shutdown()

    def clear(self, runs, kept):
        """Deletes the models of runs that were not chosen: logs suffice."""
        for run in runs:
            if run.stem != kept.stem and os.path.exists(run.model):
                os.remove(run.model)

    def tag(self, run, split):
        """The file of a split with labels by a run's model."""
        corpus = run.task.corpus
        source = corpus.files[split]
        target = f"{run.stem}.{split}.{self.sum(source)[:12]}.{corpus.form}"
        if not os.path.exists(target):
            if not os.path.exists(run.model):
                self.train_one(run.task, run.settings, self.threads)
            text = self.call("tag", run.model, source, "--format", corpus.form, "--output", corpus.form)
            part = f"{target}.{os.getpid()}.part"
            with open(part, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
            os.replace(part, target)
        return target

    def check(self, corpus):
        """Reads every file of a corpus: a fault in the test file is better known before hours of training."""
        for path in corpus.files.values():
            if corpus.measure not in self.evaluate(corpus, path, path):
                raise Fault(f"{path}: its labels write no spans; expected labels such as B-PER and I-PER")

    def evaluate(self, corpus, gold, tagged):
        """Scores of labels, as `dropchain eval --json` gives them."""
        return json.loads(self.call("eval", "--predictions", tagged, gold, *corpus.reading, "--json"))

    def compare(self, corpus, gold, a, b):
        """Difference b − a with interval and p-value, by paired bootstrap."""
        return json.loads(self.call("compare", gold, a, b, *corpus.reading, "--json"))[corpus.measure]

    def say(self, line):
        sys.stderr.write(line + "\n")  # in one piece, whatever other threads say
