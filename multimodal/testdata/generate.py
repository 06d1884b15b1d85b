"""Golden vectors: the positions that the models' own Python gives to prompts.

    python generate.py transformers          with transformers 5.23.0: requirements.txt
    python generate.py before53              with transformers 5.2.0, for AfterLargest
    python generate.py ming FILE             FILE is modeling_bailing_moe_v2.py of inclusionAI/Ming
    python generate.py vision                the functions of transformers 5.23.0 for the vision tower
    python generate.py rotated               Q and K of a prompt of Qwen3-VL, rotated by transformers 5.23.0

Each writes NAME.json.gz beside this file. Prompts are random, of a fixed seed, and made by hand. Every model of
transformers that has a get_rope_index or a get_vision_position_ids of its own is run, or the script fails; those of
one family have to give the same positions for every prompt.
"""

import ast
import gzip
import importlib
import importlib.metadata
import inspect
import json
import pathlib
import random
import sys
from types import SimpleNamespace
from typing import Optional, Tuple

import torch

HERE = pathlib.Path(__file__).parent

IMAGE, VIDEO, AUDIO = 1001, 1002, 1003
VISION_START, VISION_END, AUDIO_START, AUDIO_END = 1004, 1005, 1006, 1007
VIDEO_START, VIDEO_END = 1008, 1009
SLICE_START, SLICE_END, NEWLINE = 1010, 1011, 1012

# Sizes of overviews, rows and columns of slices and their sizes, in tokens, for which float32 decides how a half is rounded.
STRETCHED = [(23, 15, 2, 2, 7, 59), (27, 11, 1, 2, 8, 8), (6, 14, 2, 1, 3, 9)]

rng = random.Random(20261122)


class Prompt:
    """ids, their mm_token_type_ids, and the grids of what they stand for."""

    def __init__(self):
        self.ids, self.types, self.images, self.videos, self.seconds, self.audios, self.generated = [], [], [], [], [], [], []

    def add(self, token, count=1, kind=0):
        self.ids += [token] * count
        self.types += [kind] * count

    def text(self, n):
        for _ in range(n):
            self.add(rng.randrange(1, 10))


def pad(prompts, left):
    length = max(len(p.ids) for p in prompts)

    def row(values, fill):
        gap = [fill] * (length - len(values))
        return gap + values if left else values + gap

    ids = torch.tensor([row(p.ids, 0) for p in prompts])
    types = torch.tensor([row(p.types, 0) for p in prompts])
    mask = torch.tensor([row([1] * len(p.ids), 0) for p in prompts])
    return ids, types, mask


def grids(lists):
    flat = [g for grids in lists for g in grids]
    return torch.tensor(flat) if flat else None


def bare(cls, config, **attributes):
    """An instance without weights."""
    model = object.__new__(cls)
    for key, value in dict(config=config, **attributes).items():
        object.__setattr__(model, key, value)
    return model


# The parts of prompts.


def size(merge, most=5):
    return merge * rng.randint(1, most)


