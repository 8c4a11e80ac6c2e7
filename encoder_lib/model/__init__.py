"""The model, in the order in which the notebooks build it:

embedding      token ids become vectors
positional     where a token stands
norm           each vector brought to a common scale
masks          which keys a query may attend to
attention      each token takes a weighted mean over the tokens that it attends to
feed_forward   what happens to each token alone
encoder        these parts as a layer, layers as a stack, and the whole from ids to vectors
"""
