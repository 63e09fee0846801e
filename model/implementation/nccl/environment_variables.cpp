#include "model/implementation/nccl/environment_variables.hpp"

#include <algorithm>

namespace lanecast {
namespace {

constexpr NcclEffect kModelled = NcclEffect::modelled;
constexpr NcclEffect kNone = NcclEffect::none;
constexpr NcclEffect kOpen = NcclEffect::not_modelled;

/// Source: NCCL's user guide (env.rst) for the releases; NVIDIA/nccl 2.18 to 2.30 for names and defaults.
std::vector<NcclVariable> table() {
  return {
      {"NCCL_ALGO", 5, 0, kModelled, "algorithms that it may use", ""},
      {"NCCL_PROTO", 5, 0, kModelled, "protocols that it may use", ""},
      {"NCCL_MIN_NCHANNELS", 5, 0, kModelled, "fewest channels", ""},
      {"NCCL_MAX_NCHANNELS", 5, 0, kModelled, "most channels", ""},
      {"NCCL_MIN_CTAS", 17, 0, kModelled, "fewest channels", ""},
      {"NCCL_MAX_CTAS", 17, 0, kModelled, "most channels", ""},
      {"NCCL_MIN_NRINGS", 2, 0, kModelled, "fewest channels, by an older name", ""},
      {"NCCL_MAX_NRINGS", 0, 0, kModelled, "most channels, by an older name", ""},
      {"NCCL_NTHREADS", 0, 0, kModelled, "most threads of a block, Simple and LL", ""},
      {"NCCL_LL128_NTHREADS", 0, 0, kModelled, "most threads of a block, LL128", ""},
      {"NCCL_THREAD_THRESHOLDS", 0, 0, kModelled, "bytes for each thread before it takes more", ""},
      {"NCCL_BUFFSIZE", 0, 0, kModelled, "buffer of a connection, Simple", ""},
      {"NCCL_LL_BUFFSIZE", 0, 0, kModelled, "buffer of a connection, LL", ""},
      {"NCCL_LL128_BUFFSIZE", 0, 0, kModelled, "buffer of a connection, LL128", ""},
      {"NCCL_P2P_LEVEL", 3, 0, kModelled, "farthest path with peer access", ""},
      {"NCCL_P2P_DISABLE", 0, 0, kModelled, "1: no peer access", ""},
      {"NCCL_SHM_DISABLE", 0, 0, kModelled, "1: nothing through host memory", ""},
      {"NCCL_SHM_LOCALITY", 0, 0, kModelled, "buffers in host memory of 1 the sender, 2 the receiver", ""},
      {"NCCL_GRAPH_REGISTER", 11, 0, kModelled, "registered user buffers in captured graphs", ""},
      {"NCCL_NVLS_ENABLE", 17, 0, kModelled, "0: no NVLink multicast", ""},
      {"NCCL_NVB_DISABLE", 11, 0, kModelled, "1: no NVLink path through another GPU", ""},

      {"NCCL_P2P_USE_CUDA_MEMCPY", 0, 0, kOpen, "peer copies by copy engines", "0"},
      {"NCCL_IGNORE_DISABLED_P2P", 0, 0, kOpen, "peer access even where the driver says no", "0"},
      {"NCCL_P2P_READ_ENABLE", 0, 0, kOpen, "peer reads instead of writes", "-2"},
      {"NCCL_P2P_DIRECT_DISABLE", 0, 0, kOpen, "no access to a peer's user buffers in one process", "0"},
      {"NCCL_SHM_USE_CUDA_MEMCPY", 0, 29, kOpen, "host memory by copy engines", "0"},
      {"NCCL_CUMEM_ENABLE", 18, 0, kOpen, "how device memory is allocated and shared", "1|-2"},
      {"NCCL_CUMEM_HOST_ENABLE", 23, 0, kOpen, "how host memory is allocated, and on which NUMA node", "-1"},
      {"NCCL_LOCAL_REGISTER", 19, 0, kOpen, "user buffers that the program registers", "1"},
      {"NCCL_LEGACY_CUDA_REGISTER", 24, 0, kOpen, "registers buffers of cudaMalloc", "0"},
      {"NCCL_SINGLE_PROC_MEM_REG_ENABLE", 0, 0, kOpen, "registered buffers in one process", "0"},
      {"NCCL_TUNER_PLUGIN", 19, 0, kOpen, "a plugin that chooses algorithm, protocol and channels", "none"},
      {"NCCL_TUNER_CONFIG_FILE", 0, 0, kOpen, "the table of the example tuner plugin", ""},
      {"NCCL_GRAPH_FILE", 0, 0, kOpen, "rings and trees from a file instead of its search", ""},
      {"NCCL_TOPO_FILE", 6, 0, kOpen, "the machine from a file instead of what it finds", ""},
      {"NCCL_CONF_FILE", 23, 0, kOpen, "a file with more of these variables", ""},
      {"NCCL_ENV_PLUGIN", 0, 0, kOpen, "a plugin that sets more of these variables", "none"},
      {"NCCL_HOSTID", 0, 0, kOpen, "what it takes for the same host", ""},
      {"NCCL_IGNORE_CPU_AFFINITY", 0, 0, kOpen, "where its host threads and memory sit", "0"},
      {"NCCL_CGA_CLUSTER_SIZE", 16, 0, kOpen, "how its blocks are launched (sm90 and later)", ""},
      {"NCCL_CTA_POLICY", 27, 0, kOpen, "how sparing it is with blocks", "0|DEFAULT"},
      {"NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE", 0, 0, kOpen, "how channels spread over NVLinks", "0"},
      {"NCCL_LAUNCH_MODE", 1, 0, kOpen, "how kernels are launched", "PARALLEL"},
      {"NCCL_GRAPH_MIXING_SUPPORT", 13, 0, kOpen, "what a captured launch waits for", "1"},
      {"NCCL_GRAPH_STREAM_ORDERING", 30, 0, kOpen, "what a captured launch waits for", "1"},
      {"NCCL_LL128_C2C", 0, 0, kOpen, "LL128 over chip-to-chip links", "1"},
      {"NCCL_NVLS_NCHANNELS", 0, 0, kOpen, "channels of NVLink multicast", ""},
      {"NCCL_NVLS_CHUNKSIZE", 0, 0, kOpen, "chunks of NVLink multicast", "131072"},
      {"NCCL_SYM_KERNEL", 0, 0, kOpen, "kernel for symmetric memory", ""},
      {"NCCL_SYM_CTAS", 0, 0, kOpen, "blocks of kernels for symmetric memory", ""},
      {"NCCL_WORK_FIFO_BYTES", 0, 0, kOpen, "queue of its kernels' arguments", "1048576"},
      {"NCCL_WORK_ARGS_BYTES", 0, 0, kOpen, "room for a kernel's arguments, which bounds the channels", ""},
      {"NCCL_L1_SHARED_MEMORY_CARVEOUT", 0, 0, kOpen, "shared memory of its blocks", ""},

      {"NCCL_SHM_MEMCPY_MODE", 0, 29, kNone, "which side copies under NCCL_SHM_USE_CUDA_MEMCPY", ""},
      {"NCCL_CROSS_NIC", 0, 0, kNone, "rings over several NICs", ""},
      {"NCCL_NVLSTREE_MAX_CHUNKSIZE", 0, 0, kNone, "multicast over several nodes", ""},
      {"NCCL_PAT_ENABLE", 23, 0, kNone, "an algorithm for one GPU a node", ""},
      {"NCCL_COLLNET*", 0, 0, kNone, "reductions in the network", ""},
      {"NCCL_MNNVL*", 21, 0, kNone, "NVLink over several nodes", ""},
      {"NCCL_NET*", 0, 0, kNone, "the network", ""},
      {"NCCL_IB_*", 0, 0, kNone, "InfiniBand and RoCE", ""},
      {"NCCL_SOCKET_*", 0, 0, kNone, "TCP/IP", ""},
      {"NCCL_NSOCKS_PERTHREAD", 4, 0, kNone, "TCP/IP", ""},
      {"NCCL_OOB_NET_*", 0, 0, kNone, "how ranks find each other", ""},
      {"NCCL_GIN_*", 0, 0, kNone, "network started by the GPU", ""},
      {"NCCL_GDR*", 0, 0, kNone, "GPU memory seen by NIC and CPU", ""},
      {"NCCL_DMABUF_ENABLE", 13, 0, kNone, "GPU memory seen by NICs", ""},
      {"NCCL_PXN_*", 12, 0, kNone, "NICs behind another GPU", ""},
      {"NCCL_P2P_PXN_LEVEL", 12, 0, kNone, "NICs behind another GPU", ""},
      {"NCCL_NCHANNELS_PER_NET_PEER", 0, 0, kNone, "channels to other nodes", ""},
      {"NCCL_UNPACK_DOUBLE_NCHANNELS", 0, 0, kNone, "channels to other nodes", ""},
      {"NCCL_P2P_NET_CHUNKSIZE", 14, 0, kNone, "send and receive only", ""},
      {"NCCL_P2P_PCI_CHUNKSIZE", 0, 0, kNone, "send and receive only", ""},
      {"NCCL_P2P_NVL_CHUNKSIZE", 0, 0, kNone, "send and receive only", ""},
      {"NCCL_P2P_LL_THRESHOLD", 14, 0, kNone, "send and receive only", ""},
      {"NCCL_P2P_SCHEDULE_GROUP_SIZE", 0, 0, kNone, "send and receive only", ""},
      {"NCCL_MIN_P2P_NCHANNELS", 0, 0, kNone, "send and receive only", ""},
      {"NCCL_MAX_P2P_NCHANNELS", 0, 0, kNone, "send and receive only", ""},
      {"NCCL_ALLOC_P2P_NET_LL_BUFFERS", 14, 0, kNone, "send and receive only", ""},
      {"NCCL_DEBUG*", 0, 0, kNone, "what it prints", ""},
      {"NCCL_WARN_ENABLE_DEBUG_INFO", 0, 0, kNone, "what it prints", ""},
      {"NCCL_TOPO_DUMP_FILE*", 6, 0, kNone, "writes the machine to a file", ""},
      {"NCCL_GRAPH_DUMP_FILE*", 0, 0, kNone, "writes rings and trees to a file", ""},
      {"NCCL_PROFILER_PLUGIN", 0, 0, kNone, "a plugin that observes", ""},
      {"NCCL_NVTX_DISABLE", 0, 0, kNone, "marks for profilers", ""},
      {"NCCL_RAS_*", 24, 0, kNone, "health of a job", ""},
      {"NCCL_CHECK*", 0, 0, kNone, "checks of arguments", ""},
      {"NCCL_PROXY_*", 0, 0, kNone, "host threads of the network", ""},
      {"NCCL_PROGRESS_APPENDOP_FREQ", 0, 0, kNone, "host threads of the network", ""},
      {"NCCL_SET_*", 0, 0, kNone, "stack sizes and names of threads", ""},
      {"NCCL_CREATE_THREAD_CONTEXT", 0, 0, kNone, "setting up", ""},
      {"NCCL_COMM_*", 0, 0, kNone, "setting up", ""},
      {"NCCL_UID_STAGGER_*", 0, 0, kNone, "setting up", ""},
      {"NCCL_RUNTIME_CONNECT", 22, 0, kNone, "setting up", ""},
      {"NCCL_CONNECT_ROUND_MAX_PEERS", 0, 0, kNone, "setting up", ""},
      {"NCCL_REPORT_CONNECT_PROGRESS", 0, 0, kNone, "setting up", ""},
      {"NCCL_NVB_PRECONNECT", 0, 0, kNone, "setting up", ""},
      {"NCCL_IPC_USE_ABSTRACT_SOCKET", 29, 0, kNone, "setting up", ""},
      {"NCCL_IGNORE_NET_MISMATCH", 30, 0, kNone, "setting up", ""},
      {"NCCL_IGNORE_COLLNET_MISMATCH", 30, 0, kNone, "setting up", ""},
      {"NCCL_NO_CACHE", 0, 0, kNone, "when these variables are read", ""},
      {"NCCL_MULTI_RANK_GPU_ENABLE", 30, 0, kNone, "several ranks on one GPU", ""},
      {"NCCL_MEM_SYNC_DOMAIN", 16, 0, kNone, "kernels of others beside NCCL's", ""},
      {"NCCL_LAUNCH_ORDER_IMPLICIT", 26, 0, kNone, "several communicators", ""},
      {"NCCL_LAUNCH_RACE_FATAL", 26, 0, kNone, "several communicators", ""},
      {"NCCL_WIN_*", 27, 0, kNone, "windows that the program registers", ""},
      {"NCCL_SYM_GIN_KERNELS_ENABLE", 29, 0, kNone, "symmetric memory over the network", ""},
      {"NCCL_GRAPH_HELPER_DISABLE", 0, 0, kNone, "a host thread", ""},
      {"NCCL_GROUP_CUDA_STREAM", 0, 0, kNone, "CUDA before 9.2", ""},
      {"NCCL_RINGS", 0, 4, kNone, "rings by hand", ""},
      {"NCCL_SINGLE_RING_THRESHOLD", 1, 2, kNone, "size up to which one ring serves", ""},
      {"NCCL_LL_THRESHOLD", 1, 4, kNone, "size up to which LL serves", ""},
      {"NCCL_TREE_THRESHOLD", 4, 4, kNone, "size up to which trees serve", ""},
  };
}

}  // namespace

const char* to_string(NcclEffect effect) {
  switch (effect) {
    case NcclEffect::modelled:
      return "modelled";
    case NcclEffect::none:
      return "no effect here";
    case NcclEffect::not_modelled:
      return "not modelled";
  }
  return "?";
}

const std::vector<NcclVariable>& nccl_variables() {
  static const std::vector<NcclVariable> kTable = table();
  return kTable;
}

const NcclVariable* find_nccl_variable(const std::string& name) {
  const auto& variables = nccl_variables();
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const NcclVariable& variable) {
    if (variable.name.back() != '*') return variable.name == name;
    return name.compare(0, variable.name.size() - 1, variable.name, 0, variable.name.size() - 1) == 0;
  });
  return found == variables.end() ? nullptr : &*found;
}

}  // namespace lanecast
