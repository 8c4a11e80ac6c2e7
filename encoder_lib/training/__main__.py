"""`python -m encoder_lib.training`, alone or under torchrun: see `cli`."""

from encoder_lib.training.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
