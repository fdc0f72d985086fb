"""What is done to a batch of images before the model gets it."""

import torch
from torch import nn

# Mean and standard deviation of the training pixels scaled to [0, 1], by channel (lib/common/names.h).
NORMALISATION = {
    "fashion-mnist": ([0.2860], [0.3530]),
    "mnist": ([0.1307], [0.3081]),
    "cifar10": ([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]),
    "cifar100": ([0.5071, 0.4865, 0.4409], [0.2673, 0.2564, 0.2762]),
    "bundle": ([0.0], [1.0]),  # where its samples are bytes
    "synthetic": ([0.5], [0.25]),
}
CROP_PADDING = 4  # pixels on each side


def normalised(samples, dataset):
    """Bytes of images as fp32; everything else as it is."""
    if samples.dtype != torch.uint8:
        return samples
    mean, std = (torch.tensor(values).view(-1, 1, 1) for values in NORMALISATION[dataset["name"]])
    return (samples.to(torch.float32) / 255 - mean) / std


def cropped_and_flipped(images):
    """Random crops out of the padded images, half of them mirrored, image by image."""
    count, _, height, width = images.shape
    tops = torch.randint(2 * CROP_PADDING + 1, (count, 1)).tolist()
    lefts = torch.randint(2 * CROP_PADDING + 1, (count, 1)).tolist()
    mirrored = (torch.rand(count, 1) < 0.5).tolist()
    padded = nn.functional.pad(images, [CROP_PADDING] * 4)
    done = []
    for image, [top], [left], [flips] in zip(padded, tops, lefts, mirrored):
        crop = image[:, top : top + height, left : left + width]
        done.append(crop.flip(-1) if flips else crop)
    return torch.stack(done)


def batch_transform(dataset, split):
    """What is done to each batch of images as stored; None where nothing depends on the batch (datasets.read_split)."""
    size, augments = dataset["image_size"], dataset["augment"]
    if not size and not augments:
        return None

    def transform(images):
        if augments and split == "train":
            images = cropped_and_flipped(images)
        images = normalised(images, dataset)
        if size and images.shape[2:] != (size, size):
            images = nn.functional.interpolate(images, (size, size), mode="bilinear", antialias=True)
        return images

    return transform
