"""`python -m cprime` is `cprime`."""

import sys

from cprime.cli import main

if __name__ == "__main__":
    sys.exit(main())
