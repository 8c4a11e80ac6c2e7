"""What checks of exercises are made of: cases and verdicts, a sandbox for the learner's code, and hints."""
