"""The models that precbench knows by name. The larger ones have the published layouts: torchvision's ResNet-18, timm's
Vision Transformer, nanoGPT's GPT with an output layer of its own; their state dictionaries load into the originals and
the other way round.

The layers are constructed in the order in which the forward pass uses them: it decides which random numbers each weight
gets.
"""

import math
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional


def pair(size):
    """Height and width, given both or one for both."""
    return size if isinstance(size, (tuple, torch.Size)) else (size, size)


class Cnn(nn.Module):
    def __init__(self, channels, size, classes, options):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc1 = nn.Linear(64 * (size[0] // 4) * (size[1] // 4), 128)
        self.fc2 = nn.Linear(128, classes)

    def forward(self, x):
        x = functional.max_pool2d(self.conv1(x).relu(), 2)
        x = functional.max_pool2d(self.conv2(x).relu(), 2)
        x = self.fc1(x.flatten(1)).relu()
        return self.fc2(x)


class Mlp(nn.Module):
    def __init__(self, channels, size, classes, options):
        super().__init__()
        self.fc1 = nn.Linear(channels * size[0] * size[1], 512)
        self.fc2 = nn.Linear(512, 512)
        self.fc3 = nn.Linear(512, classes)

    def forward(self, x):
        x = self.fc1(x.flatten(1)).relu()
        x = self.fc2(x).relu()
        return self.fc3(x)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += identity
        return functional.relu(out, inplace=True)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inplanes, planes, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        out = functional.relu(self.bn2(self.conv2(out)), inplace=True)
        out = self.bn3(self.conv3(out))
        out += identity
        return functional.relu(out, inplace=True)


class ResNet18(nn.Module):
    """torchvision.models.resnet18; up to 64 px a 3x3 convolution without pooling stands for its first layers."""

    block, blocks = BasicBlock, (2, 2, 2, 2)

    def __init__(self, channels, size, classes, options):
        super().__init__()
        small = options.get("stem", "cifar" if min(pair(size)) <= 64 else "imagenet") == "cifar"
        self.inplanes = 64
        self.conv1 = nn.Conv2d(channels, 64, 3, 1, 1, bias=False) if small else nn.Conv2d(channels, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        self.layer1 = self.stage(64, self.blocks[0], 1)
        self.layer2 = self.stage(128, self.blocks[1], 2)
        self.layer3 = self.stage(256, self.blocks[2], 2)
        self.layer4 = self.stage(512, self.blocks[3], 2)
        self.fc = nn.Linear(512 * self.block.expansion, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def stage(self, planes, blocks, stride):
        downsample, out = None, planes * self.block.expansion
        if stride != 1 or self.inplanes != out:
            downsample = nn.Sequential(nn.Conv2d(self.inplanes, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        layers = [self.block(self.inplanes, planes, stride, downsample)]
        self.inplanes = out
        layers += [self.block(out, planes, 1, None) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(functional.relu(self.bn1(self.conv1(x)), inplace=True))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(functional.adaptive_avg_pool2d(x, (1, 1)), 1))


class ResNet50(ResNet18):
    """torchvision.models.resnet50."""

    block, blocks = Bottleneck, (3, 4, 6, 3)


class VitAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        x = functional.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(b, n, c))


class VitMlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)

    def forward(self, x):
        return self.fc2(functional.gelu(self.fc1(x)))


class VitBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = VitAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = VitMlp(dim)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbed(nn.Module):
    def __init__(self, channels, dim, patch):
        super().__init__()
        self.proj = nn.Conv2d(channels, dim, patch, patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class VitTiny(nn.Module):
    """timm.models.vision_transformer.VisionTransformer, by default with the sizes of vit_tiny_patch16_224."""

    def __init__(self, channels, size, classes, options):
        super().__init__()
        dim, heads = options.get("dim", 192), options.get("heads", 3)
        height, width = pair(size)
        patch = options.get("patch", 16 if min(height, width) >= 112 else 4)
        self.patch_embed = PatchEmbed(channels, dim, patch)
        self.cls_token = nn.Parameter(torch.empty(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.empty(1, (height // patch) * (width // patch) + 1, dim))
        self.blocks = nn.Sequential(*[VitBlock(dim, heads) for _ in range(options.get("depth", 12))])
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.head = nn.Linear(dim, classes)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.normal_(self.cls_token, std=1e-6)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


class VitB16Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(768, eps=1e-6)
        self.self_attention = nn.MultiheadAttention(768, 12, batch_first=True)
        self.ln_2 = nn.LayerNorm(768, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Dropout(0.0), nn.Linear(3072, 768), nn.Dropout(0.0))
        for layer in (self.mlp[0], self.mlp[3]):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.normal_(layer.bias, std=1e-6)

    def forward(self, x):
        y = self.ln_1(x)
        y, _ = self.self_attention(y, y, y, need_weights=False)
        x = y + x
        return x + self.mlp(self.ln_2(x))


class VitB16Encoder(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, tokens, 768).normal_(std=0.02))
        self.layers = nn.Sequential(OrderedDict((f"encoder_layer_{i}", VitB16Block()) for i in range(12)))
        self.ln = nn.LayerNorm(768, eps=1e-6)

    def forward(self, x):
        return self.ln(self.layers(x + self.pos_embedding))


class VitB16(nn.Module):
    """torchvision.models.vit_b_16, whose dropout has the probability 0."""

    def __init__(self, channels, size, classes, options):
        super().__init__()
        height, width = pair(size)
        self.conv_proj = nn.Conv2d(channels, 768, 16, 16)
        self.class_token = nn.Parameter(torch.zeros(1, 1, 768))
        self.encoder = VitB16Encoder((height // 16) * (width // 16) + 1)
        self.heads = nn.Sequential(OrderedDict(head=nn.Linear(768, classes)))
        nn.init.trunc_normal_(self.conv_proj.weight, std=math.sqrt(1 / (channels * 16 * 16)))
        nn.init.zeros_(self.conv_proj.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def forward(self, x):
        x = self.conv_proj(x).reshape(x.shape[0], 768, -1).permute(0, 2, 1)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.heads(self.encoder(x)[:, 0])


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(self.width, dim=2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(b, t, c))


class GptMlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x)))


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = CausalSelfAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = GptMlp(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    """nanoGPT's model.py without dropout; lm_head's weights are not tied to wte's."""

    def __init__(self, channels, size, classes, options):
        super().__init__()
        width, layers = options.get("width", 128), options.get("layers", 4)
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(classes, width),
                "wpe": nn.Embedding(pair(size)[1], width),
                "h": nn.ModuleList([GptBlock(width, options.get("heads", 4)) for _ in range(layers)]),
                "ln_f": nn.LayerNorm(width),
            }
        )
        self.lm_head = nn.Linear(width, classes, bias=False)
        self.apply(self._init_weights)
        for name, parameter in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(parameter, mean=0.0, std=0.02 / math.sqrt(2 * layers))

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens):
        x = self.transformer.wte(tokens) + self.transformer.wpe(torch.arange(tokens.size(1), device=tokens.device))
        for block in self.transformer.h:
            x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


MODELS = {
    "cnn": Cnn,
    "mlp": Mlp,
    "resnet18": ResNet18,
    "resnet50": ResNet50,
    "vit_tiny": VitTiny,
    "vit_b_16": VitB16,
    "gpt": Gpt,
}
