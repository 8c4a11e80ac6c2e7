"""Lesson 06_encoder_block: the encoder layer, with residual connections and norms in either order."""
