"""Trainer of Hugging Face's Transformers."""

import tempfile

from options import options
from samples import Model, Samples, tell
from transformers import Trainer, TrainingArguments, set_seed

a = options(accumulate=1)

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
