#!/usr/bin/env bash
# Builds a fuzz target with clang and runs it for a bounded time over its committed seeds.
#
#   run_fuzz.sh TARGET BUILD_DIR [SECONDS]    TARGET: what tests/fuzz/*_fuzz.cpp has; SECONDS: default 10
#
# Exit 77 (skipped), with the reason, where clang or its fuzzer runtime is absent. What it finds is left in BUILD_DIR.
set -euo pipefail

readonly target=$1 build_dir=$2 seconds=${3:-10}
readonly skipped=77
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly here root

library_sources=(
  configs/{explain,field_values,machine_fields,machine_paths,machine_reader,machine_writer}.cpp
  configs/{nccl_log,nccl_log_messages,node_index,plain_text,problem_list,quantity,reading,yaml_document,yaml_scalar,yaml_section}.cpp
  model/implementation/nccl/environment{,_lists,_values,_variables}.cpp
  model/implementation/nccl/{path_type,version_rules}.cpp
  model/link/pcie_rate.cpp
  model/predict/call.cpp
  model/protocol/protocol.cpp
  model/topology/{check_machine,machine}.cpp
)
libraries=(-lyaml-cpp)
if [[ $target == dumps ]]; then  # the readers of dumps are many: the other targets need not wait for them
  cd "$root"
  library_sources+=(configs/dumps/*.cpp model/topology/{cpu_ids,distance_matrix,gpu_ids,peer_access,routes}.cpp)
  libraries+=(-lpugixml -lhwloc)
fi
if [[ $target == measured ]]; then
  cd "$root"
  library_sources+=(configs/json_document.cpp configs/measured/*.cpp model/measured/measured_settings.cpp model/predict/algorithm.cpp)
fi
readonly library_sources libraries
readonly flags=(-std=c++20 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all "-I$root")

find_clang() {
  local name
  for name in clang++-14 clang++ clang++-{15,16,17,18,19,20}; do
    if command -v "$name"; then return; fi
  done
}

skip() {
  printf 'skipped: %s\n' "$1"
  exit $skipped
}

clang=$(find_clang)
readonly clang
[[ -n $clang ]] || skip 'there is no clang++, which brings libFuzzer'
mkdir -p "$build_dir/objects"
cd "$build_dir"

compiler=("$clang")
if command -v ccache >/dev/null; then compiler=(ccache "$clang"); fi
readonly compiler

probe='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
"$clang" -fsanitize=fuzzer,address,undefined -x c++ - -o "probe_$target" <<<"$probe" 2>"probe_$target.log" ||
  skip "$clang cannot link with -fsanitize=fuzzer; install its runtime (libclang-rt-14-dev)"

# All targets share the library's objects: one builds at a time, and only what has changed.
build() {
  local source object objects=()
  for source in "${library_sources[@]}" "tests/fuzz/${target}_fuzz.cpp"; do
    object="objects/${source//\//_}.o"
    objects+=("$object")
    if [[ -f $object && -z $(find "$root/configs" "$root/model" "$here" -name '*.?pp' -newer "$object" -print -quit) ]]; then
      continue
    fi
    "${compiler[@]}" "${flags[@]}" -fsanitize=fuzzer-no-link,address,undefined -c "$root/$source" -o "$object" &
    if (($(jobs -rp | wc -l) >= $(nproc))); then wait -n; fi
  done
  while (($(jobs -rp | wc -l))); do wait -n; done
  "$clang" -fsanitize=fuzzer,address,undefined "${objects[@]}" "${libraries[@]}" -o "$target"
}
exec 9>lock
flock 9
build
flock -u 9

mkdir -p "found/$target"  # new inputs of this run; the committed seeds are only read
"./$target" -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
  -artifact_prefix="$build_dir/$target-" "found/$target" "$here/corpus/$target"
