"""The Transformer encoder, in files short enough to read in one sitting.

One letter stands for one size, in every file, docstring and notebook:

    B  batch          sequences that are worked on together
    T  tokens         positions in a sequence; `q` and `k` where queries and keys differ in number
    D  d_model        width of the vector that stands for one token
    H  n_heads        attention heads of a layer
    K  d_head         width of one head, D / H
    F  d_ff           hidden width of the feed-forward network

A line that changes a shape ends with the new one: `# (B, H, T, K)`. `scores` are the numbers before the softmax,
`weights` those after it. Masks are boolean and True means "may attend".
"""

from encoder_lib.fast import fast, unpadded
from encoder_lib.from_torch import from_torch
from encoder_lib.model.attention import (
    MultiHeadAttention,
    attention,
    attention_scores,
    attention_weights,
    masked_softmax,
)
from encoder_lib.model.embedding import TokenEmbedding, TransformerEmbedding
from encoder_lib.model.encoder import Encoder, EncoderLayer, TransformerEncoder
from encoder_lib.model.feed_forward import FeedForward
from encoder_lib.model.masks import causal_mask, lengths_mask, padding_mask
from encoder_lib.model.norm import LayerNorm, RMSNorm
from encoder_lib.model.positional import (
    LearnedPositionalEncoding,
    RotaryPositionalEncoding,
    SinusoidalPositionalEncoding,
    alibi_bias,
    sinusoidal_table,
)
from encoder_lib.packed import Packed
from encoder_lib.patch import patch
from encoder_lib.pretrained import SentenceEncoder, load_pretrained
from encoder_lib.trace import trace

__version__ = "1.0.0"

__all__ = [
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "LayerNorm",
    "LearnedPositionalEncoding",
    "MultiHeadAttention",
    "Packed",
    "RMSNorm",
    "RotaryPositionalEncoding",
    "SentenceEncoder",
    "SinusoidalPositionalEncoding",
    "TokenEmbedding",
    "TransformerEmbedding",
    "TransformerEncoder",
    "alibi_bias",
    "attention",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "fast",
    "from_torch",
    "lengths_mask",
    "load_pretrained",
    "masked_softmax",
    "padding_mask",
    "patch",
    "sinusoidal_table",
    "trace",
    "unpadded",
]
