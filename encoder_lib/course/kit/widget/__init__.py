"""Building blocks of explorers and predictions: controls, views, the two widgets, and their front end."""
