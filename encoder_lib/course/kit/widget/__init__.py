"""What explorers and predictions are made of: controls, views, the two widgets, and their front end."""
