#!/bin/sh
# Writes what this machine says about its PCIe tree, links, GPUs and network ports to standard output, for
# `lanecast topo import`. It only reads. No serial numbers, UUIDs or MAC addresses are written.
#
#   sh collect.sh > box.txt            as root: port types, payload sizes and ACS too
#   sh collect.sh /some/folder         reads the files below a folder instead, and runs no command
#
# It needs a POSIX shell, cat, date, id and od; nvidia-smi and lspci are asked where they are present.
# The format is in lanecast's docs/import.md.

set -u
unset CDPATH
LC_ALL=C
export LC_ALL

root=${1:-${LANECAST_SYSROOT:-/}}
cd -P "$root" || exit 1
root=$PWD
[ "$root" != / ] || root=

# --- writing -------------------------------------------------------------------------------------------------

# A line of content; one that looks like a marker gets a backslash.
content() {
  case $1 in
    [@%\>+\#\\]*) printf '\\%s\n' "$1" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

copy_lines() {
  while IFS= read -r line || [ -n "$line" ]; do
    content "$line"
  done
}

# put PATH LINE: a file of one line.
put() {
  printf '@ %s\n' "$1"
  content "$2"
}

# file PATH: a whole file, if it can be read and is not empty.
file() {
  line=
  { IFS= read -r line <"$root$1"; } 2>/dev/null
  [ -n "$line" ] || return 0
  printf '@ %s\n' "$1"
  copy_lines 2>/dev/null <"$root$1"
}

# files FOLDER NAME...: the first line of each file. Faster than `file`: nearly all of sysfs is one line.
files() {
  folder=$1
  shift
  for name in "$@"; do
    line=
    { IFS= read -r line <"$root$folder/$name"; } 2>/dev/null
    [ -z "$line" ] || put "$folder/$name" "$line"
  done
}

# link PATH: a link to a folder, with the folder that it leads to in the end, which is left in $target.
link() {
  target=$1
  cd -P "$root$1" 2>/dev/null || return 0
  target=${PWD#"$root"}
  [ "$target" = "$1" ] || printf '> %s -> %s\n' "$1" "$target"
}

# --- PCI -----------------------------------------------------------------------------------------------------

# Speed and width of the link at a function, as they are at this moment.
link_status() {
  files "$1" current_link_speed current_link_width
}

# A bridge, GPU, NVSwitch or network adapter. The power state comes first: reading the rest may wake a card.
device_in_full() {
  files "$1" power/runtime_status power_state vendor device numa_node max_link_speed max_link_width
  link_status "$1"
  files "$1" secondary_bus_number subordinate_bus_number link/l0s_aspm link/l1_aspm \
    aer_rootport_total_err_cor aer_rootport_total_err_nonfatal aer_rootport_total_err_fatal
  for name in resource aer_dev_correctable aer_dev_nonfatal aer_dev_fatal; do
    file "$1/$name"
  done
  link "$1/iommu_group"
  if [ -r "$root$1/config" ]; then
    printf '%% %s\n' "$1/config"
    od -An -v -tx1 "$root$1/config" 2>/dev/null
  fi
}

gpus=
pci() {
  for each in "$root"/sys/bus/pci/devices/*; do
    [ -e "$each/class" ] || continue
    [ ! -e "$each/physfn" ] || continue # a virtual function has no link of its own
    link "/sys/bus/pci/devices/${each##*/}"
    device=$target
    class=
    { IFS= read -r class <"$each/class"; } 2>/dev/null
    case $class in
      0x03* | 0x12*) gpus="$gpus $device" ;;
      0x0604* | 0x0680* | 0x02*) ;;
      *)
        files "$device" class vendor
        continue
        ;;
    esac
    files "$device" class
    device_in_full "$device"
  done
  for each in "$root"/sys/bus/pci/slots/*; do
    files "/sys/bus/pci/slots/${each##*/}" address
  done
}

# --- the rest of the system ----------------------------------------------------------------------------------

# The first processor stands for all.
processors() {
  [ -r "$root/proc/cpuinfo" ] || return 0
  printf '@ /proc/cpuinfo\n'
  while IFS= read -r line && [ -n "$line" ]; do
    case $line in
      vendor_id* | "model name"* | flags* | "CPU implementer"* | cpu[!_\ a-z]*) printf '%s\n' "$line" ;;
    esac
  done <"$root/proc/cpuinfo"
}

