"""A network for images, as many a script has it: no workers, memory that is not pinned, numbers of
32 bits, channels first, a batch that is small for the GPU. It ends when its time is over."""

import time
import zlib

import torch
from made import POOL, options
from torch import nn

a = options(steps=1 << 30, batch=32, side=112, workers=0, seconds=100.0)


class Packed(torch.utils.data.Dataset):
    """Images that are unpacked when they are asked for, on a CPU."""

    def __init__(self, side):
        random = torch.Generator().manual_seed(7)
        pixels = torch.randint(0, 64, (POOL, 3, side, side), dtype=torch.uint8, generator=random)
        self.side = side
        self.packed = [zlib.compress(bytes(image.flatten().tolist())) for image in pixels]

    def __len__(self):
        return 1 << 12

    def __getitem__(self, i):
        pixels = bytearray(zlib.decompress(self.packed[i % POOL]))
        image = torch.frombuffer(pixels, dtype=torch.uint8).view(3, self.side, self.side)
        return image.float() / 64, i % 10


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def main():
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(
        Packed(a.side), batch_size=a.batch, shuffle=True, num_workers=a.workers
    )
    width = a.width
    layers = [nn.Conv2d(3, width, 7, stride=2, padding=3), nn.BatchNorm2d(width)]
    for _ in range(3):
        layers += [Block(width), Block(width), nn.Conv2d(width, 2 * width, 3, stride=2)]
        width *= 2
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)]
    model = nn.Sequential(*layers).to(a.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    end, steps = time.monotonic() + a.seconds, 0
    while time.monotonic() < end and steps < a.steps:
        for images, labels in loader:
            images, labels = images.to(a.device), labels.to(a.device)
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            steps += 1
            if steps >= a.steps or time.monotonic() >= end:
                break
    print("steps %d loss %.4f" % (steps, loss.item()))


if __name__ == "__main__":
    main()
