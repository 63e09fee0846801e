#pragma once
#include <functional>
#include <optional>
#include <string>

namespace lanecast {

/// This process's place in a job, as its launcher put it into the environment.
struct LaunchedRank {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;    // among those of this machine; chooses the GPU
  std::string launcher;  // "lanecast", "torchrun", "mpirun", "srun"
  std::string job;       // name under which the ranks of this job, and no others, meet
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the variables of `lanecast measure` (LANECAST_RANK ...), torchrun (RANK, WORLD_SIZE, LOCAL_RANK),
/// mpirun (OMPI_COMM_WORLD_*, PMI_*) and srun (SLURM_PROCID ...), in this order. Absent: not launched.
///
/// @throws Error  kind usage: numbers that are none, a rank outside of the world, ranks on several machines
std::optional<LaunchedRank> launched_rank(const Environment& environment);

/// The same from this process's own environment.
std::optional<LaunchedRank> launched_rank();

}  // namespace lanecast
