"""The model, in the order in which the notebooks build it:

embedding      token ids become vectors
positional     the position of a token enters
norm           each vector is brought to a common scale
masks          which keys a query may attend to
attention      each token takes a weighted mean over the tokens that it attends to
feed_forward   a network that is applied to each token alone
encoder        these parts as a layer, layers as a stack, and the whole model from ids to vectors
"""
