"""What lessons share: explorers and predictions, checks, plots, the notebooks' set-up, texts and the ladder's task."""
