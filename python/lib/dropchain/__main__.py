"""The program: ``python -m dropchain``."""

import sys

from dropchain_program import main

if __name__ == "__main__":
    sys.exit(main())
