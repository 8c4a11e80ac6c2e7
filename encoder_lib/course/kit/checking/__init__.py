"""Building blocks of the checks: cases and verdicts, a sandbox for the learner's code, and hints."""
