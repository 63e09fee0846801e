#include "hw/measure/micro_graph.hpp"

#include <cuda_runtime_api.h>

namespace lanecast {
namespace {

/// Ends the capture in any case: a stream that is still captured can't be used.
cudaGraph_t captured(MicroMachine::Stream stream, const std::function<void()>& issue) {
  check_micro(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture a graph");
  cudaGraph_t graph = nullptr;
  try {
    issue();
  } catch (...) {
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  check_micro(cudaStreamEndCapture(stream, &graph), "capture a graph");
  return graph;
}

}  // namespace

MicroGraph::MicroGraph(MicroMachine::Stream stream, const std::function<void()>& issue) : stream_(stream) {
  const cudaGraph_t graph = captured(stream, issue);
#if CUDART_VERSION >= 12000
  const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
#else
  const cudaError_t error = cudaGraphInstantiate(&executable_, graph, nullptr, nullptr, 0);
#endif
  cudaGraphDestroy(graph);
  check_micro(error, "make a graph executable");
}

MicroGraph::~MicroGraph() { cudaGraphExecDestroy(executable_); }

void MicroGraph::replay() const { check_micro(cudaGraphLaunch(executable_, stream_), "replay a graph"); }

}  // namespace lanecast
