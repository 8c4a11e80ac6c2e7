"""Count the costs of one encoder layer: arithmetic, and bytes that go through memory."""

from dataclasses import dataclass

from encoder_lib.course.kit.measure import layer_flops

PARTS = ("projections", "feed-forward", "attention, explicit", "attention, fused")


@dataclass(frozen=True)
class Cost:
    """The cost of a part: floating-point operations, and the bytes that go through memory for them.

    flops: multiplications and additions of the matrix products. bytes_moved: bytes that these operations read and
    write.
    """

    flops: int
    bytes_moved: int

    @property
    def arithmetic_intensity(self) -> float:
        """The number of operations for each byte. Source: Williams, Waterman and Patterson 2009, "Roofline"."""
        return self.flops / self.bytes_moved


def layer_costs(batch: int, tokens: int, d_model: int, *, d_ff: int, n_heads: int, number: int = 4) -> dict[str, Cost]:
    """The cost of each part of a layer for a batch of sequences, with `number` bytes per number.

        projections   4 linear layers: each reads and writes B·T·D numbers, and reads D²
        feed-forward  2 linear layers: together they read and write 2·B·T·(D + F) numbers, and read 2·D·F
        attention     queries, keys, values and the result, 4·B·T·D; explicit, six times the B·H·T² scores as well:
                      the product writes them, the scale and the softmax read and write, the weighted mean reads

    The count assumes that every operation reads its inputs from memory and writes its results back. Caches, biases,
    norms, the activation function and residual connections are left out.
    """
    linear, meeting = layer_flops(tokens, d_model, d_ff)
    rows, scores = batch * tokens, batch * n_heads * tokens**2
    projections = 2 * rows * 4 * d_model**2
    costs = (
        Cost(projections, number * 4 * (2 * rows * d_model + d_model**2)),
        Cost(batch * linear - projections, number * 2 * (rows * (d_model + d_ff) + d_model * d_ff)),
        Cost(batch * meeting, number * (4 * rows * d_model + 6 * scores)),
        Cost(batch * meeting, number * 4 * rows * d_model),
    )
    return dict(zip(PARTS, costs, strict=True))
