"""Trainer of Hugging Face's Transformers."""

import argparse
import tempfile

from samples import Model, Samples, tell
from transformers import Trainer, TrainingArguments, set_seed

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=600)
p.add_argument("--sleep-ms", type=float, default=2)
p.add_argument("--workers", type=int, default=0)
p.add_argument("--seed", type=int, default=0)
p.add_argument("--accumulate", type=int, default=1)
a = p.parse_args()

set_seed(a.seed)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=a.accumulate,
        num_train_epochs=1,
        dataloader_num_workers=a.workers,
        logging_steps=50,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=a.seed,
    )
    samples = Samples(8 * a.steps * a.accumulate, a.sleep_ms)
    trainer = Trainer(model=Model(), args=arguments, train_dataset=samples)
    trainer.train()
    tell(trainer.model, trainer.state.global_step)
