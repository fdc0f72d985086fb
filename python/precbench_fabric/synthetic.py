"""The data set `synthetic`, drawn as lib/train/data/synthetic.cpp draws it."""

import torch

PATTERN_AMPLITUDE = 32
NOISE_AMPLITUDE = 96
NOISE_PIXELS = 1 << 25
CHUNK = 1024
TOKENS = 256
PREDICTABLE = 0.75


def make(dataset, seed):
    """{split: (samples, targets)}"""
    generator = torch.Generator().manual_seed(seed)
    counts = {split: dataset[f"synthetic_{split}"] for split in ("train", "test")}
    for split, count in counts.items():
        counts[split] = min(count, dataset[f"limit_{split}"] or count)
    if dataset["context"]:
        table = torch.randperm(TOKENS, generator=generator)
        return {split: text(count, dataset["context"], table, generator) for split, count in counts.items()}
    shape = [dataset["synthetic_classes"], *dataset["synthetic_shape"]]
    patterns = random_bytes(shape, PATTERN_AMPLITUDE, generator)
    return {split: images(count, patterns, generator) for split, count in counts.items()}


def random_bytes(shape, amplitude, generator):
    return torch.empty(shape, dtype=torch.int16).random_(-amplitude, amplitude + 1, generator=generator)


def images(count, patterns, generator):
    """A sample is its class's pattern plus noise; more samples than there is noise for share it."""
    noises = min(max(NOISE_PIXELS // patterns[0].numel(), 16), count)
    noise = random_bytes([noises, *patterns.shape[1:]], NOISE_AMPLITUDE, generator)
    labels = torch.arange(count).remainder(len(patterns))
    samples = torch.empty([count, *patterns.shape[1:]], dtype=torch.uint8)
    for begin in range(0, count, CHUNK):
        end = min(begin + CHUNK, count)
        which = torch.arange(begin, end) if noises == count else torch.randint(noises, [end - begin], generator=generator)
        pixels = patterns[labels[begin:end]] + noise[which]
        samples[begin:end] = (pixels + 128).clamp_(0, 255)
    return samples, labels


def text(sequences, context, table, generator):
    """Three of four tokens follow from the one before, by a table; the fourth is random."""
    tokens = torch.empty([context + 1, sequences], dtype=torch.uint8)
    token = torch.randint(TOKENS, [sequences], generator=generator)
    for position in range(context + 1):
        tokens[position] = token
        random = torch.randint(TOKENS, [sequences], generator=generator)
        follows = torch.rand([sequences], generator=generator) < PREDICTABLE
        token = torch.where(follows, table[token], random)
    return tokens[:-1].t().contiguous().long(), tokens[1:].t().contiguous().long()
