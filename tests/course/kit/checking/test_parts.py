"""The library's parts in the reader's form: names and numbers are those of the library's own layers."""

import torch

from encoder_lib import EncoderLayer, lengths_mask
from encoder_lib.course.kit.checking import parts


def test_a_block_of_the_parts_is_the_librarys_layer():
    norms = parts.Norm(6, 1e-5), parts.Norm(6, 1e-5)
    block = parts.Block(parts.Attention(6, 3), parts.FeedForward(6, 5), *norms)
    for parameter in block.parameters():
        torch.nn.init.normal_(parameter)
    layer = EncoderLayer(6, 3, 5, activation="gelu")
    layer.load_state_dict(block.state_dict())
    x, mask = torch.randn(2, 4, 6), lengths_mask(torch.tensor([4, 2]))
    torch.testing.assert_close(block(x, mask), layer(x, mask))
