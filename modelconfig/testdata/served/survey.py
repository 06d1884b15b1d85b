"""Survey: the models that vLLM and SGLang rotate, by their sources alone.

    python3 survey.py TRANSFORMERS NAME=VERSION=FOLDER...

Writes NAME.txt for each project. TRANSFORMERS is the folder of that package. See README.md for the rules.
"""

import ast
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "keys"))

from keys import Reader, name_of, read_of, texts

# The type that published files of an architecture have, where no source says.
TYPES = dict(
    line.split()
    for line in """
AliceAIForCausalLM alice_ai
BaichuanForCausalLM baichuan
BailingMMNativeForConditionalGeneration bailingmm_moe_v2_lite
BailingMoeForCausalLM bailing_moe
BailingMoeV2ForCausalLM bailing_moe_v2
BailingMoeV2_5ForCausalLM bailing_hybrid
BgeM3EmbeddingModel xlm-roberta
ClefFlashForJointSchema qwen3_5
ClefOmniForJointSchema qwen3_omni_moe
ColBERTJinaRobertaModel jina_embeddings_v3
ColBERTLfm2Model lfm2
ColBERTModernBertModel modernbert
ColQwen3_5 colqwen3_5
Cosmos3ForConditionalGeneration cosmos3_omni
DeciLMForCausalLM nemotron-nas
DeepSeekMTPModel deepseek_mtp
DeepseekForCausalLM deepseek
DeepseekOCRForCausalLM deepseek-ocr
DeepseekV3BidirectionalModel deepseek_v3
DomynEdgeForCausalLM domyn_edge
Eagle2_5_VLForConditionalGeneration eagle_2_5_vl
EmbeddingGemmaModel gemma3_text
ExaoneForCausalLM exaone
FireRedASR2ForConditionalGeneration qwen2
FunASRForConditionalGeneration qwen3
Grok1ModelForCausalLM grok-1
GteNewForSequenceClassification new
GteNewModel new
H2OVLChatModel h2ovl_chat
HCXVisionV2ForCausalLM hyperclovax_vision_v2
HfMoondream moondream3
IQuestLoopCoderForCausalLM iquestloopcoder
InternLM2ForCausalLM internlm2
InternLM2ForRewardModel internlm2
InternS1ForConditionalGeneration interns1
InternS1ProForConditionalGeneration interns1_pro
InternS2MobiusForConditionalGeneration interns2_mobius
InternS2PreviewForConditionalGeneration intern_s2_preview
InternVLChatModel internvl_chat
JinaEmbeddingsV5Model jina_embeddings_v5
JinaForRanking qwen3
JinaVLForRanking qwen2_vl
K2HorizonForCausalLM k2_horizon
KananaVForConditionalGeneration kanana-1.5-v
KeyeForConditionalGeneration Keye
KeyeVL1_5ForConditionalGeneration KeyeVL1_5
LLaDA2MoeModelLM llada2_moe
Lfm2BidirectionalModel lfm2
LlamaEmbeddingModel llama
LlavaLlamaForCausalLM llava_llama
LlavaMistralForCausalLM llava_mistral
LlavaOnevision2ForConditionalGeneration llava_onevision2
LlavaQwenForCausalLM llava_qwen
LlavaVidForCausalLM llava
LongcatFlashNgramForCausalLM longcat_flash_ngram
MiDashengLMModel midashenglm
MiMoForCausalLM mimo
MiMoV2ForCausalLM mimo_v2
MiMoV2OmniForCausalLM mimo_v2_omni
MiniCPMForCausalLM minicpm
MiniCPMO minicpmo
MiniCPMSALAForCausalLM minicpm_sala
MiniCPMV minicpmv
MolmoForCausalLM molmo
MoonshotKimiaForCausalLM kimi_audio
MossAudioModel moss_audio
MossVLForConditionalGeneration moss_vl
MultiModalityCausalLM multi_modality
NVILAForConditionalGeneration nvila
NVILALiteForConditionalGeneration nvila_lite
NVLM_D NVLM_D
NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_Omni_Reasoning_V3
NemotronH_Nano_VL_V2 NemotronH_Nano_VL_V2
OpenCUAForConditionalGeneration opencua
OpenPanguVLForConditionalGeneration openpangu_vl
OrionForCausalLM orion
Ovis2_5 ovis2_5
PanguEmbeddedForCausalLM PanguEmbedded
PanguProMoEV2ForCausalLM PanguProMoE
PanguUltraMoEForCausalLM pangu_ultra_moe
Param2MoEForCausalLM param2moe
Phi3SmallForCausalLM phi3small
Phi3VForCausalLM phi3_v
Phi4ForCausalLMV phi4-siglip
Phi4MMForCausalLM phi4mm
PixtralForConditionalGeneration pixtral
Plamo3ForCausalLM plamo3
QWenLMHeadModel qwen
QuantMixtralForCausalLM mixtral
Qwen3ASRForcedAlignerForTokenClassification qwen3_asr
Qwen3ASRRealtimeGeneration qwen3_asr
RForConditionalGeneration R
Rnj1ForCausalLM rnj1
SDARForCausalLM sdar
SDARMoeForCausalLM sdar_moe
Sarashina2VisionForCausalLM sarashina2_vision
SarvamMLAForCausalLM sarvam_mla
SarvamMoEForCausalLM sarvam_moe
SkyworkR1VChatModel skywork_chat
SolarForCausalLM solar
Step3p5ForCausalLM step3p5
TeleChat2ForCausalLM telechat
TeleChat3ForCausalLM telechat3
TeleFLMForCausalLM TeleFLM
TorchNativePhi3ForCausalLM phi3
VoxtralRealtimeGeneration voxtral_realtime
VoyageQwen3BidirectionalEmbedModel qwen3
XverseForCausalLM xverse
XverseMoeForCausalLM xverse_moe
YiVLForCausalLM llava
""".split("\n")
    if line
)

