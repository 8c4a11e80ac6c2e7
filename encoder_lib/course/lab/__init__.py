"""The equipment of the experiments: what the notebooks measure with, apart from the model that they measure."""
