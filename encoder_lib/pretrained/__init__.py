"""Published weights in our own classes: MiniLM, or a folder of files, becomes a `SentenceEncoder`."""

from encoder_lib.pretrained.sentence_encoder import SentenceEncoder, load_pretrained

__all__ = ["SentenceEncoder", "load_pretrained"]
