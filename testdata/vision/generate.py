"""Writes vectors.json: angles and rotations of vision models.

    python generate.py > vectors.json        (versions: requirements.txt)

For each model its own code makes the positions, the angles and the tables, and rotates
q. "angles" are what it takes the cosine and the sine of: its code once more, with torch's
functions replaced by the identity. "cos" and "sin" are its tables, [tokens][entries] or,
for heads with tables of their own, [heads][tokens][entries], of full width where the
model has them so. "inv_freq" is its frequencies where it has any. "q" and "rotated" are
[heads][tokens][head_dim]. Numbers are bits of float32 in hexadecimal, most significant
digit first.
"""

import contextlib
import json
import sys

import timm
import torch
import transformers
from timm.layers import pos_embed_sincos as timm_rope
from transformers.models.dinov3_vit import modeling_dinov3_vit as dinov3
from transformers.models.efficientloftr import modeling_efficientloftr as efficientloftr
from transformers.models.eomt_dinov3 import modeling_eomt_dinov3 as eomt
from transformers.models.esmfold2 import modeling_esmfold2 as esmfold2
from transformers.models.lightglue import modeling_lightglue as lightglue
from transformers.models.mlcd import modeling_mlcd as mlcd
from transformers.models.sam2_video import modeling_sam2_video as sam2
from transformers.models.sam3 import modeling_sam3 as sam3
from transformers.models.sapiens2 import modeling_sapiens2 as sapiens2
from transformers.models.vjepa2 import modeling_vjepa2 as vjepa2

torch.manual_seed(20240319)
torch.set_num_threads(1)


class Config(dict):
    """Just the fields that the code reads."""

    __getattr__ = dict.__getitem__


def bits(x):
    return "".join(f"{int(v) & 0xFFFFFFFF:08x}" for v in x.detach().to(torch.float32).contiguous().view(torch.int32).ravel())


@contextlib.contextmanager
def identity():
    """Tables are then the angles."""
    saved = torch.cos, torch.sin, torch.Tensor.cos, torch.Tensor.sin
    torch.cos = torch.sin = torch.Tensor.cos = torch.Tensor.sin = lambda x: x
    try:
        yield
    finally:
        torch.cos, torch.sin, torch.Tensor.cos, torch.Tensor.sin = saved


cases = []


def add(model, tables, rotate, q, inv_freq=None, **fields):
    """tables() returns cos and sin; rotate(q, cos, sin) rotates [heads][tokens][dim]."""
    cos, sin = tables()
    with identity():
        angles, _ = tables()
    case = {"model": model, "heads": q.shape[0], "tokens": q.shape[1], "head_dim": q.shape[2], **fields}
    case |= {"cos": bits(cos), "sin": bits(sin), "angles": bits(angles), "q": bits(q), "rotated": bits(rotate(q, cos, sin))}
    if inv_freq is not None:
        case["inv_freq"] = bits(inv_freq)
    cases.append(case)


# Patches from -1 to 1, behind class and register tokens.
for name, module, cls in (
    ("dinov3_vit", dinov3, dinov3.DINOv3ViTRopePositionEmbedding),
    ("sapiens2", sapiens2, sapiens2.Sapiens2RopePositionEmbedding),
    ("eomt_dinov3", eomt, eomt.EomtDinov3RotaryEmbedding),
):
    for height, width, dim in ((3, 5, 16), (7, 2, 20))[: 2 if name == "dinov3_vit" else 1]:
        config = Config(rope_theta=100.0, hidden_size=2 * dim, num_attention_heads=2, image_size=224, patch_size=16,
                        rope_parameters={"rope_type": "default", "rope_theta": 100.0})
        rope = cls(config).eval()
        pixels = torch.zeros(1, 3, 16 * height, 16 * width)
        q = torch.randn(2, 5 + height * width, dim)
        add(name, lambda: rope(pixels), lambda q, cos, sin: module.apply_rotary_pos_emb(q, q, cos, sin)[0], q, rope.inv_freq,
            height=height, width=width)


