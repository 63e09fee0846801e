#include <gtest/gtest.h>

#include <set>

#include "model/error.hpp"
#include "model/implementation/nccl/environment.hpp"
#include "model/implementation/nccl/environment_values.hpp"
#include "model/implementation/nccl/environment_variables.hpp"

namespace lanecast {
namespace {

using Texts = std::vector<std::string>;

struct Read {
  NcclEnvironment environment;
  std::vector<Warning> warnings;
};

/// What a release makes of "NAME=VALUE" texts.
Read read_typed(const Texts& texts, int minor = 30, const std::string& origin = "--nccl-env") {
  std::vector<NcclSetting> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    settings.push_back({text.substr(0, equals), text.substr(equals + 1), origin});
  }
  Read read;
  read.environment = read_nccl_environment(settings, {false, minor}, read.warnings);
  return read;
}

NcclEnvironment environment_of(const Texts& texts, int minor = 30) {
  const Read read = read_typed(texts, minor);
  for (const Warning& warning : read.warnings) ADD_FAILURE() << warning.code << ": " << warning.text;
  return read.environment;
}

/// The text of the only warning; "" and a failure where there is another number of them.
std::string only_warning(const Texts& texts, const std::string& code, int minor = 30) {
  const std::vector<Warning> warnings = read_typed(texts, minor).warnings;
  EXPECT_EQ(warnings.size(), 1u) << texts.front();
  if (warnings.size() != 1) return "";
  EXPECT_EQ(warnings.front().code, code);
  return warnings.front().text;
}

std::string refusal_of(const Texts& texts, int minor = 30, const NearestWord& nearest = {}) {
  std::vector<NcclSetting> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    settings.push_back({text.substr(0, equals), text.substr(equals + 1), "--nccl-env"});
  }
  std::vector<Warning> warnings;
  try {
    read_nccl_environment(settings, {false, minor}, warnings, nearest);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << texts.front() << " was taken";
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NcclEnvironment, HoldsNothingWhereNothingIsSet) {
  const NcclEnvironment environment = environment_of({});
  EXPECT_TRUE(environment.settings.empty());
  EXPECT_FALSE(environment.min_channels || environment.max_channels || environment.threads);
  EXPECT_FALSE(environment.p2p_level || environment.buffsize || environment.nvls_enable);
  EXPECT_FALSE(environment.protocols.states(Collective::all_reduce));
  EXPECT_TRUE(environment.protocols.allows(Collective::all_reduce, Protocol::ll128));
  EXPECT_FALSE(environment.protocols.forces(Collective::all_reduce, Protocol::ll128));
}

TEST(NcclEnvironment, LaterSettingsWinAndEmptyOnesUnset) {
  EXPECT_EQ(environment_of({"NCCL_NTHREADS=128", "NCCL_NTHREADS=256"}).threads, 256);
  EXPECT_FALSE(environment_of({"NCCL_NTHREADS=128", "NCCL_NTHREADS="}).threads);
  EXPECT_EQ(environment_of({"NCCL_NTHREADS=", "NCCL_NTHREADS=128"}).settings.size(), 2u);
}

TEST(NcclEnvironment, IntegersAreReadAsStrtollDoes) {
  EXPECT_EQ(read_c_integer("42").value, 42);
  EXPECT_EQ(read_c_integer("  -7").value, -7);
  EXPECT_EQ(read_c_integer("+0x1F").value, 31);
  EXPECT_EQ(read_c_integer("010").value, 8);
  EXPECT_TRUE(read_c_integer("010").octal);
  EXPECT_FALSE(read_c_integer("0").octal);
  EXPECT_EQ(read_c_integer("08").rest, "8");
  EXPECT_EQ(read_c_integer("0x").rest, "x");
  EXPECT_EQ(read_c_integer("4M").rest, "M");
  EXPECT_FALSE(read_c_integer("").digits);
  EXPECT_FALSE(read_c_integer("- 1").digits);
  EXPECT_EQ(read_c_integer("-9223372036854775808").value, std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(read_c_integer("9223372036854775808").overflow);
  EXPECT_TRUE(read_c_integer("99999999999999999999").overflow);
}

TEST(NcclEnvironment, SizesTakeHexAndRefuseUnits) {
  EXPECT_EQ(environment_of({"NCCL_BUFFSIZE=0x400000"}).buffsize, Bytes(4u << 20));
  EXPECT_EQ(environment_of({"NCCL_LL_BUFFSIZE=65536"}).ll_buffsize, Bytes(65536));
  EXPECT_EQ(environment_of({"NCCL_LL128_BUFFSIZE=1228800"}).ll128_buffsize, Bytes(1'228'800));
  EXPECT_EQ(refusal_of({"NCCL_BUFFSIZE=4M"}),
            "`NCCL_BUFFSIZE` is `4M`: NCCL would read 4 and pass over `M`\n"
            "  at --nccl-env\n"
            "  mend: write the plain number: 4194304");
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=64KiB"}), "write the plain number: 65536"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=4 MB please"}), "write 4, or"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=lots"}), "not a number; NCCL would read 0"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=4"}), "too small"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=-1"}), "give bytes from 4096 to 1073741824"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=4294967296"}), "32 bits"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_BUFFSIZE=99999999999999999999"}), "too large"));
}

