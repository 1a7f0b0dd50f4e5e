"""Linear-chain CRF sequence tagging for small labeled corpora."""

from dropchain._dropchain import Interrupted, ModelError, __version__

__all__ = ["Interrupted", "ModelError", "__version__"]
