"""Model.fit() of Keras, on JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
from arrays import batch, tell  # noqa: E402
from options import options  # noqa: E402

a = options()


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return a.steps

    def __getitem__(self, i):
        return batch(i, a.seed, a.sleep_ms)


keras.utils.set_random_seed(a.seed)
model = keras.Sequential(
    [keras.Input((64,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(8)]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adamw", loss=loss)
model.fit(Batches(), epochs=1, verbose=0, shuffle=False)
tell(model.get_weights(), int(model.optimizer.iterations))
