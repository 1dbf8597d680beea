"""Nothing limits it but the GPU."""

import torch
from made import Images, convolutions, options

a = options(width=256, workers=8)


def main():
    loader = torch.utils.data.DataLoader(
        Images(a.steps * a.batch, a.side),
        batch_size=a.batch,
        num_workers=a.workers,
        pin_memory=a.device == "cuda",
    )
    model = convolutions(a.width).to(a.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loss_of = torch.nn.CrossEntropyLoss()
    for images, labels in loader:
        images = images.to(a.device, non_blocking=True)
        labels = labels.to(a.device, non_blocking=True)
        optimizer.zero_grad()
        loss_of(model(images), labels).backward()
        optimizer.step()


if __name__ == "__main__":  # workers may be started anew
    main()