TEST(NcclEnvironment, ALeadingZeroIsOctalAndSaysSo) {
  EXPECT_EQ(read_typed({"NCCL_MIN_CTAS=010"}).environment.min_channels, 8);
  EXPECT_TRUE(contains(only_warning({"NCCL_MIN_CTAS=010"}, "LC-ENV-02"), "octal for its leading 0: 8"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_MIN_CTAS=08"}), "NCCL would read 0"));
}

TEST(NcclEnvironment, ThreadsFollowNcclsRule) {
  EXPECT_EQ(environment_of({"NCCL_NTHREADS=96"}).threads, 96);
  EXPECT_EQ(only_warning({"NCCL_NTHREADS=100"}, "LC-ENV-02"),
            "NCCL_NTHREADS=100 (--nccl-env): NCCL takes 512 (no multiple of 32)");
  EXPECT_EQ(read_typed({"NCCL_NTHREADS=100"}).environment.threads, 512);
  EXPECT_EQ(read_typed({"NCCL_NTHREADS=32"}).environment.threads, 64);
  EXPECT_EQ(read_typed({"NCCL_NTHREADS=640"}).environment.threads, 512);
  EXPECT_TRUE(contains(only_warning({"NCCL_NTHREADS=640"}, "LC-ENV-02"), "NCCL takes 512 (at most 512)"));
  EXPECT_FALSE(read_typed({"NCCL_NTHREADS=0"}).environment.threads);
  EXPECT_TRUE(contains(only_warning({"NCCL_NTHREADS=0"}, "LC-ENV-02"), "its default"));
  EXPECT_EQ(environment_of({"NCCL_LL128_NTHREADS=640"}).ll128_threads, 640);
  EXPECT_EQ(read_typed({"NCCL_LL128_NTHREADS=64"}).environment.ll128_threads, 160);
}

TEST(NcclEnvironment, ChannelsCombineOldAndNewNames) {
  EXPECT_EQ(environment_of({"NCCL_MIN_NRINGS=4"}).min_channels, 4);
  EXPECT_EQ(environment_of({"NCCL_MAX_NCHANNELS=2"}).max_channels, 2);
  const Read renamed = read_typed({"NCCL_MIN_NRINGS=4", "NCCL_MIN_NCHANNELS=8"});
  EXPECT_EQ(renamed.environment.min_channels, 8);
  ASSERT_EQ(renamed.warnings.size(), 1u);
  EXPECT_EQ(renamed.warnings[0].text,
            "NCCL_MIN_NRINGS=4 (--nccl-env): NCCL does not read it where NCCL_MIN_NCHANNELS is set");
  const NcclEnvironment both = environment_of(
      {"NCCL_MIN_NCHANNELS=8", "NCCL_MIN_CTAS=4", "NCCL_MAX_NCHANNELS=16", "NCCL_MAX_CTAS=12"});
  EXPECT_EQ(both.min_channels, 8) << "the larger minimum";
  EXPECT_EQ(both.max_channels, 12) << "the smaller maximum";
  const NcclEnvironment crossed = environment_of({"NCCL_MIN_NCHANNELS=8", "NCCL_MAX_NCHANNELS=2"});
  EXPECT_EQ(crossed.min_channels, 8) << "NCCL cuts to 2 and repeats them up to 8";
  EXPECT_EQ(crossed.max_channels, 2);
  const Read blocks = read_typed({"NCCL_MIN_CTAS=8", "NCCL_MAX_CTAS=2"});
  EXPECT_EQ(blocks.environment.min_channels, 2);
  EXPECT_EQ(blocks.warnings.size(), 1u);
}

TEST(NcclEnvironment, ChannelsHaveALimitByRelease) {
  EXPECT_EQ(environment_of({"NCCL_MIN_NCHANNELS=64"}).min_channels, 64);
  EXPECT_EQ(read_typed({"NCCL_MIN_NCHANNELS=100"}).environment.min_channels, 64);
  EXPECT_TRUE(contains(only_warning({"NCCL_MIN_NCHANNELS=100"}, "LC-ENV-02"), "NCCL takes 64"));
  EXPECT_EQ(read_typed({"NCCL_MIN_NCHANNELS=64"}, 21).environment.min_channels, 32);
  EXPECT_EQ(read_typed({"NCCL_MAX_NCHANNELS=0"}).environment.max_channels, 1);
  EXPECT_FALSE(read_typed({"NCCL_MIN_NCHANNELS=-5"}).environment.min_channels);
  EXPECT_FALSE(read_typed({"NCCL_MAX_CTAS=0"}).environment.max_channels);
  EXPECT_FALSE(environment_of({"NCCL_MAX_NCHANNELS=-2"}).max_channels) << "NCCL's own mark for unset";
}

TEST(NcclEnvironment, PeerLevelTakesNamesAndOldNumbers) {
  for (const PathType level : {PathType::loc, PathType::nvl, PathType::nvb, PathType::pix, PathType::pxb,
                               PathType::phb, PathType::sys}) {
    EXPECT_EQ(environment_of({std::string("NCCL_P2P_LEVEL=") + to_string(level)}).p2p_level, level);
  }
  const PathType old[] = {PathType::loc, PathType::pix, PathType::pxb,
                          PathType::phb, PathType::sys, PathType::sys};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(environment_of({"NCCL_P2P_LEVEL=" + std::to_string(i)}).p2p_level, old[i]) << i;
  }
  EXPECT_EQ(read_typed({"NCCL_P2P_LEVEL=9"}).environment.p2p_level, PathType::sys);
  EXPECT_TRUE(contains(only_warning({"NCCL_P2P_LEVEL=9"}, "LC-ENV-02"), "SYS"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_P2P_LEVEL=sys"}), "in upper case"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_P2P_LEVEL=NODE"}), "take LOC, NVL, PIX, PXB, PHB or SYS"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_P2P_LEVEL=NET"}), "knows no such level"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_P2P_LEVEL=4x"}), "pass over `x`"));
}

