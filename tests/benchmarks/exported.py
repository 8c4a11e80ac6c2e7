"""MiniLM in runtimes made for speed alone: Hugging Face's BertModel, exported, in ONNX Runtime and OpenVINO.

Each runtime computes one padded batch: ids and mask (B, T) -> unit vectors (B, D). Masked mean and length are part of
the exported graph, so that nothing of a peer's pass is left to Python.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from measuring import THREADS
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from encoder_lib.pretrained import hub
from encoder_lib.pretrained.batching import bucket_by_length
from encoder_lib.pretrained.sentence_encoder import BATCH_TOKENS


class Vectors(nn.Module):
    """BertModel and what makes one unit vector of a text's states."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, ids, mask):
        states = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, T, D)
        real = mask[..., None].to(states.dtype)  # (B, T, 1)
        return F.normalize((states * real).sum(dim=1) / real.sum(dim=1), dim=-1)  # (B, D)


def export(path):
    """Write the model to `path`, for batches of any size. Its plain attention: both runtimes fuse that themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import BertModel

        bert = BertModel.from_pretrained(hub.minilm(), attn_implementation="eager").eval()
        ids, mask = torch.randint(5, 999, (3, 7)), torch.ones(3, 7, dtype=torch.long)
        mask[1, 4:] = 0
        free = dict.fromkeys((0, 1), torch.export.Dim.DYNAMIC)
        torch.onnx.export(
            Vectors(bert),
            (ids, mask),
            path,
            input_names=["ids", "mask"],
            output_names=["vectors"],
            dynamic_shapes={"ids": free, "mask": free},
            external_data=False,
            verbose=False,
        )


def in_onnx_runtime(path, threads):
    """One batch on so many threads, in float32: on x86 it has no product in any shorter floating-point number."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: torch.from_numpy(session.run(None, {"ids": ids.numpy(), "mask": mask.numpy()})[0])


def openvino_computes_in():
    """What OpenVINO computes in on this processor: "FP32", and "BF16" where there are instructions for it."""
    import openvino

    return openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def in_openvino(path, threads, precision="f32"):
    """One batch on so many threads; as many batches at once as there are threads for. It has to keep to `precision`."""
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": THREADS,
        "NUM_STREAMS": THREADS // threads,
        "INFERENCE_PRECISION_HINT": precision,
    }
    model = openvino.Core().compile_model(path, "CPU", settings)
    got = model.get_property("INFERENCE_PRECISION_HINT")
    assert got == getattr(openvino.Type, precision), f"OpenVINO was asked for {precision} and computes in {got}"

    def run(ids, mask):
        request = model.create_infer_request()
        return torch.from_numpy(request.infer({"ids": ids.numpy(), "mask": mask.numpy()}, share_inputs=True)[0])

    return run


def encode(run, tokenizer, texts, threads):
    """The texts' vectors by `run`, in the batches that ours are in, as many at once as there are threads for."""
    rows = [torch.tensor(text.ids) for text in tokenizer.encode_batch_fast(texts)]
    batches = bucket_by_length([len(row) for row in rows], BATCH_TOKENS)

    def one(batch):
        ids = pad_sequence([rows[i] for i in batch], batch_first=True)  # (B, T)
        lengths = torch.tensor([len(rows[i]) for i in batch])
        return run(ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long())

    with ThreadPoolExecutor(THREADS // threads) as pool:
        vectors = torch.cat(list(pool.map(one, batches)))
    return vectors[torch.tensor([i for batch in batches for i in batch]).argsort()]
