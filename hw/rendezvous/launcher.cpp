#include "hw/rendezvous/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "model/error.hpp"

namespace lanecast {
namespace {

constexpr std::size_t kMostLetters = 60;  // of a job's name; the end of a longer one tells more than its head

using Names = std::vector<std::string>;

/// The variables by which one launcher passes its ranks' places; of several, the first that is there counts.
struct Launcher {
  std::string name;
  Names rank;
  Names ranks;
  Names local_rank;
  Names local_ranks;  // ranks on this machine
  Names machines;
  std::vector<Names> job;  // parts of the job's name
};

Launcher of_lanecast() {
  return {"lanecast", {"LANECAST_RANK"}, {"LANECAST_RANKS"}, {}, {}, {}, {{"LANECAST_JOB"}}};
}

Launcher of_torchrun() {
  return {"torchrun",
          {"RANK"},
          {"WORLD_SIZE"},
          {"LOCAL_RANK"},
          {"LOCAL_WORLD_SIZE"},
          {"GROUP_WORLD_SIZE"},
          {{"TORCHELASTIC_RUN_ID"}, {"MASTER_PORT"}, {"TORCHELASTIC_RESTART_COUNT"}}};
}

Launcher of_open_mpi() {
  return {"mpirun",
          {"OMPI_COMM_WORLD_RANK"},
          {"OMPI_COMM_WORLD_SIZE"},
          {"OMPI_COMM_WORLD_LOCAL_RANK"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE"},
          {},
          {{"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid"}}};
}

Launcher of_mpich() {
  return {"mpirun",
          {"PMI_RANK"},
          {"PMI_SIZE"},
          {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"},
          {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
          {},
          {{"PMI_JOBID", "PMI_PORT"}}};
}

Launcher of_srun() {
  return {"srun",
          {"SLURM_PROCID"},
          {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
          {"SLURM_LOCALID"},
          {},
          {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"},
          {{"SLURM_JOB_ID", "SLURM_JOBID"}, {"SLURM_STEP_ID", "SLURM_STEPID"}}};
}

struct Setting {
  std::string name;
  std::string value;
};

std::optional<Setting> first_of(const Environment& environment, const Names& names) {
  for (const std::string& name : names) {
    const std::optional<std::string> value = environment(name);
    if (value && !value->empty()) return Setting{name, *value};
  }
  return std::nullopt;
}

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string place(const Launcher& launcher) { return "the environment that " + launcher.name + " made"; }

int number(const Environment& environment, const Launcher& launcher, const Names& names, int otherwise) {
  const std::optional<Setting> setting = first_of(environment, names);
  if (!setting) return otherwise;
  const std::optional<int> value = whole_number(setting->value);
  if (!value) {
    throw Error(ErrorKind::usage, setting->name + " is \"" + setting->value + "\"; that is no number",
                place(launcher), "start the ranks by " + launcher.name + ", or unset " + setting->name);
  }
  return *value;
}

/// In the letters that a meeting point's name may have.
std::string cleaned(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '_' && letter != '.'; }, '-');
  return name.size() > kMostLetters ? name.substr(name.size() - kMostLetters) : name;
}

std::string job_name(const Environment& environment, const Launcher& launcher) {
  if (const std::optional<Setting> given = first_of(environment, {"LANECAST_JOB"}))
    return cleaned(given->value);
  std::string name;
  for (const Names& part : launcher.job) {
    if (const std::optional<Setting> setting = first_of(environment, part)) name += "-" + setting->value;
  }
  // Ranks that their launcher gave no name of the job are children of one process.
  if (name.empty()) name = "-parent-" + std::to_string(getppid());
  return cleaned(launcher.name + name);
}

void check(const Environment& environment, const Launcher& launcher, const LaunchedRank& rank) {
  if (rank.ranks < 1 || rank.rank < 0 || rank.rank >= rank.ranks || rank.local_rank < 0) {
    throw Error(ErrorKind::usage,
                "rank " + std::to_string(rank.rank) + " (rank " + std::to_string(rank.local_rank) +
                    " of this machine) is none of a job of " + std::to_string(rank.ranks) + " ranks",
                place(launcher), "start the ranks by " + launcher.name + ", or unset its variables");
  }
  const int here = number(environment, launcher, launcher.local_ranks, rank.ranks);
  const int machines = number(environment, launcher, launcher.machines, 1);
  if (here < rank.ranks || machines > 1) {
    const std::string count = here < rank.ranks ? " (" + std::to_string(here) + " on this one)" : "";
    throw Error(ErrorKind::usage,
                "the " + std::to_string(rank.ranks) + " ranks of this job are on several machines" + count +
                    "; ranks must share one machine only",
                place(launcher),
                "start all ranks on one machine (mpirun --host, srun --nodes=1, torchrun --nnodes=1)");
  }
}

bool launched_by(const Environment& environment, const Launcher& launcher) {
  if (!first_of(environment, launcher.rank) || !first_of(environment, launcher.ranks)) return false;
  if (launcher.name == "torchrun") return first_of(environment, launcher.local_rank).has_value();
  if (launcher.name != "srun") return true;
  // A batch script, or a shell within an allocation, has a place too, but srun started no ranks there: its
  // step has no number, or one above 2^31.
  const std::optional<Setting> step = first_of(environment, launcher.job[1]);
  return step && whole_number(step->value);
}

}  // namespace

std::optional<LaunchedRank> launched_rank(const Environment& environment) {
  for (const Launcher& launcher : {of_lanecast(), of_torchrun(), of_open_mpi(), of_mpich(), of_srun()}) {
    if (!launched_by(environment, launcher)) continue;
    LaunchedRank rank;
    rank.launcher = launcher.name;
    rank.rank = number(environment, launcher, launcher.rank, 0);
    rank.ranks = number(environment, launcher, launcher.ranks, 1);
    rank.local_rank = number(environment, launcher, launcher.local_rank, rank.rank);
    rank.job = job_name(environment, launcher);
    check(environment, launcher, rank);
    return rank;
  }
  return std::nullopt;
}

std::optional<LaunchedRank> launched_rank() {
  return launched_rank([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  });
}

}  // namespace lanecast
