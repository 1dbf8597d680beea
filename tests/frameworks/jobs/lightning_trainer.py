"""Trainer of Lightning."""

import lightning
import torch
from options import options
from samples import SAVE_EVERY, Beside, Model, Samples, tell

a = options(profiler="")


class Task(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Model(a.width)

    def training_step(self, batch, index):
        loss = self.model(**batch)["loss"]
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)



class Metrics(lightning.Callback):
    beside = Beside(a)

    def on_train_batch_end(self, *_):
        self.beside.step()


callbacks = [Metrics()]
if a.save:
    save = lightning.pytorch.callbacks.ModelCheckpoint(a.save, every_n_train_steps=SAVE_EVERY)
    callbacks.append(save)
lightning.seed_everything(a.seed)
task = Task()
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=bool(a.save),
    callbacks=callbacks,
    profiler=a.profiler or None,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(
    task,
    torch.utils.data.DataLoader(
        Samples(8 * a.steps, a), batch_size=8, shuffle=True, num_workers=a.workers
    ),
)
tell(task.model, trainer.global_step)
