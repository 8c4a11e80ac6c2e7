"""Published weights in our own classes: a folder of files, or MiniLM, becomes a `SentenceEncoder`."""

from encoder_lib.pretrained.sentence_encoder import SentenceEncoder, load_pretrained

__all__ = ["SentenceEncoder", "load_pretrained"]