TEST(NcclEnvironment, PeerDisableWinsOverTheLevelAndHeedsOneOnly) {
  EXPECT_EQ(environment_of({"NCCL_P2P_DISABLE=1"}).p2p_level, PathType::loc);
  EXPECT_FALSE(environment_of({"NCCL_P2P_DISABLE=0"}).p2p_level);
  const Texts both{"NCCL_P2P_LEVEL=SYS", "NCCL_P2P_DISABLE=1"};
  EXPECT_EQ(read_typed(both).environment.p2p_level, PathType::loc);
  EXPECT_EQ(only_warning(both, "LC-ENV-02"),
            "NCCL_P2P_LEVEL=SYS (--nccl-env): NCCL does not read it where NCCL_P2P_DISABLE is 1");
  EXPECT_FALSE(read_typed({"NCCL_P2P_DISABLE=2"}).environment.p2p_level);
  EXPECT_TRUE(contains(only_warning({"NCCL_P2P_DISABLE=2"}, "LC-ENV-02"), "heeds 1 only"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_P2P_DISABLE=yes"}), "NCCL would read 0"));
}

TEST(NcclEnvironment, SmallValuesAreRead) {
  const NcclEnvironment environment =
      environment_of({"NCCL_SHM_DISABLE=1", "NCCL_GRAPH_REGISTER=0", "NCCL_NVB_DISABLE=1",
                      "NCCL_NVLS_ENABLE=0", "NCCL_CROSS_NIC=1", "NCCL_SHM_LOCALITY=1"});
  EXPECT_EQ(environment.shm_disable, true);
  EXPECT_EQ(environment.graph_register, false);
  EXPECT_EQ(environment.nvb_disable, true);
  EXPECT_EQ(environment.nvls_enable, 0);
  EXPECT_EQ(environment.cross_nic, 1);
  EXPECT_EQ(environment.shm_locality, 1);
  EXPECT_TRUE(contains(refusal_of({"NCCL_NVLS_ENABLE=3"}), "take a number from 0 to 2"));
  EXPECT_EQ(read_typed({"NCCL_SHM_LOCALITY=3"}).environment.shm_locality, 2);
  EXPECT_TRUE(contains(only_warning({"NCCL_SHM_LOCALITY=3"}, "LC-ENV-02"), "NCCL takes 2"));
}

TEST(NcclEnvironment, ThreadThresholdsHaveSixPlaces) {
  const auto place = [](Protocol protocol) { return static_cast<std::size_t>(protocol); };
  const auto all = environment_of({"NCCL_THREAD_THRESHOLDS=1 2 3  4\t5 6"}).thread_thresholds;
  ASSERT_TRUE(all);
  EXPECT_EQ(all->tree[place(Protocol::ll)], Bytes(1));
  EXPECT_EQ(all->tree[place(Protocol::ll128)], Bytes(2));
  EXPECT_EQ(all->tree[place(Protocol::simple)], Bytes(3));
  EXPECT_EQ(all->ring[place(Protocol::ll)], Bytes(4));
  EXPECT_EQ(all->ring[place(Protocol::simple)], Bytes(6));
  const auto some = environment_of({"NCCL_THREAD_THRESHOLDS=-1 2"}).thread_thresholds;
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->tree[place(Protocol::ll)]);
  EXPECT_EQ(some->tree[place(Protocol::ll128)], Bytes(2));
  EXPECT_FALSE(some->ring[place(Protocol::ll)]);
  EXPECT_TRUE(contains(refusal_of({"NCCL_THREAD_THRESHOLDS=8,8,64"}), "stops reading at `,8,64`"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_THREAD_THRESHOLDS=1 2 3 4 5 6 7"}), "stops reading at `7`"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_THREAD_THRESHOLDS=few"}), "six numbers with blanks"));
}

