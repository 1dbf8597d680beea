"""The loop of Flax's own guide (NNX), over a generator of batches."""

import jax
import optax
from arrays import batch, tell
from flax import nnx
from options import options

a = options()


class Model(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(64, 256, rngs=rngs)
        self.second = nnx.Linear(256, 8, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.relu(self.first(x)))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


def batches():
    for i in range(a.steps):
        yield batch(i, a.seed, a.sleep_ms)


model = Model(nnx.Rngs(a.seed))
optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
steps = 0
for x, y in batches():
    train_step(model, optimizer, x, y)
    steps += 1
tell(jax.tree_util.tree_leaves(nnx.state(model)), steps)