def image(p, merge, h=None, w=None):
    h, w = h or size(merge), w or size(merge)
    p.add(VISION_START)
    p.add(IMAGE, h * w // merge**2, 1)
    p.add(VISION_END)
    p.images.append([1, h, w])


def video(p, merge, t=None, h=None, w=None, seconds=None, temporal=1):
    t, h, w = t or temporal * rng.randint(1, 6), h or size(merge, 3), w or size(merge, 3)
    p.add(VISION_START)
    p.add(VIDEO, t * h * w // merge**2 // temporal, 2)
    p.add(VISION_END)
    p.videos.append([t, h, w])
    p.seconds.append(seconds or rng.choice([1.0, 0.5, 2.0, 2 / 3, 0.08, 2 / 30, 1.7, 3.14]))


def frames(p, merge, t=None, glm=False):
    t, h, w = t or rng.randint(1, 5), size(merge, 3), size(merge, 3)
    p.add(VIDEO_START)
    for _ in range(t):
        p.text(rng.randint(1, 4))
        p.add(VISION_START)
        p.add(IMAGE if glm else VIDEO, h * w // merge**2, 2)
        p.add(VISION_END)
    p.add(VIDEO_END)
    p.videos.append([t, h, w])
    p.seconds.append(1.0)


def random_prompt(merge, parts, least=0):
    p = Prompt()
    p.text(rng.randint(0, 6))
    for _ in range(rng.randint(least, 4)):
        rng.choice(parts)(p, merge)
        p.text(rng.randint(0, 6))
    if len(p.ids) < 2:  # Ming and Qwen's Omni let the position of padding, 1, count among those of a shorter prompt
        p.text(3)
    return p


def long_prompt(merge, parts):
    """Positions far enough from 0 for float32 to round sums of fractions."""
    p = Prompt()
    for _ in range(4):
        p.text(rng.randint(2, 300))
        rng.choice(parts)(p, merge)
    p.text(rng.randint(2, 300))
    return p


def after_fractions(merge, movie):
    """Text of each length between videos whose times are fractions, across powers of two."""
    return [made(lambda p: movie(p, merge, 2, merge, merge, seconds), n, lambda p: movie(p, merge, 2, merge, merge, seconds), 1)
            for seconds in (0.08, 2 / 30, 0.07) for n in range(9)]


def made(*parts):
    p = Prompt()
    for part in parts:
        part(p) if callable(part) else p.text(part)
    return p


def batches(merge, parts, hand, count=24):
    """Hand-made prompts one by one and some together, then random ones."""
    yield [hand[0]], False
    for p in hand[1:]:
        yield [p], rng.random() < 0.5
    yield hand[:5], True
    yield hand[:5], False
    for _ in range(count):
        yield [random_prompt(merge, parts) for _ in range(rng.randint(1, 4))], rng.random() < 0.5


def grid_hand(merge, temporal=1, framewise=False, glm=False):
    def movie(t):
        if framewise:
            return lambda p: frames(p, merge, t, glm)
        return lambda p: video(p, merge, t * temporal, 2 * merge, 3 * merge, temporal=temporal)

    return [
        made(5),
        made(lambda p: image(p, merge, 4 * merge, 2 * merge)),
        made(3, lambda p: image(p, merge, merge, 7 * merge), 1, lambda p: image(p, merge, 6 * merge, merge), 2),
        made(2, movie(12), 4),
        made(movie(3), movie(1), lambda p: image(p, merge), movie(2)),
    ]


# How positions are compared and written.


def record(model, prompts, left, length, positions, mask, nexts):
    out = []
    for b, p in enumerate(prompts):
        kept = positions[:, b][:, mask[b].bool()]
        entry = {"ids": p.ids, "positions": kept.tolist(), "next": nexts[b]}
        for key in ("images", "videos", "seconds", "generated"):
            if getattr(p, key):
                entry[key] = getattr(p, key)
        out.append(entry)
    return {"model": model, "left": left, "length": length, "prompts": out}


def whole(x):
    return x.item() if isinstance(x, torch.Tensor) else x


def family(name, run, model, sources, stream):
    """sources: the classes that have to agree. run(instance, prompts, left) gives positions and what comes next."""
    written, count = [], 0
    for prompts, left in stream:
        first = None
        for source in sources:
            ids, types, mask = pad(prompts, left)
            positions, nexts = run(source, prompts, ids, types, mask)
            result = record(model, prompts, left, ids.shape[1], positions, mask, nexts)
            if first is None:
                first = result
            elif json.dumps(first) != json.dumps(result):
                raise SystemExit(f"{type(source).__name__} differs from {type(sources[0]).__name__} in {name}")
        written.append(first)
        count += len(prompts)
    if count < 40:
        raise SystemExit(f"{name} has {count} prompts")
    return written


def write(name, vectors, *packages):
    vectors["versions"] = {p: importlib.metadata.version(p).split("+")[0] for p in ("torch", *packages)}
    text = json.dumps(vectors, separators=(",", ":"))
    with gzip.GzipFile(HERE / f"{name}.json.gz", "wb", compresslevel=9, mtime=0) as f:
        f.write(text.encode())


# transformers


def modeling(name):
    return importlib.import_module(f"transformers.models.{name}.modeling_{name}")


def config(merge, **more):
    """A configuration with what the functions read."""
    vision = SimpleNamespace(spatial_merge_size=merge, **more.pop("vision", {}))
    ids = dict(image_token_id=IMAGE, video_token_id=VIDEO, audio_token_id=AUDIO, vision_start_token_id=VISION_START, audio_start_token_id=AUDIO_START)
    return SimpleNamespace(vision_config=vision, **ids, **more)


def by_types(m, prompts, ids, types, mask, **more):
    positions, deltas = m.get_rope_index(
        ids.clone(), mm_token_type_ids=types, image_grid_thw=grids([p.images for p in prompts]),
        video_grid_thw=grids([p.videos for p in prompts]), attention_mask=mask, **more)
    return positions, [d.item() + len(p.ids) for d, p in zip(deltas, prompts)]


def by_types_with_seconds(m, prompts, ids, types, mask):
    seconds = [s for p in prompts for s in p.seconds]
    return by_types(m, prompts, ids, types, mask, second_per_grid_ts=torch.tensor(seconds) if seconds else None)


def omni(m, prompts, ids, types, mask):
    seconds = [s for p in prompts for s in p.seconds]
    lengths = [n for p in prompts for n in p.audios]
    positions, deltas = m.get_rope_index(
        ids, grids([p.images for p in prompts]), grids([p.videos for p in prompts]), mask,
        any(getattr(p, "with_sound", False) for p in prompts), torch.tensor(lengths) if lengths else None,
        torch.tensor(seconds) if seconds else None)
    nexts = []
    for b, p in enumerate(prompts):
        largest = positions[:, b][:, mask[b].bool()].max()
        nexts.append((largest + 1).item())
        if (largest + 1 - len(p.ids)).item() != deltas[b].item():
            raise SystemExit("decoding does not go on after the largest position")
    return positions, nexts


def hunyuan(m, prompts, ids, types, mask):
    positions, deltas = m.get_rope_index(ids, mm_token_type_ids=types, image_grid_thw=grids([p.images for p in prompts]), attention_mask=mask)
    return positions, [d.item() + len(p.ids) for d, p in zip(deltas, prompts)]


def minicpm(m, prompts, ids, types, mask):
    sizes = [grids([[g[1:] for g in p.images] for p in prompts]), grids([[g[1:] for g in p.videos] for p in prompts])]
    positions, deltas = m.get_rope_index(ids, mm_token_type_ids=types, target_sizes=sizes[0], target_sizes_videos=sizes[1], attention_mask=mask)
    return positions, [d.item() + len(p.ids) for d, p in zip(deltas, prompts)]


def glm_image(m, prompts, ids, types, mask):
    all_grids = [p.images + p.generated[::-1] for p in prompts]
    counts = torch.tensor([len(g) for g in all_grids])
    positions, _ = m.get_rope_index(ids, image_grid_thw=grids(all_grids), images_per_sample=counts, attention_mask=mask)
    nexts = []
    for b, p in enumerate(prompts):
        if not p.generated:
            nexts.append(positions[:, b][:, mask[b].bool()].max().item() + 1)
            continue
        tokens = sum(h * w for _, h, w in p.generated) + 1
        p.decoded = m._cached_decode_position_ids[b][:, :tokens].tolist()
        nexts.append(p.decoded[0][0])
    return positions, nexts


def omni_parts(sound_of, with_sound):
    def audio(p, merge):
        n, length = sound_of()
        p.add(AUDIO_START)
        p.add(AUDIO, n, 3)
        p.add(AUDIO_END)
        p.audios.append(length)

    def both(p, merge, t=None, h=None, w=None, seconds=None):
        t, h, w = t or rng.randint(1, 6), h or size(merge, 3), w or size(merge, 3)
        n, length = sound_of()
        p.add(VISION_START)
        p.add(AUDIO_START)
        video_tokens = t * h * w // merge**2
        order = [VIDEO] * (video_tokens - 1) + [AUDIO] * n
        rng.shuffle(order)
        for token in [VIDEO] + order:
            p.add(token, 1, 2 if token == VIDEO else 3)
        p.add(AUDIO_END)
        p.add(VISION_END)
        p.videos.append([t, h, w])
        p.seconds.append(seconds or rng.choice([1.0, 0.5, 2.0, 2 / 3, 0.08, 2 / 30, 1.7, 3.14]))
        p.audios.append(length)
        p.with_sound = True

    return [image, both, audio] if with_sound else [image, video, audio]


def omni_batches(sound_of):
    merge = 2
    for with_sound in (False, True):
        parts = omni_parts(sound_of, with_sound)
        hand = [
            made(6),
            made(lambda p: parts[0](p, merge)),
            made(2, lambda p: parts[1](p, merge, 9), 3),
            made(lambda p: parts[2](p, merge), lambda p: parts[1](p, merge, 3), 1, lambda p: parts[0](p, merge)),
        ]
        hand += [long_prompt(merge, parts[1:]) for _ in range(5)] + after_fractions(merge, parts[1])
        for prompts, left in batches(merge, parts, hand, 20):
            if with_sound and not any(getattr(p, "with_sound", False) for p in prompts):
                continue
            yield prompts, left


def hunyuan_image(p, merge, h=None, w=None):
    h, w = h or size(merge), w or size(merge)
    p.text(1)
    p.add(IMAGE, h // merge * (w // merge + 1) + rng.choice([0, 2]), 1)
    p.text(1)
    p.images.append([1, h, w])


def canvas(token, kind, grids_of):
    """An image or a frame, maybe with rows and columns of slices."""

    def part(p, merge, rows=None, columns=None, closed=True, overview=None, slices=None, ragged=False):
        def crop(h, w):
            p.add(token, h * w // merge**2, kind)
            grids_of(p).append([1, h, w])

        if rows is None:
            rows, columns = rng.choice([(0, 0), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (1, 4)])
        slice_h, slice_w = slices or (size(merge, 4), size(merge, 4))
        p.add(VISION_START)
        crop(*overview or (size(merge, 6), size(merge, 6)))
        if closed:
            p.add(VISION_END)
        for row in range(rows):
            for column in range(columns + (ragged and row)):
                p.add(SLICE_START)
                crop(slice_h, slice_w if slices or column < columns - 1 else size(merge, 4))
                p.add(SLICE_END)
            if row < rows - 1:
                p.add(NEWLINE, rng.choice([1, 1, 1, 2]))
        if rng.random() < 0.5:
            p.add(NEWLINE)

    return part


def glm_image_part(p, merge):
    h, w = rng.randint(1, 6), rng.randint(1, 6)
    p.add(VISION_START)
    p.add(IMAGE, h * w, 1)
    p.add(VISION_END)
    p.images.append([1, h, w])


def glm_image_batches():
    hand = [
        made(5),
        made(lambda p: glm_image_part(p, 1), 4),
        made(4, lambda p: glm_image_part(p, 1), lambda p: glm_image_part(p, 1)),
    ]
    for p, n in zip(hand, (1, 0, 2)):
        p.generated = [[1, rng.randint(1, 5), rng.randint(1, 5)] for _ in range(n)]
    for prompts, left in batches(1, [glm_image_part], hand):
        for p in prompts:
            if not p.images and not p.generated or rng.random() < 0.5 and not hasattr(p, "decoded"):
                p.generated = [[1, rng.randint(1, 5), rng.randint(1, 5)] for _ in range(rng.randint(1, 2))]
        yield prompts, left


def own_functions():
    """The models whose class has a get_rope_index or a get_vision_position_ids of its own."""
    import transformers

    found = set()
    for file in sorted(pathlib.Path(transformers.__file__).parent.glob("models/*/modeling_*.py")):
        for cls in ast.parse(file.read_text()).body:
            if isinstance(cls, ast.ClassDef) and any(isinstance(f, ast.FunctionDef) and f.name in ("get_rope_index", "get_vision_position_ids") for f in cls.body):
                found.add(file.parent.name)
    return found


def model_types(names):
    types = set()
    for name in names:
        module = modeling(name)
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if cls.__module__ == module.__name__ and hasattr(cls, "get_rope_index") and getattr(cls.config_class, "model_type", ""):
                types.add(cls.config_class.model_type)
    return sorted(types)


def write_transformers():
    done, families = set(), []

    def add(name, run, model, classes, stream, cfg, **attributes):
        names = [n for n, _ in classes]
        instances = [bare(getattr(modeling(n), c), cfg, **attributes) for n, c in classes]
        done.update(names)
        families.append({"family": name, "models": model_types(names), "classes": [f"{n}.{c}" for n, c in classes],
                         "batches": family(name, run, model, instances, stream)})

    add("Qwen2VL", by_types, {"merge": 2}, [("qwen2_vl", "Qwen2VLModel"), ("paddleocr_vl", "PaddleOCRVLModel")],
        batches(2, [image, video], grid_hand(2)), config(2))
    for seconds in (2, 3):
        add("Qwen25VL", by_types_with_seconds, {"merge": 2, "perSecond": seconds}, [("qwen2_5_vl", "Qwen2_5_VLModel")],
            batches(2, [image, video], grid_hand(2)), config(2, vision={"tokens_per_second": seconds}))
    framewise = [("qwen3_vl", "Qwen3VLModel"), ("qwen3_vl_moe", "Qwen3VLMoeModel"), ("qwen3_5", "Qwen3_5Model"), ("qwen3_5_moe", "Qwen3_5MoeModel"),
                 ("qwen4_exp", "Qwen4ExpModel"), ("glm4v", "Glm4vModel"), ("glm4v_moe", "Glm4vMoeModel"), ("glm46v", "Glm46VModel"), ("glm_ocr", "GlmOcrModel"),
                 ("cohere_compass", "CohereCompassModel"), ("cosmos3_edge", "Cosmos3EdgeModel"), ("cosmos3_omni", "Cosmos3OmniModel")]
    for glm in (False, True):
        def movie(p, merge, glm=glm):
            frames(p, merge, glm=glm)
        add("Qwen3VL", by_types, {"merge": 2, "glm": glm}, framewise, batches(2, [image, movie], grid_hand(2, framewise=True, glm=glm)), config(2))

    def compressed(p, merge):
        video(p, merge, temporal=2)
    add("Ernie45VL", by_types, {"merge": 2, "temporalMerge": 2}, [("ernie4_5_vl_moe", "Ernie4_5_VLMoeModel")],
        batches(2, [image, compressed], grid_hand(2, 2)), config(2, vision={"temporal_merge_size": 2}))
    for axes in (4, 3):
        text = SimpleNamespace(rope_parameters={"mrope_section": [16] * axes})
        hand = [made(5), made(lambda p: hunyuan_image(p, 2, 8, 4), 3), made(2, lambda p: hunyuan_image(p, 2, 2, 12), lambda p: hunyuan_image(p, 2), 4)]
        add("HunYuanVL", hunyuan, {"merge": 2, "axes": axes}, [("hunyuan_vl", "HunYuanVLModel")], batches(2, [hunyuan_image], hand), config(2, text_config=text))
    for merge, mode in ((4, "16x"), (2, "4x")):
        still, movie = canvas(IMAGE, 1, lambda p: p.images), canvas(VIDEO, 2, lambda p: p.videos)
        hand = [made(4), made(lambda p: still(p, merge, 0, 0)), made(3, lambda p: still(p, merge, 2, 3), 2), made(lambda p: still(p, merge, 3, 2), lambda p: still(p, merge, 0, 0), 5),
                made(2, *[lambda p: movie(p, merge, 0, 0)] * 4, 3), made(1, lambda p: still(p, merge, 2, 2, closed=False), 1, lambda p: movie(p, merge, 1, 3)),
                made(lambda p: still(p, merge, 2, 2, ragged=True), 3)]
        for h, w, rows, columns, slice_h, slice_w in STRETCHED:
            hand.append(made(1, lambda p: still(p, merge, rows, columns, overview=(merge * h, merge * w), slices=(merge * slice_h, merge * slice_w)), 2))
        add("MiniCPMV47", minicpm, {"merge": merge}, [("minicpmv4_7", "MiniCPMV4_7Model")], batches(merge, [still, movie], hand),
            config(merge, downsample_mode=mode, slice_start_id=SLICE_START, slice_end_id=SLICE_END, image_start_id=VISION_START, image_end_id=VISION_END, newline_id=NEWLINE))

    def sound25():
        length = rng.randint(4, 700)
        return ((length - 1) // 2 + 1 - 2) // 2 + 1, length
    for per_second, chunk in ((25, 2), (7, 1)):
        add("Qwen25Omni", omni, {"merge": 2, "perSecond": per_second, "perChunk": per_second * chunk},
            [("qwen2_5_omni", "Qwen2_5OmniThinkerForConditionalGeneration")], omni_batches(sound25),
            config(2, position_id_per_seconds=per_second, seconds_per_chunk=chunk), spatial_merge_size=2)

    def sound3():
        length = rng.randint(4, 700)
        return modeling("qwen3_omni_moe")._get_feat_extract_output_lengths(torch.tensor(length), 50).item(), length
    add("Qwen3Omni", omni, {"merge": 2, "perSecond": 13}, [("qwen3_omni_moe", "Qwen3OmniMoeThinkerForConditionalGeneration"), ("qwen3_omni_moe", "Qwen3OmniMoeTalkerForConditionalGeneration")],
        omni_batches(sound3), config(2, position_id_per_seconds=13, audio_config=SimpleNamespace(n_window=50)), spatial_merge_size=2)

    cfg = SimpleNamespace(image_start_token_id=VISION_START, image_end_token_id=VISION_END)
    stream = list(glm_image_batches())
    add("Qwen2VL", glm_image, {"merge": 1}, [("glm_image", "GlmImageModel")], stream, cfg)
    for (prompts, _), batch in zip(stream, families[-1]["batches"]):
        for p, entry in zip(prompts, batch["prompts"]):
            if p.generated:
                entry["decoded"] = p.decoded

    if done != own_functions():
        raise SystemExit(f"not run, or gone: {done ^ own_functions()}")
    write("transformers", {"families": families}, "transformers")


def write_before53():
    def run(m, prompts, ids, types, mask):
        more = {"mm_token_type_ids": types} if "mm_token_type_ids" in inspect.signature(m.get_rope_index).parameters else {}
        if m.seconds:
            more["second_per_grid_ts"] = torch.tensor([s for p in prompts for s in p.seconds]) if any(p.seconds for p in prompts) else None
        if not any(p.images or p.videos for p in prompts):  # the functions fail without any, or number padding too
            return torch.arange(ids.shape[1]).expand(3, 1, -1), [len(p.ids) for p in prompts]
        positions, deltas = m.get_rope_index(ids, image_grid_thw=grids([p.images for p in prompts]), video_grid_thw=grids([p.videos for p in prompts]), attention_mask=mask, **more)
        nexts = [positions[:, b][:, mask[b].bool()].max().item() + 1 for b in range(len(prompts))]
        for d, n in zip(deltas, nexts):
            delta = n - ids.shape[1]
            if d.item() not in (delta, max(delta, 0)):  # 5.2.0 lets none of Qwen2-VL be negative, 4.57 did
                raise SystemExit("decoding does not go on after the largest position")
        return positions, nexts

    families = []
    for name, source, cls, model, cfg in (
        ("Qwen2VL", "qwen2_vl", "Qwen2VLModel", {"merge": 2}, config(2)),
        ("Qwen25VL", "qwen2_5_vl", "Qwen2_5_VLModel", {"merge": 2, "perSecond": 2}, config(2, vision={"tokens_per_second": 2})),
        ("Ernie45VL", "ernie4_5_vl_moe", "Ernie4_5_VL_MoeModel", {"merge": 2, "temporalMerge": 2}, config(2, vision={"temporal_merge_size": 2})),
    ):
        temporal = model.get("temporalMerge", 1)

        def movie(p, merge, temporal=temporal):
            video(p, merge, temporal=temporal)
        instance = bare(getattr(modeling(source), cls), cfg, seconds=name == "Qwen25VL")
        stream = [(prompts, left) for prompts, left in batches(2, [image, movie], grid_hand(2, temporal)) if len(prompts) == 1 or any(p.images or p.videos for p in prompts)]
        for p in (p for prompts, _ in stream for p in prompts):
            p.seconds = [max(float(int(s)), 1.0) for s in p.seconds]  # 5.2.0 truncates them
        families.append({"family": name, "models": [], "batches": family(name, run, model | {"afterLargest": True}, [instance], stream)})
    write("before53", {"families": families}, "transformers")


# inclusionAI/Ming


def write_ming(file):
    """Runs the function of the file, without the model around it."""
    tree = ast.parse(pathlib.Path(file).read_text())
    tree.body = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == "get_t_scale_rope_index"]
    space = {"torch": torch, "Optional": Optional, "Tuple": Tuple}
    exec(compile(tree, file, "exec"), space)
    function = space["get_t_scale_rope_index"]
    cfg = SimpleNamespace(spatial_merge_size=2, image_patch_token=IMAGE, video_patch_token=VIDEO, image_start_token=VISION_START, video_start_token=VISION_START)
    families = []
    for scale, timed in ((1.0, False), (2.0, True), (0.3, True), (4.0, False)):
        def run(f, prompts, ids, types, mask):
            seconds = [s for p in prompts for s in p.seconds]
            positions, deltas = f(cfg, ids, grids([p.images for p in prompts]), grids([p.videos for p in prompts]), mask, scale, torch.tensor(seconds) if timed and seconds else None)
            return positions, [d.item() + ids.shape[1] for d in deltas]

        tall = made(1, lambda p: video(p, 2, 4, 18, 14, 0.3), 2)
        stream = batches(2, [image, video], grid_hand(2) + [tall] + [long_prompt(2, [video]) for _ in range(3)] + after_fractions(2, video), 14)
        model = {"merge": 2, "timeScale": scale}
        result = family("Ming", run, model, [function], stream)
        for batch in result:
            for p in batch["prompts"]:
                if not timed:
                    p.pop("seconds", None)
        families.append({"family": "Ming", "models": ["bailing_moe_v2"], "batches": result})
    write("ming", {"families": families})


# The vision tower


def write_vision():
    from transformers import vision_utils as v

    shapes = [[[1, 4, 4]], [[1, 8, 12], [3, 4, 8]], [[2, 28, 16], [1, 4, 32], [1, 16, 20]]]
    for _ in range(12):
        shapes.append([[rng.randint(1, 3), 4 * rng.randint(1, 6), 4 * rng.randint(1, 6)] for _ in range(rng.randint(1, 3))])
    positions, windows, frame_starts = [], [], []
    for i, s in enumerate(shapes):
        grid = torch.tensor(s)
        for merge in (1, 2, 4):
            positions.append({"grids": s, "merge": merge, "positions": v.get_vision_position_ids(grid, merge, include_temporal=True).T.tolist()})
        for merge, window, patch in ((2, 112, 14), (1, 2, 1), (2, 8, 1)):
            order, starts = v.get_vision_window_index(grid, merge, window, patch)
            windows.append({"grids": s, "merge": merge, "window": window, "patch": patch, "order": order.tolist(), "starts": starts.tolist()})
        for whole_videos in (False, True):
            frame_starts.append({"grids": s, "wholeVideos": whole_videos, "starts": v.get_vision_cu_seqlens(grid, merge_temporal=whole_videos).tolist()})
    write("vision", {"positions": positions, "windows": windows, "frames": frame_starts}, "transformers")


# From a prompt to rotated Q and K


def write_rotated():
    """Text, two images and a video of two frames, by the configuration and the ids of Qwen3-VL."""
    m = modeling("qwen3_vl")
    cfg = m.Qwen3VLConfig(text_config={"head_dim": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 5e6, "mrope_section": [24, 20, 20], "mrope_interleaved": True}})
    p = Prompt()
    p.text(2)
    for grid in ([1, 4, 6], [1, 2, 4]):
        p.add(cfg.vision_start_token_id)
        p.add(cfg.image_token_id, grid[1] * grid[2] // 4, 1)
        p.add(cfg.vision_end_token_id)
        p.images.append(grid)
    for _ in range(2):
        p.text(3)
        p.add(cfg.vision_start_token_id)
        p.add(cfg.video_token_id, 2, 2)
        p.add(cfg.vision_end_token_id)
    p.videos.append([2, 2, 4])
    p.text(1)
    ids, types, mask = pad([p], False)
    positions, nexts = by_types(bare(m.Qwen3VLModel, cfg), [p], ids, types, mask)
    q, k = (torch.tensor([rng.randrange(-8, 9) / 4 for _ in range(len(p.ids) * 128)]).reshape(1, 1, -1, 128) for _ in range(2))
    cos, sin = m.Qwen3VLTextRotaryEmbedding(cfg.text_config)(q, positions)
    rotated = [x.flatten().view(torch.int32).tolist() for x in m.apply_rotary_pos_emb(q, k, cos, sin)]
    write("rotated", {"config": json.loads(cfg.to_json_string()), "ids": p.ids, "images": p.images, "videos": p.videos, "positions": positions.flatten().tolist(), "next": nexts[0],
                      "q": q.flatten().tolist(), "k": k.flatten().tolist(), "rotatedQ": rotated[0], "rotatedK": rotated[1]}, "transformers")


if __name__ == "__main__":
    {"transformers": write_transformers, "before53": write_before53, "ming": write_ming, "vision": write_vision, "rotated": write_rotated}[sys.argv[1]](*sys.argv[2:])