# timm: grids that are stretched to that of training.
def timm_case(name, rope, height, width, dim, heads=2, half=False, **fields):
    def tables():
        sin, cos = rope.get_embed([height, width]).chunk(2, -1)
        return cos, sin

    q = torch.randn(heads, height * width, dim)
    inv_freq = rope.bands if hasattr(rope, "bands") else 1 / rope.periods
    add(name, tables, lambda q, cos, sin: timm_rope.apply_rot_embed(q, sin, cos, half=half), q, inv_freq, height=height, width=width, **fields)


for height, width, dim in ((3, 5, 16), (24, 1, 20)):
    timm_case("timm_eva", timm_rope.RotaryEmbeddingCat(dim, in_pixels=False, ref_feat_shape=[16, 16]), height, width, dim)
    timm_case("timm_pe", timm_rope.RotaryEmbeddingCat(dim, in_pixels=False, ref_feat_shape=[24, 24], grid_offset=1.0, grid_indexing="xy"), height, width, dim)
    timm_case("timm_dinov3", timm_rope.RotaryEmbeddingDinoV3(dim), height, width, dim, half=True)

# A frequency for each head and axis.
for indexing in ("ij", "xy"):
    for layer in (0, 1):
        height, width, heads, dim = 3, 4, 3, 12
        rope = timm_rope.RotaryEmbeddingMixed(heads * dim, depth=2, num_heads=heads, grid_indexing=indexing)
        rope.freqs.data += 0.05 * torch.randn_like(rope.freqs)

        def tables():
            sin, cos = rope.get_embed([height, width])[layer].chunk(2, -1)
            return cos, sin

        q = torch.randn(heads, height * width, dim)
        add("timm_mixed_" + indexing, tables, lambda q, cos, sin: timm_rope.apply_rot_embed(q, sin, cos), q, rope.freqs[:, layer],
            height=height, width=width)

# A learned projection of keypoints.
config = lightglue.LightGlueConfig(descriptor_dim=64, num_attention_heads=4)
encoder = lightglue.LightGluePositionalEncoder(config)
keypoints = lightglue.normalize_keypoints(torch.rand(1, 9, 2) * torch.tensor([640.0, 480.0]), 480, 640)
q = torch.randn(4, 9, 16)
add("lightglue", lambda: encoder(keypoints)[0], lambda q, cos, sin: lightglue.apply_rotary_pos_emb(q[None], q[None], cos, sin)[0], q,
    encoder.projector.weight, positions=bits(keypoints[0].T))

