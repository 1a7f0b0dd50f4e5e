"""A drop-in replacement of `pycrfsuite` (python-crfsuite).

Replace ``import pycrfsuite`` by ``from dropchain import pycrfsuite``. Trainers, taggers and
parameters are those of CRFsuite; training uses all processors and releases the GIL. Taggers read
model files of both.

>>> from dropchain import pycrfsuite
>>> trainer = pycrfsuite.Trainer(verbose=False)
>>> trainer.append([["word=Ada"], ["word=left"]], ["NAME", "O"])
>>> trainer.train("example.model")
>>> with pycrfsuite.Tagger().open("example.model") as tagger:
...     tagger.tag([["word=Ada"], ["word=sang"]])
['NAME', 'O']
"""

from dropchain._dropchain import ItemSequence
from dropchain.pycrfsuite._error import CRFSuiteError
from dropchain.pycrfsuite._tagger import Tagger
from dropchain.pycrfsuite._trainer import BaseTrainer, Trainer

# The version of CRFsuite whose semantics the module has.
CRFSUITE_VERSION = "0.12.2"

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "Tagger",
    "Trainer",
]
