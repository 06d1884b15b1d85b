"""What the newest transformers, vLLM, SGLang and llama.cpp rotate and the surveys here do not have.

    python3 new.py FOLDER LLAMA_CPP

pip puts the newest release of the first three into FOLDER, without what they depend on; LLAMA_CPP is a checkout of the
fourth. transformers is imported, which needs the torch of transformers/requirements.txt. Prints the new names of each project, and
which lines of vLLM.txt and SGLang.txt are others; README.md in each folder says how its survey is made anew.
"""

import importlib.metadata
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "served"))

from survey import survey


def main(folder, llama):
    folder = pathlib.Path(folder).absolute()
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", folder, "transformers", "vllm", "sglang"], check=True)
    versions = {d.name: d.version for d in importlib.metadata.distributions(path=[str(folder)])}
    print("# transformers", versions["transformers"], flush=True)
    subprocess.run([sys.executable, HERE / "transformers/survey.py", "new"], env=os.environ | {"PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}, check=True)
    for name in ("vLLM", "SGLang"):
        print("#", name, versions[name.lower()])
        here = {line.split("\t")[0]: line for line in (HERE / "served" / f"{name}.txt").read_text().splitlines()[1:]}
        lines = {line.split("\t")[0]: line for line in survey(folder / name.lower(), folder / "transformers")}
        for model_type in sorted(here.keys() | lines.keys()):
            if model_type not in here or model_type not in lines or here[model_type] != lines[model_type]:
                print(model_type + ("" if model_type not in here else " is gone" if model_type not in lines else " has other code"))
    print("# llama.cpp", flush=True)
    subprocess.run([sys.executable, HERE / "llamacpp/new.py", llama], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