# A learned angle of the class token.
height, width, dim = 3, 5, 16
config = Config(rope_parameters={"rope_type": "axial", "rope_theta": 10000.0}, hidden_size=2 * dim, num_attention_heads=2, head_dim=dim)
rope = mlcd.MLCDRotaryEmbedding(config)
class_angle = torch.randn(1, dim // 2)
ids = torch.stack(torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij"), dim=-1).reshape(-1, 2)


def mlcd_tables():
    cos, sin = rope(torch.zeros(1), ids)
    both = torch.cat([class_angle, class_angle], dim=-1)
    return torch.cat([both.cos(), cos], dim=0), torch.cat([both.sin(), sin], dim=0)


q = torch.randn(2, 1 + height * width, dim)
add("mlcd", mlcd_tables, lambda q, cos, sin: mlcd.apply_rotary_pos_emb_vision(q.transpose(0, 1), q.transpose(0, 1), cos, sin)[0].transpose(0, 1), q,
    rope.inv_freq, height=height, width=width, class_angle=bits(class_angle))

# Columns first; object pointers at the end of the keys.
height, width, dim = 3, 5, 16
config = Config(rope_parameters={"rope_type": "axial", "rope_theta": 10000.0}, memory_attention_hidden_size=dim, memory_attention_downsample_rate=1,
                memory_attention_num_attention_heads=1, memory_attention_rope_feat_sizes=[width, height])
rope = sam2.Sam2VideoVisionRotaryEmbedding(config)
ids = sam2.Sam2VideoMemoryAttention.precompute_positions(config)
q = torch.randn(1, height * width + 4, dim)
add("sam2", lambda: rope(torch.zeros(1), ids), lambda q, cos, sin: sam2.apply_rotary_pos_emb_2d(q[None, :, :15], q[None], cos, sin, num_k_exclude_rope=4)[1], q,
    rope.inv_freq, height=height, width=width)

for window in (0, 3):
    dim = 12
    config = Config(rope_parameters={"rope_type": "axial", "rope_theta": 10000.0}, hidden_size=2 * dim, num_attention_heads=2, head_dim=dim, image_size=112,
                    patch_size=14, window_size=3)
    rope = sam3.Sam3ViTRotaryEmbedding(config)
    ids = sam3.Sam3ViTLayer.precompute_positions(config, window)
    size = window or 8
    q = torch.randn(2, size * size, dim)
    add("sam3", lambda: rope(torch.zeros(1), ids), lambda q, cos, sin: sam3.apply_rotary_pos_emb_2d(q[None], q[None], cos, sin)[0], q, rope.inv_freq,
        height=size, width=size, window=3)

# Rows and columns alternate, over all heads.
height, width, dim = 3, 5, 32
config = Config(rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 4.0}, hidden_size=dim, num_attention_heads=8,
                head_dim=dim // 8, q_aggregation_kernel_size=1, q_aggregation_stride=1)
rope = efficientloftr.EfficientLoFTRRotaryEmbedding(config)
q = torch.randn(1, height * width, dim)
add("efficientloftr", lambda: [x.reshape(-1, dim) for x in rope(torch.zeros(1, 1, height, width))],
    lambda q, cos, sin: efficientloftr.apply_rotary_pos_emb(q, q, cos, sin, unsqueeze_dim=0)[0], q, rope.inv_freq, height=height, width=width)

# Coordinates of atoms.
config = Config(num_spatial_rope_pairs_per_axis=2, num_uid_rope_pairs=10, spatial_rope_base_frequency=20.0, uid_rope_base_frequency=10000.0, head_dim=40)
rope = esmfold2.EsmFold2RotaryEmbedding(config)
atoms, uid = 7 * torch.randn(11, 3), torch.arange(11) // 4
q = torch.randn(2, 11, 40)
add("esmfold2", lambda: rope(atoms, uid, torch.float32),
    lambda q, cos, sin: esmfold2.apply_rotary_pos_emb(q[None], q[None], cos[None], sin[None])[0], q,
    positions=bits(torch.cat([atoms, uid.float()[:, None]], dim=1).T))

# Tables repeated over neighbours: it has none but in its rotation.
for dim in (16, 64):
    attention = Config(d_dim=2 * (dim // 3 // 2), h_dim=2 * (dim // 3 // 2), w_dim=2 * (dim // 3 // 2), attention_head_size=dim, grid_size=3, num_attention_heads=2)
    attention._get_frame_pos = lambda ids: vjepa2.VJEPA2RopeAttention._get_frame_pos(attention, ids)
    attention._get_height_pos = lambda ids: vjepa2.VJEPA2RopeAttention._get_height_pos(attention, ids)
    q = torch.randn(1, 2, 18, dim)
    positions = vjepa2.VJEPA2RopeAttention.get_position_ids(attention, q.transpose(1, 2).flatten(2))
    rotated = vjepa2.VJEPA2RopeAttention.apply_rotary_embeddings(attention, q, positions)
    cases.append({"model": "vjepa2", "heads": 2, "tokens": 18, "head_dim": dim, "height": 3, "width": 3, "positions": bits(torch.stack(positions).float()),
                  "q": bits(q), "rotated": bits(rotated)})

versions = {"timm": timm.__version__, "torch": torch.__version__, "transformers": transformers.__version__}
json.dump({"versions": versions, "cases": cases}, sys.stdout, separators=(",", ":"))
print()
