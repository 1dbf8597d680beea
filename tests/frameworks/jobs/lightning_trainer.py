"""Trainer of Lightning."""

import lightning
import torch
from options import options
from samples import Model, Samples, tell

a = options()


class Task(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def training_step(self, batch, index):
        loss = self.model(**batch)["loss"]
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


lightning.seed_everything(a.seed)
task = Task()
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(
    task,
    torch.utils.data.DataLoader(
        Samples(8 * a.steps, a.sleep_ms), batch_size=8, shuffle=True, num_workers=a.workers
    ),
)
tell(task.model, trainer.global_step)