# node_cores FILE: the list, and the socket of its first processor. `cat`, since newer kernels give nothing of
# this file to a shell that reads byte by byte.
node_cores() {
  line=$(cat "$root$1" 2>/dev/null)
  [ -n "$line" ] || return 0
  put "$1" "$line"
  files "/sys/devices/system/cpu/cpu${line%%[-,]*}/topology" physical_package_id
}

nodes() {
  found=
  for each in "$root"/sys/devices/system/node/node*; do
    [ -d "$each" ] || continue
    found=yes
    node=${each#"$root"}
    printf '+ %s\n' "$node"
    node_cores "$node/cpulist"
  done
  [ -n "$found" ] || node_cores /sys/devices/system/cpu/online
}

# Only what the command line says about the IOMMU: it may hold names that are nobody's business.
iommu() {
  line=
  { IFS= read -r line <"$root/proc/cmdline"; } 2>/dev/null
  words=
  set -f
  for word in $line; do
    case $word in
      *iommu*) words="$words $word" ;;
    esac
  done
  set +f
  [ -z "$words" ] || put /proc/cmdline "${words# }"
  [ ! -d "$root/sys/kernel/iommu_groups" ] || printf '+ /sys/kernel/iommu_groups\n'
  for each in "$root"/sys/kernel/iommu_groups/*; do
    files "/sys/kernel/iommu_groups/${each##*/}" type
  done
}

network() {
  for each in "$root"/sys/class/net/*; do
    [ -e "$each/device" ] || continue
    port=/sys/class/net/${each##*/}
    link "$port/device"
    files "$port" speed
  done
  for each in "$root"/sys/class/infiniband/*; do
    [ -e "$each/device" ] || continue
    adapter=/sys/class/infiniband/${each##*/}
    link "$adapter/device"
    for port in "$each"/ports/*; do
      files "$adapter/ports/${port##*/}" state rate
    done
  done
}

nvidia() {
  files /proc/driver/nvidia version
  for each in "$root"/proc/driver/nvidia/gpus/*; do
    [ -r "$each/information" ] || continue
    printf '@ %s/information\n' "/proc/driver/nvidia/gpus/${each##*/}"
    while IFS= read -r line; do
      case $line in
        Model:* | "Bus Location:"*) printf '%s\n' "$line" ;;
      esac
    done <"$each/information"
  done
}

# --- commands, where they are present ------------------------------------------------------------------------

# Of nvidia-smi -q the part of each GPU up to its memory sizes, without what identifies the card.
query_lines() {
  keep=yes
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      GPU\ *) keep=yes ;;
      *"Compute Mode"*) keep= ;;
    esac
    [ -n "$keep" ] || continue
    case $line in
      *Serial* | *UUID* | *GUID* | *PDI* | *"Board ID"* | *"Part Number"* | *Timestamp*) ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

# run COMMAND...: a card that has fallen off the bus may make nvidia-smi hang.
run() {
  if command -v timeout >/dev/null 2>&1; then
    timeout 30 "$@" 2>/dev/null </dev/null
  else
    "$@" 2>/dev/null </dev/null
  fi
}

# output COMMAND...
output() {
  printf '# command: %s\n' "$*"
  run "$@" | copy_lines
  printf '# end\n'
}

commands() {
  if command -v nvidia-smi >/dev/null 2>&1; then
    output nvidia-smi topo -m
    output nvidia-smi topo -p2p r
    printf '# command: nvidia-smi -q\n'
    run nvidia-smi -q | query_lines | copy_lines
    printf '# end\n# The links of the GPUs again, after nvidia-smi has talked to them: these count.\n'
    for device in $gpus; do
      link_status "$device"
      link_status "${device%/*}"
    done
  fi
  if command -v lspci >/dev/null 2>&1; then
    output lspci -D -nn
  fi
}

# --- all -----------------------------------------------------------------------------------------------------

now=$(date -u +%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
printf '# lanecast topo collect, format 1, %s\n' "${now:-time unknown}"
printf '# A GPU that idles may show a slower link than it has when it works.\n'
files /proc/sys/kernel hostname
processors
nodes
iommu
nvidia
pci
network
[ -n "$root" ] || commands
printf '# complete\n'

if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
  printf '%s\n' "Run as root, it would also write port types, payload sizes, ASPM, ACS and error status of" \
    "each port: sudo sh collect.sh > box.txt" >&2
fi
exit 0