# What code calls that rotates, or that makes another registered model.
CALLED = re.compile(r"get_rope|rotary|rotate_(half|every)|RopeP|RoPE|rope_emb|apply_rope|freqs_cis|init_vllm_registered_model")
# The ends of architectures and of classes of configurations, and what lies between words.
ENDS = re.compile(r"(For[A-Z]\w*|LMHeadModel|Model|Config|Thinker|ThinkerTextConfig)$")


class Package:
    """The definitions of a Python package, by module and name."""

    def __init__(self, folder):
        self.folder, self.modules, self.names = pathlib.Path(folder), {}, {}

    def module(self, name):
        """Definitions and imports of a module: name -> node, or (module, name)."""
        if name not in self.modules:
            path = self.folder.parent / name.replace(".", "/")
            path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            self.modules[name] = found = {}
            tree = ast.parse(path.read_text() if path.exists() else "")
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    parts = name.split(".") + ["x"] * (path.name == "__init__.py")
                    base = ".".join(parts[: -node.level] * bool(node.level) + [node.module] * bool(node.module))
                    for a in node.names:
                        found.setdefault(a.asname or a.name, (base, a.name))
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    found[node.name] = node
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    found[node.targets[0].id] = node.value
        return self.modules[name]

    def find(self, module, name):
        """The module and the node that a name of a module is, None if it is of another package."""
        for _ in range(5):
            found = self.module(module).get(name)
            if not isinstance(found, tuple):
                return (module, found) if found else None
            module, name = found
            if module.split(".")[0] != self.folder.name:
                return None

    def reached(self, module, name, within):
        """The nodes of models that a class is made of: what it names, and what that names."""
        todo, seen = [self.find(module, name)], {}
        while todo:
            entry = todo.pop()
            if entry is None or entry[1] in seen or not entry[0].startswith(within):
                continue
            seen[entry[1]] = None
            if entry[1] not in self.names:
                self.names[entry[1]] = {x.id for x in ast.walk(entry[1]) if isinstance(x, ast.Name)}
            todo += [self.find(entry[0], n) for n in sorted(self.names[entry[1]])]
        return seen


