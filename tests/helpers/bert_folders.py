"""Small folders of the BERT family: in good order, and spoiled in one place."""

import json
import warnings

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from encoder_lib import lengths_mask
from encoder_lib.pretrained import hub

MINILM = hub.minilm()
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdef", "the", "cat", "dog", "sat", "on", "mat", "##s", "##ing"]
TEXTS = [
    "A cat sits on the mat.",
    "",
    " \t\n ",
    "unbelievable, antidisestablishmentarianism; naïve café Ångström",
    "Ein Satz über Größe und Straße",
    "日本語の文章です。中文也可以。",
    "مرحبا بالعالم · שלום עולם · नमस्ते दुनिया · สวัสดี",
    "👩‍👩‍👧 🎉 emoji 😀",
    "<b>bold</b> &amp; <script>alert(1)</script> $x^2$ `code`",
    "[CLS] [SEP] [MASK] [PAD] in the text [PAD]",
    "zero\0width\u200b and \u202eright to left",
    "x" * 300,
    "word " * 1000,
    "supercalifragilistic " * 200,
]


def tokenizer(special=True):
    """A tokenizer of a few words, in BERT's manner."""
    made = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        made.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        made.add_special_tokens(WORDS[:4])
    made.enable_padding(length=16)  # as published files have them, and as load_pretrained undoes
    return made


CONFIG = {
    "vocab_size": len(WORDS),
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 24,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


def bert(hugging, kind="BertModel", **config):
    """A model of theirs with random weights, none of which is at its start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(hugging, kind)(hugging.BertConfig(**CONFIG | config)).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(mean=float("LayerNorm.weight" in name), std=0.3)
    return model


def save(model, folder, **kwargs):
    """Their model, and a tokenizer beside it, in a folder."""
    model.save_pretrained(folder, **kwargs)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def difference(ours, theirs, vocab_size, longest):
    """The largest difference of the states at real tokens, on a padded batch of random ids."""
    lengths = torch.tensor([longest, longest // 2, 1])
    real = lengths_mask(lengths)[:, 0, 0]  # (B, T)
    ids = torch.randint(1, vocab_size, (3, longest)) * real
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=real.long()).last_hidden_state
        return (ours.encoder(ids) - expected)[real].abs().max().item()


def edit(path, **changes):
    """Change a JSON file, which starts empty; None in place of a value takes the key out."""
    said = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({key: value for key, value in (said | changes).items() if value is not ...}))


def weights(change):
    """Spoil the weights: `change` gets them by name and changes them in place."""

    def spoil(folder):
        file = folder / "model.safetensors"
        tensors = {name: x.clone() for name, x in load_file(file).items()}
        change(tensors)
        save_file(tensors, file)

    return spoil


def config(**changes):
    """Spoil config.json."""
    return lambda folder: edit(folder / "config.json", **changes)


def written(name, content):
    """Put something else where a file should be."""

    def spoil(folder):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return spoil


def gone(name):
    """Remove a file."""
    return lambda folder: (folder / name).unlink()


def made_folder(name):
    """A folder where a file should be."""

    def spoil(folder):
        (folder / name).unlink()
        (folder / name).mkdir()

    return spoil


def cut(share):
    """Only the first part of the weights has come."""

    def spoil(folder):
        file = folder / "model.safetensors"
        file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])

    return spoil
