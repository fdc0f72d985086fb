"""A model and data of your own. As it stands it runs:

    precbench --model model.py:net --dataset model.py:data

precbench imports this file and calls these functions in the worker of each run, so that what stands here is run as any
Python program. What it prints is shown under the name of the mode.
"""

import torch
from torch import nn
from torch.utils.data import TensorDataset


def net(width=64):  # --model-options width=128
    """Returns the module. Its weights are drawn after the run's seed was set, so that all modes begin alike."""
    return nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, 4))


def data():
    """Returns (train, test): anything with __len__ and __getitem__."""
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(4, 32, generator=generator)
    labels = torch.randint(4, (2500,), generator=generator)
    samples = centres[labels] + 2 * torch.randn(2500, 32, generator=generator)
    return TensorDataset(samples[:2000], labels[:2000]), TensorDataset(samples[2000:], labels[2000:])


# A batch is what PyTorch's DataLoader makes of your samples. The model is called
#     net(first, second, ..)  with all but the last part of a tuple,
#     net(name=..)            with those parts of a dict that forward() has parameters for, or
#     net(batch)              with anything else.
# The two functions below say what this file would mean without them, too: leave them out where it is that.


def loss(outputs, batch):
    """One number to make small. `outputs` is what the model returned, in float32."""
    return nn.functional.cross_entropy(outputs, batch[1])


def metrics(outputs, batch):
    """The mean over the batch of what is right, or a dict of such figures, of which 'accuracy' is compared."""
    return (outputs.argmax(-1) == batch[1]).float().mean()