def strings(node):
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def configurations(folder):
    """The classes of configurations of a package: the type, and the defaults of fields."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*.py")):
        if "config" not in str(path.relative_to(folder)) or "model_type" not in (text := path.read_text()):
            continue
        for node in ast.parse(text).body:
            fields = {}
            for n in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(n, ast.FunctionDef) and n.name == "__init__":
                    fields.update(zip((a.arg for a in n.args.args[-len(n.args.defaults) :]), n.args.defaults))
                    fields.update((a.arg, d) for a, d in zip(n.args.kwonlyargs, n.args.kw_defaults) if d is not None)
                elif isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None:
                    fields[name_of(n.targets[0] if isinstance(n, ast.Assign) else n.target)] = n.value
            model_type = strings(fields.pop("model_type", ast.Pass()))
            if model_type and model_type[0]:
                found.setdefault(node.name, (model_type[0], fields))
    return found


def types_of_architectures(folder):
    """The types that transformers gives an architecture."""
    types = collections.defaultdict(set)
    for node in ast.walk(ast.parse((pathlib.Path(folder) / "models/auto/modeling_auto.py").read_text())):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and texts(node.elts[0]):
            for name in strings(node.elts[1]):
                types[name].add(strings(node.elts[0])[0])
    return types


def architectures(package):
    """(architecture, module, class) of each model that a project registers."""
    registry = package.folder / "model_executor/models/registry.py"
    if registry.exists():  # vLLM
        for node in ast.parse(registry.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and name_of(node.targets[0]).endswith("_MODELS"):
                for key, value in zip(node.value.keys, node.value.values):
                    if key is not None and isinstance(value, ast.Tuple):
                        module, name = texts(value)
                        yield key.value, module if "." in module else "vllm.model_executor.models." + module, name
        return
    for path in sorted((package.folder / "srt/models").glob("*.py")):  # SGLang
        module = "sglang.srt.models." + path.stem
        entry = package.module(module).get("EntryClass")
        for n in ast.walk(entry) if entry else ():
            if isinstance(n, ast.Name):
                yield n.id, module, n.id


def position_keys(nodes):
    """The keys that position code of these nodes reads, with the default where the code has one."""
    counts, defaults = collections.defaultdict(lambda: [0, 0, 0]), {}
    for node in nodes:
        Reader(counts, set()).visit(node)
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and len(n.args) > 1 and isinstance(n.args[-1], ast.Constant):
                for key in read_of(n)[1]:
                    if name_of(n.func) == "get" or len(n.args) > 2:
                        defaults.setdefault(key, n.args[-1])
    return {k: defaults.get(k) for k, (_, position, _) in counts.items() if position}


def calls(nodes):
    """What nodes call that rotates, with the order of pairs where it is a constant."""
    found = set()
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and CALLED.search(name_of(n.func) or ""):
                order = [f"(is_neox_style={k.value.value})" for k in n.keywords if k.arg == "is_neox_style" and isinstance(k.value, ast.Constant)]
                found.add(name_of(n.func) + "".join(order))
    return sorted(found)


def short(value):
    text = ast.unparse(value) if value is not None else ""
    return "=" + text.replace(" ", "") if value is not None and len(text) < 24 and "\n" not in text else ""


def survey(folder, transformers):
    """A line for each type, or each architecture without one: type, architectures, files, calls, keys."""
    package = Package(folder)
    within = tuple(package.folder.name + p for p in (".model_executor.models", ".models", ".srt.models"))
    classes = {**configurations(transformers), **configurations(folder)}
    stems = {ENDS.sub("", c).lower().replace("_", ""): v for c, v in classes.items() if c.endswith("Config")}
    fields = {t: f for t, f in classes.values()}
    by_architecture = types_of_architectures(transformers)
    lines = collections.defaultdict(lambda: (set(), set(), set(), {}))
    for architecture, module, name in sorted(set(architectures(package))):
        if module.endswith(".models.transformers"):  # any type, by its own code
            continue
        nodes = package.reached(module, name, within)
        called = calls(nodes)
        if not called:
            continue
        stem = ENDS.sub("", architecture).lower().replace("_", "")
        types = by_architecture.get(architecture) or {stems[stem][0] if stem in stems else TYPES.get(architecture, architecture)}
        file = module.removeprefix(package.folder.name + ".").replace(".", "/")
        for t in types:
            line = lines[t]
            line[0].add(architecture)
            line[1].add(file)
            line[2].update(called)
            for key, value in position_keys(nodes).items():
                line[3].setdefault(key, value or fields.get(t, {}).get(key))
    for t, (names, files, called, keys) in sorted(lines.items()):
        yield "\t".join([t, " ".join(sorted(names)), " ".join(sorted(files)), " ".join(sorted(called)), " ".join(k + short(v) for k, v in sorted(keys.items()))])


def main(arguments):
    transformers, *projects = arguments
    for argument in projects:
        name, version, folder = argument.split("=")
        lines = list(survey(folder, transformers))
        (HERE / (name + ".txt")).write_text(f"# {name} {version}\n" + "".join(line + "\n" for line in lines))
        print(name, len(lines), "types")


if __name__ == "__main__":
    main(sys.argv[1:])