TEST(NcclEnvironment, UnmodelledVariablesWarnUnlessTheyChangeNothing) {
  EXPECT_EQ(
      only_warning({"NCCL_P2P_USE_CUDA_MEMCPY=1"}, "LC-ENV-01"),
      "NCCL_P2P_USE_CUDA_MEMCPY=1 (--nccl-env) changes what NCCL does (peer copies by copy engines), but "
      "is not modelled");
  EXPECT_EQ(environment_of({"NCCL_P2P_USE_CUDA_MEMCPY=0"}).p2p_use_cuda_memcpy, false);
  environment_of({"NCCL_CUMEM_ENABLE=1", "NCCL_LAUNCH_MODE=PARALLEL", "NCCL_CTA_POLICY=DEFAULT",
                  "NCCL_LOCAL_REGISTER=0x1", "NCCL_TUNER_PLUGIN=none"});
  for (const char* text : {"NCCL_TUNER_PLUGIN=libmine.so", "NCCL_GRAPH_FILE=a.xml", "NCCL_TOPO_FILE=b.xml",
                           "NCCL_CUMEM_HOST_ENABLE=0", "NCCL_CGA_CLUSTER_SIZE=0", "NCCL_LAUNCH_MODE=GROUP"}) {
    only_warning({text}, "LC-ENV-01");
  }
}

TEST(NcclEnvironment, VariablesOfNetworkAndPrintingAreSilent) {
  environment_of({"NCCL_SOCKET_IFNAME=eth0", "NCCL_IB_HCA=mlx5_0,mlx5_1", "NCCL_DEBUG=INFO",
                  "NCCL_DEBUG_SUBSYS=INIT,ENV", "NCCL_NET=Socket", "NCCL_NET_GDR_LEVEL=PHB",
                  "NCCL_TOPO_DUMP_FILE=topo.xml", "NCCL_IB_DISABLE=1", "NCCL_COLLNET_ENABLE=1"});
}

TEST(NcclEnvironment, AVariableThatTheReleaseDoesNotReadHasNoEffect) {
  EXPECT_EQ(only_warning({"NCCL_SHM_USE_CUDA_MEMCPY=1"}, "LC-ENV-02", 30),
            "NCCL_SHM_USE_CUDA_MEMCPY=1 (--nccl-env): NCCL 2.30 does not read it; the last that did is 2.29");
  EXPECT_FALSE(read_typed({"NCCL_SHM_USE_CUDA_MEMCPY=1"}, 30).environment.shm_use_cuda_memcpy);
  EXPECT_EQ(read_typed({"NCCL_SHM_USE_CUDA_MEMCPY=1"}, 29).environment.shm_use_cuda_memcpy, true);
  EXPECT_TRUE(contains(only_warning({"NCCL_LOCAL_REGISTER=0"}, "LC-ENV-02", 18), "it came with 2.19"));
  EXPECT_TRUE(contains(only_warning({"NCCL_LL_THRESHOLD=0"}, "LC-ENV-02"), "the last that did is 2.4"));
  environment_of({"NCCL_RAS_ENABLE=0"}, 18);  // newer, but nothing to a prediction
}

