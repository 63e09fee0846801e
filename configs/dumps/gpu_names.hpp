#pragma once
/// `gpu_model_of` for readers. Its table stands in model, since the writer of NCCL files needs it too.
#include "model/topology/gpu_ids.hpp"
