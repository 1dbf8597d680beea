"""Trainer of Hugging Face's Transformers."""

import tempfile

from options import options
from samples import SAVE_EVERY, Beside, Model, Samples, tell
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

a = options(accumulate=1)


class Metrics(TrainerCallback):
    beside = Beside(a)

    def on_step_end(self, *_, **__):
        self.beside.step()


set_seed(a.seed)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=a.save or folder,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=a.accumulate,
        num_train_epochs=1,
        dataloader_num_workers=a.workers,
        logging_steps=50,
        save_strategy="steps" if a.save else "no",
        save_steps=SAVE_EVERY,
        save_total_limit=1,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=a.seed,
    )
    samples = Samples(8 * a.steps * a.accumulate, a)
    trainer = Trainer(
        model=Model(a.width), args=arguments, train_dataset=samples, callbacks=[Metrics()]
    )
    trainer.train()
    tell(trainer.model, trainer.state.global_step)