TEST(NcclEnvironment, AnUnknownNameIsRefusedWhenTypedAndAWarningInALog) {
  const NearestWord first = [](const std::string& word, const Texts& candidates) {
    return word == "NCCL_PROTTO" || word == "NCCL_PROTO" ? candidates[1] : "";
  };
  EXPECT_EQ(refusal_of({"NCCL_PROTTO=LL"}, 30, first),
            "NCCL has no variable `NCCL_PROTTO`\n  at --nccl-env\n  mend: did you mean NCCL_PROTO?");
  EXPECT_TRUE(contains(refusal_of({"PROTO=LL"}, 30, first), "did you mean NCCL_PROTO?"));
  EXPECT_TRUE(contains(refusal_of({"nccl_proto=LL"}), "NCCL has no variable `nccl_proto`"));
  EXPECT_TRUE(contains(refusal_of({"NCCL_XYZ="}), "NCCL_XYZ"));
  const Read logged = read_typed({"NCCL_XYZ=7"}, 30, "run.log:17");
  ASSERT_EQ(logged.warnings.size(), 1u);
  EXPECT_EQ(logged.warnings[0].code, "LC-ENV-01");
  EXPECT_EQ(logged.warnings[0].text, "NCCL_XYZ=7 (run.log:17) is not known here and not modelled");
}

TEST(NcclEnvironment, AllProblemsAreReportedTogether) {
  const std::string message = refusal_of(
      {"NCCL_BUFFSIZE=4M", "NCCL_PROTOCOL=LL", "NCCL_NTHREADS=many", "NCCL_PROTO=LL,Fast", "NCCL_ALGO=Ring"});
  std::size_t problems = 1;
  for (std::size_t at = message.find("\nerror: "); at != std::string::npos;
       at = message.find("\nerror: ", at + 1)) {
    ++problems;
  }
  EXPECT_EQ(problems, 4u) << message;
  for (const char* part : {"`NCCL_BUFFSIZE` is `4M`", "`NCCL_PROTOCOL`", "`NCCL_NTHREADS` is `many`",
                           "`NCCL_PROTO` is `LL,Fast`: NCCL knows no `Fast`"}) {
    EXPECT_TRUE(contains(message, part)) << part << " in:\n" << message;
  }
  EXPECT_FALSE(contains(message, "NCCL_ALGO"));
  EXPECT_LT(message.find("NCCL_BUFFSIZE"), message.find("NCCL_PROTOCOL")) << "in the order of the settings";
  EXPECT_LT(message.find("NCCL_PROTOCOL"), message.find("NCCL_NTHREADS"));
}

TEST(NcclVariables, HaveUniqueNamesAndAMeaning) {
  std::set<std::string> names;
  for (const NcclVariable& variable : nccl_variables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name << " is there twice";
    EXPECT_EQ(variable.name.rfind("NCCL_", 0), 0u) << variable.name;
    EXPECT_FALSE(variable.about.empty()) << variable.name;
    EXPECT_EQ(find_nccl_variable(variable.name), &variable) << variable.name << " is hidden by a pattern";
    EXPECT_TRUE(variable.harmless.empty() || variable.effect == NcclEffect::not_modelled) << variable.name;
  }
  EXPECT_EQ(find_nccl_variable("NCCL_IB_ANYTHING")->name, "NCCL_IB_*");
  EXPECT_EQ(find_nccl_variable("NCCL"), nullptr);
  EXPECT_EQ(find_nccl_variable(""), nullptr);
}

TEST(NcclVariables, EveryModelledOneIsRead) {
  for (const NcclVariable& variable : nccl_variables()) {
    if (variable.effect != NcclEffect::modelled) continue;
    EXPECT_TRUE(contains(refusal_of({variable.name + "=?"}), "`" + variable.name + "` is `?`: "));
  }
}

TEST(PathTypes, HaveNcclsNamesAndRanks) {
  EXPECT_STREQ(to_string(PathType::loc), "LOC");
  EXPECT_STREQ(to_string(PathType::phb), "PHB");
  EXPECT_STREQ(to_string(PathType::dis), "DIS");
  for (int i = 0; i <= static_cast<int>(PathType::dis); ++i) {
    const auto type = static_cast<PathType>(i);
    EXPECT_EQ(path_type_from_string(to_string(type)), type);
  }
  EXPECT_FALSE(path_type_from_string("pix"));
  EXPECT_FALSE(path_type_from_string(""));
}

}  // namespace
}  // namespace lanecast
