#!/bin/sh
# Installs and runs the wheel of dist/ in each way that docs/install.md names, and writes its table: make install-ways
set -eu
export LD_LIBRARY_PATH="$PWD/simulator/build" MTML_SIM_PROFILE=s80
unset PYTHONPATH PYTHONDONTWRITEBYTECODE
rows=$(mktemp) folders=$(mktemp --directory)

# What a way that runs the command must come to besides: the status of a failure, and an nvidia-smi for other programs,
# which a zipapp refuses.
comes_to() {
    case $1 in
    *" -L"*) ;;
    *) return 0 ;;
    esac
    sh -c "$(echo "$1" | sed 's/ -L/ -i 99/')" >>log 2>&1 && return 1 || test $? = 6 || return 1
    sh -c "$(echo "$1" | sed 's/ -L/ run --nvidia-smi nvidia-smi -L/')" >smi 2>&1 && status=0 || status=$?
    cat smi >>log
    case $1 in
    *.pyz*) test $status = 126 && grep -q 'files on disk' smi ;;
    *) test $status = 0 && grep -q 'MTT S80' smi ;;
    esac
}

# way PYTHON TOOLS VERSION INSTALL RUN: in an empty folder, with env/bin on the path; RUN shows the simulated card.
way() {
    folder=$(mktemp --directory --tmpdir="$folders")
    cp dist/*.whl "$folder"
    (
        cd "$folder"
        echo "$program" >program.py
        export PATH="$folder/env/bin:$PATH" UV_CACHE_DIR="$folder/cache" PIPX_HOME="$folder/pipx" PIPX_BIN_DIR="$folder/bin"
        export UV_TOOL_DIR="$folder/tools" UV_TOOL_BIN_DIR="$folder/bin" PIPX_DEFAULT_BACKEND=pip
        # One chain, because `set -e` has no effect in front of ||.
        { "$1" -m venv env && pip install --upgrade $2 && sh -ec "$4"; } >log 2>&1 </dev/null &&
            compiled=$(find . -path '*/pymtml/__pycache__/__init__*.pyc' | grep -q . && echo ✓ || echo -) &&
            sh -ec "$5" >>log 2>&1 && tail -1 log | grep -q 'MTT S80' && comes_to "$5" &&
            echo "| $(sh -c "$3") | \`$4\` | \`$5\` | $compiled |"
    ) >>"$rows" || { cat "$folder/log" >&2; echo "this way failed: $4; $5" >&2; exit 1; }
    tail -1 "$rows"
}

wheel='pymtml_nvml-*.whl' pip="pip --version | cut -d' ' -f1,2" uv="uv --version | cut -d' ' -f1,2"
program='import pymtml as pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)))'
way python3.7 pip==19.0.3 "$pip" "pip install $wheel" "pymtml -L"
way python3 pip "$pip" "pip install $wheel" "pymtml -L"
way python3 pip "$pip" "pip install $wheel" "env -u HOME pymtml -L"
way python3 pip "$pip" "pip install --target folder $wheel" "PYTHONPATH=folder python -m pymtml -L"
way python3 pip "$pip" "pip install --no-compile $wheel" \
    "unshare --map-root-user --mount sh -c 'mount --bind --options ro env env && pymtml -L'"
way python3 uv "$uv" "uv pip install --python env $wheel" "pymtml -L"
way python3 uv "$uv" "uv pip install --python env --compile-bytecode $wheel" "pymtml -L"
way python3 uv "$uv" "uv tool install $wheel" "bin/pymtml -L"
way python3 pipx "echo pipx \$(pipx --version)" "pipx install ./$wheel" "bin/pymtml -L"
way python3 pip "echo zipapp, \$(python3 --version)" \
    "python3 -m zipfile -e $wheel app && python3 -m zipapp app --main pymtml_cli.main:main --output pymtml.pyz" \
    "python3 pymtml.pyz -L"
way python3 pip "echo unpacked, \$(python3 --version)" "python3 -m zipfile -e $wheel folder" \
    "PYTHONPATH=folder python3 -m pymtml -L"
way python3 pyinstaller "echo PyInstaller \$(pyinstaller --version)" \
    "pip install $wheel && pyinstaller --onefile program.py" "dist/program"

sed -i "/^<!-- ways -->\$/,/^<!-- end of ways -->\$/{/^| .*\`/d; /^|---/r $rows
}" docs/install.md docs/install_CN.md
rm -r "$rows" "$folders"
