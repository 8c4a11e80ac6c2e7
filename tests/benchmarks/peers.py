"""One encoder's weights in the encoders of others: the same numbers in, the same numbers out."""

import warnings

import torch
from torch import nn

from encoder_lib import Encoder, from_torch

D, H, F, LAYERS = 384, 12, 1536, 6  # those of MiniLM


def torch_encoder():
    """torch's own encoder, post-norm with GELU. No biases, so that every other library can hold its weights."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(D, H, F, batch_first=True, activation="gelu", dropout=0.0)
    encoder = nn.TransformerEncoder(layer, LAYERS)
    for name, weight in encoder.named_parameters():
        if weight.ndim == 2:
            nn.init.normal_(weight, std=0.05)
        elif name.endswith("bias"):
            nn.init.zeros_(weight)
    return encoder


def bert_encoder(ours: Encoder, kind: str):
    """Hugging Face's BertModel without its embedding, with the weights of ours; `kind` is "sdpa" or "eager"."""
    from transformers import BertConfig, BertModel

    sizes = {
        "hidden_size": D,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": H,
        "intermediate_size": F,
        "layer_norm_eps": ours.layers[0].norm1.eps,
    }
    model = BertModel(BertConfig(vocab_size=2, hidden_dropout_prob=0, attention_probs_dropout_prob=0, **sizes))
    model.set_attn_implementation(kind)
    for layer, theirs in zip(ours.layers, model.encoder.layer, strict=True):
        heads, inner = layer.attention, theirs.attention
        pairs = [
            (heads.q_proj, inner.self.query),
            (heads.k_proj, inner.self.key),
            (heads.v_proj, inner.self.value),
            (heads.out_proj, inner.output.dense),
            (layer.norm1, inner.output.LayerNorm),
            (layer.feed_forward.linear1, theirs.intermediate.dense),
            (layer.feed_forward.linear2, theirs.output.dense),
            (layer.norm2, theirs.output.LayerNorm),
        ]
        copy_weights(pairs)
    return model.encoder


def x_encoder(ours: Encoder):
    """x-transformers' encoder with the weights of ours; its attention and its norms have no biases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from x_transformers import Encoder as XEncoder

        model = XEncoder(
            dim=D, depth=LAYERS, heads=H, attn_dim_head=D // H, ff_mult=F // D, pre_norm=False, attn_flash=True
        )
    for i, layer in enumerate(ours.layers):
        heads, attend, think = layer.attention, model.layers[2 * i][1], model.layers[2 * i + 1][1]
        pairs = [
            (heads.q_proj, attend.to_q),
            (heads.k_proj, attend.to_k),
            (heads.v_proj, attend.to_v),
            (heads.out_proj, attend.to_out),
            (layer.feed_forward.linear1, think.ff[0][0]),
            (layer.feed_forward.linear2, think.ff[2]),
        ]
        copy_weights(pairs)
    return model


@torch.no_grad()
def copy_weights(pairs):
    """From the first of each pair into the second; what the second lacks has to be zero."""
    for mine, theirs in pairs:
        theirs.weight.copy_(mine.weight)
        if getattr(theirs, "bias", None) is not None:
            theirs.bias.copy_(mine.bias)
        else:
            assert not mine.bias.any(), "a bias that the other has no place for"


def all_encoders():
    """Name -> encoder, all with the same weights; ours under "ours"."""
    theirs = torch_encoder()
    ours = from_torch(theirs)
    return {
        "ours": ours,
        "nn.TransformerEncoder": theirs,
        "BertModel, sdpa": bert_encoder(ours, "sdpa"),
        "BertModel, eager": bert_encoder(ours, "eager"),
        "x-transformers": x_encoder(ours),
    }
