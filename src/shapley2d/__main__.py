"""``python -m shapley2d``."""

import sys

from shapley2d.cli import main

if __name__ == "__main__":
    sys.exit(main())
